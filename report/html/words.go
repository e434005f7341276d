package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
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

// text joins strings and parts.
func text(parts ...any) (out answers.Text) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, answers.Part{Text: p})
		case answers.Part:
			out = append(out, p)
		case answers.Text:
			out = append(out, p...)
		}
	}
	return out
}

func name(s string) answers.Part { return answers.Part{Kind: answers.Name, Text: s} }
func code(s string) answers.Part { return answers.Part{Kind: answers.Code, Text: s} }

// list joins names as "a, b and c".
func list(names []string) (out answers.Text) {
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out = append(out, answers.Part{Text: " and "})
		default:
			out = append(out, answers.Part{Text: ", "})
		}
		out = append(out, name(n))
	}
	return out
}

// join joins sentences or phrases as "a, b and c".
func join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// number writes a count with separators of thousands.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func count(n int, noun string) string { return number(n) + " " + plural.Noun(n, noun) }

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

const timeLayout = "2006-01-02 15:04 UTC"

func moment(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(timeLayout)
}

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

// resourceWord names a resource in a sentence.
func resourceWord(r string) string {
	if r == "cpu" {
		return "CPU"
	}
	return r
}

var percentOf = percent.Of
