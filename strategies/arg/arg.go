// Package arg decodes and checks the arguments of strategies. It decides what
// counts as a well-formed argument and says what is wrong with each, by field
// path; it never knows what a strategy does with them.
package arg

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
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

var unknownField = regexp.MustCompile(`^json: unknown field "(.*)"$`)

// Decode reads JSON strictly into v: unknown fields are errors. Empty input
// leaves v as it is.
func Decode(raw []byte, v any) []Error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return []Error{{wrong.Field, fmt.Sprintf("want %s, found %s", wanted(wrong.Type), found(wrong.Value))}}
		}
		if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
			return []Error{{m[1], "unknown argument"}}
		}
		return []Error{{"", "reading arguments: " + err.Error()}}
	}
	if _, err := d.Token(); err != io.EOF {
		return []Error{{"", "more than one value"}}
	}
	return nil
}

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

// found says in words what stands there: the decoder names JSON's own kinds.
func found(kind string) string {
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "keys and values"
	case "bool":
		return "true or false"
	case "string":
		return "a word"
	}
	return "a " + kind // a number, or which number
}

// Fraction checks that v lies in (0, 1].
func Fraction(path string, v float64) []Error {
	switch {
	case math.IsNaN(v) || v <= 0:
		return []Error{{path, fmt.Sprintf("%v is not a fraction (want above 0, at most 1)", v)}}
	case v > 1 && v <= 100:
		return []Error{{path, fmt.Sprintf("%v is not a fraction (want 0..1; did you mean %.2f?)", v, v/100)}}
	case v > 1:
		return []Error{{path, fmt.Sprintf("%v is not a fraction (want 0..1)", v)}}
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
