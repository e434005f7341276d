// Package plural formats numbers with nouns. The plural of a noun ends in s.
package plural

import "strconv"

// Count returns "1 move" for n = 1, and "3 moves" for n = 3.
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Noun(n, noun) }

// Noun returns the singular of the noun for n = 1, else its plural.
func Noun(n int, noun string) string { return Choose(n, noun, noun+"s") }

// Choose returns one for n = 1, else many. Use Choose for verbs and irregular nouns: Choose(n, "is", "are").
func Choose(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
