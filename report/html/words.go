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
