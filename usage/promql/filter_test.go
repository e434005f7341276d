package promql

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestFilters(t *testing.T) {
	for text, want := range map[string]string{
		"x > 0.8":                           "x > 0.8",
		"(0.8 < x)":                         "0.8 < x",
		"x > bool 0.8":                      "",
		"x":                                 "",
		"max by (instance) (x > 0.8) * 100": "x > 0.8",
		"-(x / y == 1)":                     "x / y == 1",
		"x > 0.8 or x * 0":                  "",
		"x > 1 or y > 2":                    "x > 1",
		"x unless y > 2":                    "",
		"x and y > 2":                       "y > 2",
		"rate(x[5m]) > 1":                   "rate(x[5m]) > 1",
	} {
		q := must.Get(Parse(text))(t)
		if got := q.FilteringComparison(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
