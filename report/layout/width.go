// Package layout arranges paragraphs and tables in the width of a terminal and in a number of lines.
//
// It decides which rows, columns and words are left out if there is no room, and says how many. It never decides what a
// report says, and it never cuts a name. All text must be escaped before.
package layout

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// ellipsis marks text that was cut.
const ellipsis = "..."

// Width returns the number of terminal columns that s takes: two for a wide character, and none for a combining mark.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pad adds spaces to s until it takes n columns.
func pad(s string, n int, right bool) string {
	space := strings.Repeat(" ", max(0, n-Width(s)))
	if right {
		return space + s
	}
	return s + space
}

// Cut shortens s to n columns, and marks that something is missing.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	return strings.TrimRight(prefix(s, max(0, n-len(ellipsis))), " ") + ellipsis
}

// cutCell shortens a cell. A reason code in parentheses at its end stays, because it is what readers look up.
func cutCell(s string, n int) string {
	at := strings.LastIndex(s, " (")
	if at < 0 || !strings.HasSuffix(s, ")") || strings.ContainsAny(s[at+2:len(s)-1], " ()") || Width(s) <= n || 2*Width(s[at:]) > n {
		return Cut(s, n)
	}
	return Cut(s[:at], n-Width(s[at:])) + s[at:]
}

// prefix returns the longest start of s that takes at most n columns.
func prefix(s string, n int) string {
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > n {
			return s[:i]
		}
	}
	return s
}

// wrap breaks s between words into lines of at most n columns. A word that is longer stays whole, because a name that
// is broken cannot be copied. Spaces at the start of s stay. With n = 0 there is one line.
func wrap(s string, n int) []string {
	if n <= 0 || Width(s) <= n {
		return []string{s}
	}
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = indent + word
		case Width(line)+1+Width(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), indent+word
		}
	}
	return append(lines, line)
}

// rowsOn returns how many lines of a terminal of n columns the text takes. With n = 0 it is one.
func rowsOn(text string, n int) int {
	if n <= 0 {
		return 1
	}
	return max(1, (Width(text)+n-1)/n)
}
