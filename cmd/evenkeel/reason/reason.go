// Package reason explains reason codes on the command line.
//
// The package reads docs/reference/reasons.md, which tests hold to the codes of package plan. It decides how a code is
// explained, and never what a code means.
package reason

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Entry explains a code.
type Entry struct {
	Code string
	// Group is the heading of the codes to which it belongs, such as: Why a pod is moved.
	Group string
	// Text explains the code, shows an example, and says what would have to change.
	Text string
}

var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// All returns the codes in the order of the page.
func All() (out []Entry) {
	for _, group := range strings.Split(evenkeel.ReasonsPage, "\n## ")[1:] {
		parts := strings.Split(group, "\n### ")
		title, _, _ := strings.Cut(parts[0], "\n")
		for _, part := range parts[1:] {
			code, text, _ := strings.Cut(part, "\n")
			out = append(out, Entry{code, title, strings.TrimSpace(link.ReplaceAllString(text, "$1"))})
		}
	}
	return out
}

// Find returns the entry of a code, whatever its case. The error suggests a similar code.
func Find(code string) (Entry, error) {
	var codes []string
	for _, e := range All() {
		if strings.EqualFold(e.Code, code) {
			return e, nil
		}
		codes = append(codes, e.Code)
	}
	return Entry{}, fmt.Errorf("%q is not a reason code%s; `evenkeel explain reason` lists all codes", code, suggest.DidYouMean(code, codes))
}

// Meaning returns one line about the code.
func (e Entry) Meaning() string {
	if short := plan.Code(e.Code).Meaning(); short != "" {
		return short
	}
	first, _, _ := strings.Cut(strings.Join(strings.Fields(e.Text), " "), ". ")
	return strings.TrimSuffix(first, ".")
}
