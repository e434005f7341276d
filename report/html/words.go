package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// functions are those of the templates.
var functions = template.FuncMap{
	"style":        func() template.CSS { return template.CSS(Style) },
	"script":       func() template.JS { return template.JS(Script) },
	"policy":       func() template.HTML { return policy },
	"safe":         terminal.Escape,
	"cut":          cutName,
	"heads":        columnHeads,
	"isName":       func(p answers.Part) bool { return p.Kind == answers.Name },
	"isCode":       func(p answers.Part) bool { return p.Kind == answers.Code },
	"strong":       func(p answers.Part) bool { return p.Kind == answers.Strong },
	"mini":         func(caption, head string, rows []Twin) twins { return twins{caption, head, rows} },
	"categoryWord": func(key string) string { return categoryWords[key] },
	"lines":        safeLines,
}

// safeLines escapes each line.
func safeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

const (
	maxName  = 32 // characters of a name that is shown whole
	nameTail = 14 // last characters of a longer name, which stay
)

// cutName returns the parts of a long name. The screen leaves out the end of the first one. A name with dots has one
// part: of the name of a node, the first characters tell more than the last ones.
func cutName(name string) []string {
	switch {
	case utf8.RuneCountInString(name) <= maxName:
		return nil
	case strings.Contains(name, "."):
		return []string{name}
	}
	runes := []rune(name)
	at := len(runes) - nameTail
	return []string{string(runes[:at]), string(runes[at:])}
}

// head is the name of a column.
type head struct {
	Name string
	Rest string // of a name that begins as all others do; empty if the screen shows the whole name
}

// minPrefix is the number of characters of a common beginning that is worth leaving out, if a name has more than
// maxHead.
const minPrefix, maxHead = 4, 8

// columnHeads shortens names of columns to what differs: of eu-central-1a and eu-central-1b, the last parts. A part
// ends at one of the characters -._ and a common domain is left out, too.
func columnHeads(names []string) []head {
	out, rest := make([]head, len(names)), make([]string, len(names))
	same, longest := true, 0
	for i, n := range names {
		out[i].Name, longest = n, max(longest, utf8.RuneCountInString(n))
		short, domain, _ := strings.Cut(n, ".")
		_, first, _ := strings.Cut(names[0], ".")
		rest[i], same = short, same && domain == first
	}
	switch {
	case len(names) < 2 || longest <= maxHead:
		return out
	case !same:
		copy(rest, names)
	}
	prefix := rest[0]
	for _, n := range rest {
		for !strings.HasPrefix(n, prefix) || n == prefix || prefix != "" && !strings.Contains("-._", prefix[len(prefix)-1:]) {
			if prefix == "" {
				return out
			}
			prefix = prefix[:len(prefix)-1]
		}
	}
	for i := range rest {
		if len(prefix) >= minPrefix {
			out[i].Rest = rest[i][len(prefix):]
		}
	}
	return out
}

// The words of all formats.
var (
	text, list, join           = answers.Words, answers.List, answers.Join
	name, code                 = answers.NameOf, answers.CodeOf
	number, count              = answers.Number, answers.Count
	sentence, moment           = answers.Sentence, answers.Moment
	resourceWord, percentOf    = answers.ResourceWord, percent.Of
	categoryKey, categoryWords = answers.CategoryKey, answers.CategoryWords
)

func verb(n int, one, many string) string { return plural.Choose(n, one, many) }

// points writes points of the balance score.
func points(v float64) string {
	if math.Abs(v) < 0.05 {
		return "0"
	}
	return fmt.Sprintf("%.1f", v)
}

// significant writes a number with three significant digits.
func significant(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// share writes a coordinate or a length as a share of the picture.
func share(v float64) string { return strconv.FormatFloat(v*100, 'f', 1, 64) + "%" }

// part returns v / top, or 0 without a top.
func part(v, top float64) float64 {
	if top <= 0 {
		return 0
	}
	return max(0, min(1, v/top))
}

// resourceLabel names a resource in a heading.
func resourceLabel(r string) string {
	if r == "cpu" {
		return "CPU"
	}
	if r == "" {
		return r
	}
	return strings.ToUpper(r[:1]) + r[1:]
}
