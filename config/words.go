package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// formatNumber writes bytes and the like out, and only what is larger with an exponent.
func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// describeType says in words what a type takes.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "keys and values"
	}
	return "a word"
}

// suggestBytes asks for the number of a quantity such as 1Gi, in brackets with a blank
// before them; empty where it is none.
func suggestBytes(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Format != resource.BinarySI {
		return ""
	}
	return fmt.Sprintf(" (did you mean %d?)", q.Value())
}

// describeNode says in words what stands in the file.
func describeNode(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	v := n.Value
	if r := []rune(v); len(r) > 40 {
		v = string(r[:40]) + "..."
	}
	return strconv.Quote(v)
}
