// Package suggest guesses which known word somebody meant. It decides what is
// near enough to be worth naming, and never corrects anything itself.
package suggest

import "strings"

// maxLetters bounds what is compared: no known word is that long.
const maxLetters = 64

// Nearest is the known word that takes the fewest single-letter edits to reach,
// whatever its case; empty when none is near: more than half of the word would
// change, or it is longer than any.
func Nearest(word string, known []string) string {
	if len(word) > maxLetters {
		return ""
	}
	best, least := "", len(word)/2+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean asks for the nearest known word, in brackets with a blank before
// them; empty when none is near.
func DidYouMean(word string, known []string) string {
	best := Nearest(word, known)
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance counts the single-letter edits between two words (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := diagonal
			if a[i-1] != b[j-1] {
				d++
			}
			diagonal = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
