package strict

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// CheckOneOf adds an error if got is not one of the words in want. The error suggests the most similar word. what names
// the kind of word, such as "source". CheckOneOf returns whether got is valid.
func (d *Decoder) CheckOneOf(path, what, got string, want []string) bool {
	if slices.Contains(want, got) {
		return true
	}
	d.Errorf(path, "unknown %s %q%s (want one of %s)", what, got, suggest.DidYouMean(got, want), strings.Join(want, ", "))
	return false
}
