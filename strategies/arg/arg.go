// Package arg decodes and checks the arguments of strategies. It decides whether an argument is well-formed, and
// reports each error with its field path. The package does not depend on the meaning of an argument.
package arg

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// Error is an invalid argument.
type Error struct {
	// Path is the field inside args, such as target.cpu. It is empty for an error in args as a whole.
	Path    string
	Message string
}

func (e Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Errorf returns an error at a path.
func Errorf(path, format string, args ...any) Error { return Error{path, fmt.Sprintf(format, args...)} }

// types are the types of arguments that package strict does not know.
var types = map[reflect.Type]func(*strict.Decoder, *yaml.Node, reflect.Value, string){
	reflect.TypeFor[Duration](): func(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
		DecodeDuration(d, n, v, path, DurationHint(n.Value))
	},
}

// Decode decodes JSON strictly into v, a pointer to a struct, and returns every error. It rejects unknown keys,
// duplicate keys and values of a wrong type. Empty input and null leave v unchanged. A value of a wrong type leaves its
// field unchanged; in a map of fractions, the value becomes NaN, so that the key is present.
func Decode(raw []byte, v any) []Error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	root, err := strict.Parse("arguments", raw) // JSON is YAML
	if err != nil {
		return []Error{{"", err.Error()}}
	}
	d := strict.New("arguments", strict.Options{QuotedStrings: true, Key: "argument", Float: "a fraction", Types: types})
	d.Decode(root, v)
	var errs []Error
	for _, e := range d.Errors() {
		errs = append(errs, Error{e.Path, e.Message})
	}
	return errs
}

// Fraction checks that v lies in (0, 1]. It accepts NaN, because Decode has already reported that value.
func Fraction(path string, v float64) []Error {
	plain := strconv.FormatFloat(v, 'g', -1, 64)
	switch {
	case math.IsNaN(v) || v > 0 && v <= 1:
		return nil
	case v >= 2 && v <= 100:
		return []Error{{path, fmt.Sprintf("%s is not a fraction (want 0..1; did you mean %s?)", plain, strict.FormatPercent(v))}}
	}
	return []Error{{path, plain + " is not a fraction (want above 0, at most 1)"}}
}

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

// Resource checks the name of a resource of nodes that pods request, or pods for their number.
func Resource(path, name string) []Error {
	if name == "cpu" || name == "memory" || name == "pods" || name == "ephemeral-storage" || strings.Contains(name, "/") ||
		strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		return nil
	}
	const known = "cpu, memory, pods, ephemeral-storage or an extended resource such as example.com/gpu"
	return []Error{{path, fmt.Sprintf("unknown resource %q (want %s)", name, known)}}
}

// Reported reports whether the errors contain one about the path or a part of it. A second error
// about the default value would mislead.
func Reported(errs []Error, path string) bool {
	return slices.ContainsFunc(errs, func(e Error) bool {
		rest, ok := strings.CutPrefix(e.Path, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
