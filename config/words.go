package config

import (
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// wanted says in words what a type takes.
func wanted(t reflect.Type) string {
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

// found says in words what stands in the file.
func found(n *yaml.Node) string {
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
