package strict

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxShown limits how many characters of a value an error repeats.
const maxShown = 40

// Describe returns the quoted value of a node, "a list", or "keys and values".
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	v := n.Value
	if r := []rune(v); len(r) > maxShown {
		v = string(r[:maxShown]) + "..."
	}
	return strconv.Quote(v)
}

// describeField describes the values that the field at path accepts.
func (d *Decoder) describeField(t reflect.Type, path string) string {
	if strings.HasSuffix(strings.ToLower(path), "selector") {
		return "a label selector such as \"app=web\""
	}
	return d.describeType(t)
}

func (d *Decoder) describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return d.options.Float
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys and values"
	}
	return "a word"
}

// SuggestFraction returns " (did you mean 0.80?)" for text such as 80% or "0.8", and "" for other text.
func SuggestFraction(text string) string {
	percent, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if !isPercent {
		v *= 100
	}
	if err != nil || !(v > 0 && v <= 100) {
		return ""
	}
	return " (did you mean " + FormatPercent(v) + "?)"
}

// FormatPercent formats p percent as a fraction with at least two decimal places.
func FormatPercent(p float64) string {
	s := strconv.FormatFloat(math.Round(p*1e4)/1e6, 'f', -1, 64)
	if _, digits, _ := strings.Cut(s, "."); len(digits) == 1 {
		s += "0"
	}
	return s
}

// suggestBytes returns " (did you mean 1073741824?)" for a quantity such as 1Gi, and "" for other text.
func suggestBytes(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Format != resource.BinarySI {
		return ""
	}
	return fmt.Sprintf(" (did you mean %d?)", q.Value())
}

// FormatNumber formats a number. It writes integers below 1e15 without an exponent.
func FormatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
