package config

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// checkSelector adds an error if text is not a label selector.
func checkSelector(d *strict.Decoder, path, text string) {
	if _, err := labels.Parse(text); err != nil {
		d.Errorf(path, "%q is not a label selector: %v", text, err)
	}
}

// checkFraction adds an error if v is not above 0 and at most 1.
func checkFraction(d *strict.Decoder, path string, v float64) {
	for _, err := range arg.Fraction(path, v) {
		d.Errorf(path, "%s", err.Message)
	}
}

// toStrings converts names to plain strings.
func toStrings[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}
