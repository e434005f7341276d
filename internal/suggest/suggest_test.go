package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"dryRun", "limits", "guards"}
	for word, want := range map[string]string{
		"dryrun": "dryRun", "DRYRUN": "dryRun", "limit": "limits", "gaurds": "guards", "strategies": "", "": "", "x": "",
		strings.Repeat("x", 5000): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("limit", known); got != " (did you mean limits?)" {
		t.Error(got)
	}
	if got := DidYouMean("x", known); got != "" {
		t.Error(got)
	}
}
