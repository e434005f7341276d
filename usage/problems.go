package usage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// problemGroups merges problems that several nodes or pods share.
type problemGroups struct {
	single []Problem
	groups map[problemKey]*affectedNames
}

type problemKey struct {
	kind ProblemKind
	what string
}

// affectedNames counts the nodes or pods that have a problem, and keeps the first names in alphabetical order.
type affectedNames struct {
	count int
	first []string
}

const (
	maxNames  = 5
	maxName   = 80
	maxDetail = 400
)

func (f *problemGroups) add(kind ProblemKind, what, name string) {
	if f.groups == nil {
		f.groups = map[problemKey]*affectedNames{}
	}
	t := f.groups[problemKey{kind, what}]
	if t == nil {
		t = &affectedNames{}
		f.groups[problemKey{kind, what}] = t
	}
	t.count++
	if len(t.first) == maxNames && name >= t.first[maxNames-1] {
		return
	}
	at, _ := slices.BinarySearch(t.first, name)
	t.first = slices.Insert(t.first, at, strings.Clone(name))
	if len(t.first) > maxNames {
		t.first = t.first[:maxNames]
	}
}

func (f *problemGroups) problems() []Problem {
	out := slices.Clone(f.single)
	for k, t := range f.groups {
		names := make([]string, 0, maxNames)
		for _, n := range t.first {
			names = append(names, Sanitize(n, maxName))
		}
		detail := k.what + " " + strings.Join(names, ", ")
		if more := t.count - len(names); more > 0 {
			detail += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, Problem{Kind: k.kind, Detail: detail})
	}
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return slices.Compact(out)
}

// userinfo is the user and password in a URL.
var userinfo = regexp.MustCompile(`//[^/@\s]*@`)

// Sanitize turns external text into one line of at most `most` characters and removes passwords from URLs.
func Sanitize(text string, most int) string {
	if text == "" {
		return `""`
	}
	if strings.Contains(text, "//") {
		text = userinfo.ReplaceAllString(text, "//")
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
