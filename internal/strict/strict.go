// Package strict decodes one YAML or JSON document into Go structs. It rejects unknown keys, duplicate keys and
// values of another type, and it reports every error at once, each with its line and the path of its field.
//
// The package checks only the form of a document. Callers check the values and add their errors with Decoder.Errorf.
package strict

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// ErrEmpty is the error for a document without content.
var ErrEmpty = errors.New("the file is empty")

// ErrSeveral is the error for several documents.
var ErrSeveral = errors.New("more than one document; want one")

// Parse parses a single document. Errors contain the name. Parse rejects YAML aliases, because a few lines with
// aliases can expand to gigabytes, and YAML merge keys (<<), because a mapping node does not contain the keys that they
// add.
func Parse(name string, data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", name, describeYAMLError(err))
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, ErrSeveral)
	}
	root := doc.Content[0]
	if n := find(root, func(n *yaml.Node) bool { return n.Kind == yaml.AliasNode }); n != nil {
		return nil, fmt.Errorf("%s:%d: aliases are not supported; write the value out", name, n.Line)
	}
	if n := find(root, isMergeKey); n != nil {
		return nil, fmt.Errorf("%s:%d: merge keys (<<) are not supported; write the keys out", name, n.Line)
	}
	return root, nil
}

func describeYAMLError(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "control characters") || strings.Contains(text, "UTF-8") {
		text += "; is this a text file?"
	}
	return "broken YAML: " + text
}

// isMergeKey reports whether n is <<, unless it is quoted.
func isMergeKey(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.ShortTag() != "!!str"
}

// find returns the first node at or below n that matches, or nil.
func find(n *yaml.Node, matches func(*yaml.Node) bool) *yaml.Node {
	if matches(n) {
		return n
	}
	for _, c := range n.Content {
		if found := find(c, matches); found != nil {
			return found
		}
	}
	return nil
}

// Error is one error in a document.
type Error struct {
	Line int
	// Path is the path of the field, such as limits.perPass. An empty path means the whole document.
	Path    string
	Message string
	// UnknownKey says that the error is about a key that the document must not have.
	UnknownKey bool
}

// Error returns the path and the message on one line, without the number of the line. It escapes control characters.
func (e Error) Error() string {
	if e.Path == "" {
		return terminal.Escape(e.Message)
	}
	return terminal.Escape(e.Path + ": " + e.Message)
}

// Options adapt a Decoder to a kind of document.
type Options struct {
	// Types contains decoders for additional types. A decoder reports a wrong value with Decoder.TypeErrorf.
	Types map[reflect.Type]func(d *Decoder, n *yaml.Node, v reflect.Value, path string)
	// QuotedStrings rejects unquoted numbers and booleans as values of string fields.
	QuotedStrings bool
	// Key and Float are the words for a key and a float64 in errors. The defaults are "key" and "a number".
	Key, Float string
	// Percentages says that every float64 is a percentage, such as 60. Otherwise, errors about a float64 suggest a
	// fraction, such as 0.60.
	Percentages bool
	// Remedy, if it is set, returns what to write instead of an unknown key, or instead of a list where keys and values
	// are wanted, or of these where a word or number is wanted, such as " (want dryRun: true)". It returns "" if it
	// knows no remedy. parent is the mapping with the unknown key, or nil.
	Remedy func(path string, parent, value *yaml.Node) string
}

// Decoder decodes documents, remembers the line of each field, and collects errors.
type Decoder struct {
	file       string
	options    Options
	errors     []Error
	fileErrors []error               // from other files to which this file refers
	nodes      map[string]*yaml.Node // by path
	typeErrors map[string]bool       // by path: fields whose value has the wrong type
}

// New returns a decoder for a file. Errors contain the name of the file.
func New(file string, o Options) *Decoder {
	o.Key, o.Float = cmp.Or(o.Key, "key"), cmp.Or(o.Float, "a number")
	return &Decoder{file: file, options: o, nodes: map[string]*yaml.Node{}, typeErrors: map[string]bool{}}
}

// File returns the name of the file.
func (d *Decoder) File() string { return d.file }

// Has reports whether the document has a value at path.
func (d *Decoder) Has(path string) bool { return d.nodes[path] != nil }

// HasTypeError reports whether the value at path has the wrong type. Its field then keeps the default.
func (d *Decoder) HasTypeError(path string) bool { return d.typeErrors[path] }

// HasErrors reports whether an error about the value at path, or about a part of it, was found.
func (d *Decoder) HasErrors(path string) bool {
	return slices.ContainsFunc(d.errors, func(e Error) bool {
		rest, ok := strings.CutPrefix(e.Path, path)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Line returns the line of the field at path. If the document lacks the field, Line returns the line of the nearest
// parent.
func (d *Decoder) Line(path string) int {
	for ; ; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		if n := d.nodes[path]; n != nil {
			return n.Line
		}
		if path == "" {
			return 1
		}
	}
}

// Errorf adds an error about the value of a field, unless the value has a type error.
func (d *Decoder) Errorf(path, format string, args ...any) {
	if !d.typeErrors[path] {
		d.errors = append(d.errors, Error{Line: d.Line(path), Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// TypeErrorf adds an error about a value of the wrong type at node n.
func (d *Decoder) TypeErrorf(n *yaml.Node, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.Kind == yaml.MappingNode {
		text += d.remedy(path, nil, n)
	}
	d.nodeErrorf(n, path, "%s", text)
	d.typeErrors[path] = true
}

func (d *Decoder) nodeErrorf(n *yaml.Node, path, format string, args ...any) {
	d.errors = append(d.errors, Error{Line: n.Line, Path: path, Message: fmt.Sprintf(format, args...)})
}

// AddFileError adds an error from another file to which this document refers.
func (d *Decoder) AddFileError(err error) { d.fileErrors = append(d.fileErrors, err) }

// Errors returns the errors of the document, in the order in which they were found.
func (d *Decoder) Errors() []Error { return d.errors }

// Err returns all errors as FILE:LINE: PATH: MESSAGE, ordered by line, or nil.
func (d *Decoder) Err() error {
	slices.SortFunc(d.errors, func(a, b Error) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Error(), b.Error())) })
	errs := make([]error, 0, len(d.errors))
	for _, e := range slices.Compact(d.errors) {
		errs = append(errs, fmt.Errorf("%s:%d: %s", d.file, e.Line, e.Error()))
	}
	return errors.Join(append(errs, d.fileErrors...)...)
}

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

func isSelector(path string) bool { return strings.HasSuffix(strings.ToLower(path), "selector") }

// describeField describes the values that the field at path accepts.
func (d *Decoder) describeField(t reflect.Type, path string) string {
	if isSelector(path) {
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

// suggestUnquoted returns "; drop the quotes" if n is a quoted text whose content alone would have the YAML tag, and
// "" otherwise.
func suggestUnquoted(n *yaml.Node, tag string) string {
	content := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 || content.ShortTag() != tag {
		return ""
	}
	return " in quotes; drop the quotes"
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

// suggestPercentage returns " (did you mean 60?)" for text such as 60%, "60" or "0.6", and "" for other text.
func suggestPercentage(text string) string {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v > 0 && v <= 100) {
		return ""
	}
	if !isPercent && v < 1 {
		v = math.Round(v*1e6) / 1e4
	}
	return " (did you mean " + FormatNumber(v) + "?)"
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
