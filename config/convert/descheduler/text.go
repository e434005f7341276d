package descheduler

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/evenkeel-project/evenkeel/config"
)

const unlimited = "unlimited"

// plainWord matches text that YAML reads as the same text without quotes, unless it is a reserved word.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

var reservedWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// quote returns text as YAML, also inside a list.
func quote(text string) string {
	if plainWord.MatchString(text) && !slices.Contains(reservedWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

func flowList(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func flowInts(items []int) string {
	text := make([]string, len(items))
	for i, n := range items {
		text[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(text, ", ") + "]"
}

func flowMap(entries []yamlEntry) string {
	text := make([]string, len(entries))
	for i, e := range entries {
		text[i] = quote(e.key) + ": " + e.value
	}
	return "{" + strings.Join(text, ", ") + "}"
}

// smallestFraction stands for 0 %, because fractions must be above 0.
const smallestFraction = 0.0001

// flowFractions returns percentages by resource as fractions.
func flowFractions(percentages map[string]float64) string {
	var entries []yamlEntry
	for _, r := range slices.Sorted(maps.Keys(percentages)) {
		entries = append(entries, yamlEntry{r, fraction(percentages[r])})
	}
	return flowMap(entries)
}

func fraction(percentage float64) string {
	f := max(math.Round(percentage*1e4)/1e6, smallestFraction)
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if f < 1 && len(text) < len("0.00") {
		text += "0"
	}
	return text
}

func seconds(n int) string { return config.Duration(time.Duration(n) * time.Second).String() }

// kebabCase returns the name of a type in lower case, such as node-load for NodeLoad.
func kebabCase(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// labelOf returns text in lower case letters, digits and dashes.
func labelOf(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return unicode.ToLower(r)
		}
		return '-'
	}, text), "-")
}

// commentWidth is the longest comment line.
const commentWidth = 100

// comment returns text as comment lines with the indent. The lines after the first one of a list item are indented.
func comment(indent, text string) string {
	var out strings.Builder
	line, next := indent+"#", indent+"#"
	if strings.HasPrefix(text, "- ") {
		next += "  "
	}
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth && len(line) > len(indent)+1 {
			out.WriteString(line + "\n")
			line = next
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
	return out.String()
}

// String returns the note as one sentence that names its place.
func (n Note) String() string {
	var place []string
	if n.Profile != "" {
		place = append(place, "profile "+n.Profile)
	}
	for _, s := range []string{n.Plugin, n.Field} {
		if s != "" {
			place = append(place, s)
		}
	}
	text := n.Text
	if !strings.HasSuffix(text, "?") {
		text += "."
	}
	if len(place) == 0 {
		return text
	}
	return strings.Join(place, ", ") + ": " + text
}

// secondsOf returns a number of seconds, or 0 for nil.
func secondsOf(n *int) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Second
}
