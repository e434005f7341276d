// Package arg decodes and checks the arguments of strategies. It decides what
// counts as a well-formed argument and says what is wrong with each, by field
// path; it never knows what a strategy does with them.
package arg

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Error is one argument that cannot be used.
type Error struct {
	// Path is the field inside args, such as target.cpu; empty for args as a whole.
	Path    string
	Message string
}

func (e Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Fraction checks that v lies in (0, 1]. NaN is what Decode could not read, and
// has reported.
func Fraction(path string, v float64) []Error {
	switch {
	case math.IsNaN(v) || v > 0 && v <= 1:
		return nil
	case v >= 2 && v <= 100:
		return []Error{{path, fmt.Sprintf("%s is not a fraction (want 0..1; did you mean %s?)", formatFloat(v), formatPercentAsFraction(v))}}
	}
	return []Error{{path, formatFloat(v) + " is not a fraction (want above 0, at most 1)"}}
}

// SuggestFraction asks for the fraction that was probably meant by text that is no
// number, such as 80% or "0.8", in brackets with a blank before them; empty when
// there is none.
func SuggestFraction(text string) string {
	percent, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if !isPercent {
		v *= 100
	}
	if err != nil || !(v > 0 && v <= 100) {
		return ""
	}
	return " (did you mean " + formatPercentAsFraction(v) + "?)"
}

// formatPercentAsFraction writes p percent as a fraction, with two digits or more.
func formatPercentAsFraction(p float64) string {
	s := strconv.FormatFloat(math.Round(p*1e4)/1e6, 'f', -1, 64)
	if _, digits, _ := strings.Cut(s, "."); len(digits) == 1 {
		s += "0"
	}
	return s
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// LabelKey checks the key of a label, such as topology.kubernetes.io/zone.
func LabelKey(path, key string) []Error {
	if key == "" {
		return []Error{{path, "is empty (want a node label such as topology.kubernetes.io/zone)"}}
	}
	if len(validation.IsQualifiedName(key)) > 0 {
		return []Error{{path, fmt.Sprintf("%q is not the key of a label (want one such as topology.kubernetes.io/zone)", key)}}
	}
	return nil
}

// Resource checks the name of a compute resource of nodes.
func Resource(path, name string) []Error {
	if name == "cpu" || name == "memory" || name == "ephemeral-storage" || strings.Contains(name, "/") || strings.HasPrefix(name, "hugepages-") {
		return nil
	}
	return []Error{{path, fmt.Sprintf("unknown resource %q (want cpu, memory, ephemeral-storage or an extended resource such as example.com/gpu)", name)}}
}
