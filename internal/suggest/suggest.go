// Package suggest finds the known word that a misspelled word resembles.
package suggest

import "strings"

// maxLetters limits the length of the words that Nearest compares. All known words are shorter.
const maxLetters = 64

// Nearest returns the known word with the fewest single-letter edits from word, ignoring case.
// It returns "" if more than half of the letters differ, or if word is longer than maxLetters.
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

// DidYouMean returns " (did you mean NAME?)" with the nearest known word, or "" if no word is
// similar.
func DidYouMean(word string, known []string) string {
	best := Nearest(word, known)
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance returns the number of single-letter edits between two words (Levenshtein).
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
