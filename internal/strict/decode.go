package strict

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Decode fills the struct that `into` points to, by json tags. A field keeps its value if the document lacks the field
// or has a value of the wrong type. In a map, a float64 of the wrong type becomes NaN, so that the key is present.
func (d *Decoder) Decode(root *yaml.Node, into any) {
	d.decodeValue(root, reflect.ValueOf(into).Elem(), "")
}

// DecodeAt decodes the value at a path that Decode has stored as json.RawMessage. The path must exist.
func (d *Decoder) DecodeAt(path string, into any) {
	d.decodeValue(d.nodes[path], reflect.ValueOf(into).Elem(), path)
}

// DecodeNode decodes a value at a path into the value that `into` points to. Decoders of Options.Types call it.
func (d *Decoder) DecodeNode(n *yaml.Node, into any, path string) {
	d.decodeValue(n, reflect.ValueOf(into).Elem(), path)
}

var rawType = reflect.TypeFor[json.RawMessage]()

func (d *Decoder) decodeValue(n *yaml.Node, v reflect.Value, path string) {
	d.nodes[path] = n
	if v.Type() == rawType {
		d.decodeRaw(n, v, path)
		return
	}
	if n.Tag == "!!null" {
		if k := v.Kind(); k != reflect.Pointer && k != reflect.Slice && k != reflect.Map && k != reflect.Struct {
			d.nodeErrorf(n, path, "is empty (want %s, or leave the key out)", d.describeType(v.Type()))
		}
		return
	}
	if decode := d.options.Types[v.Type()]; decode != nil {
		decode(d, n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.decodeStruct(n, v, path)
	case reflect.Map:
		d.decodeMap(n, v, path)
	case reflect.Slice:
		d.decodeList(n, v, path)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.decodeValue(n, p.Elem(), path)
		v.Set(p)
	default:
		d.decodeScalar(n, v, path)
	}
}

func (d *Decoder) decodeStruct(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.nodeErrorf(n, path, "want keys and values, found %s%s", Describe(n), cmp.Or(d.remedy(path, nil, n), suggestKeys(n)))
		return
	}
	fields := map[string][]int{}
	var names []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name := jsonName(f); f.IsExported() && !f.Anonymous && name != "-" {
			fields[name] = f.Index
			names = append(names, name)
		}
	}
	d.eachKey(n, path, func(key, val *yaml.Node) {
		at := joinPath(path, key.Value)
		i, known := fields[key.Value]
		if !known {
			text := "unknown " + d.options.Key + cmp.Or(d.remedy(at, n, val), suggest.DidYouMean(key.Value, names))
			d.errors = append(d.errors, Error{Line: key.Line, Path: at, Message: text, UnknownKey: true})
			return
		}
		d.decodeValue(val, v.FieldByIndex(i), at)
	})
}

func (d *Decoder) remedy(path string, parent, value *yaml.Node) string {
	if d.options.Remedy == nil {
		return ""
	}
	return d.options.Remedy(path, parent, value)
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// eachKey calls f for each key of a mapping and adds an error for each duplicate key.
func (d *Decoder) eachKey(n *yaml.Node, path string, f func(key, val *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			d.nodeErrorf(key, joinPath(path, key.Value), "duplicate key (first on line %d)", line)
			continue
		}
		seen[key.Value] = key.Line
		f(key, n.Content[i+1])
	}
}

func (d *Decoder) decodeMap(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.nodeErrorf(n, path, "want keys and values, found %s%s", Describe(n), d.remedy(path, nil, n))
		return
	}
	m := reflect.MakeMap(v.Type())
	d.eachKey(n, path, func(key, val *yaml.Node) {
		x := reflect.New(v.Type().Elem()).Elem()
		if x.Kind() == reflect.Float64 {
			x.SetFloat(math.NaN())
		}
		if val.Kind == yaml.MappingNode {
			val = new(*val)
			val.Line = key.Line // errors about missing keys are at the key of the map
		}
		d.decodeValue(val, x, joinPath(path, key.Value))
		m.SetMapIndex(reflect.ValueOf(key.Value), x)
	})
	v.Set(m)
}

func (d *Decoder) decodeList(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.nodeErrorf(n, path, "want a list, found %s%s", Describe(n), suggestList(n, v.Type().Elem()))
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		d.decodeValue(c, s.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(s)
}

func (d *Decoder) decodeScalar(n *yaml.Node, v reflect.Value, path string) {
	suggestion, kind := "", v.Kind()
	if n.Kind != yaml.ScalarNode {
		kind = reflect.Invalid
		if isSelector(path) {
			suggestion = suggestSelector(n)
		}
	}
	switch kind {
	case reflect.Invalid:
	case reflect.Bool:
		if b, err := strconv.ParseBool(n.Value); err == nil && n.Tag == "!!bool" {
			v.SetBool(b)
			return
		}
		suggestion = suggestUnquoted(n, "!!bool")
	case reflect.Int, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 32)
		switch {
		case n.Tag != "!!int":
		case err == nil:
			v.SetInt(i)
			return
		case errors.Is(err, strconv.ErrRange):
			d.TypeErrorf(n, path, "%s", describeRange(n, i))
			return
		}
		suggestion = suggestUnquoted(n, "!!int")
	case reflect.Float64:
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && (n.Tag == "!!int" || n.Tag == "!!float") {
			v.SetFloat(f)
			return
		}
		suggestion = d.suggestFloat(n.Value)
	case reflect.String:
		if n.Tag == "!!str" || !d.options.QuotedStrings {
			v.SetString(n.Value) // an unquoted number keeps its text
			return
		}
	default:
		panic("strict: no decoder for " + v.Type().String())
	}
	d.TypeErrorf(n, path, "want %s, found %s%s", d.describeField(v.Type(), path), Describe(n), suggestion)
}

// describeRange describes an integer that does not fit into 32 bits. nearest is the nearest integer that does.
func describeRange(n *yaml.Node, nearest int64) string {
	if nearest < 0 {
		return fmt.Sprintf("%s is too small (want at least %d)", n.Value, nearest)
	}
	return fmt.Sprintf("%s is too large (want at most %d)", n.Value, nearest)
}

// suggestFloat suggests a number instead of text.
func (d *Decoder) suggestFloat(text string) string {
	if d.options.Percentages {
		return suggestPercentage(text)
	}
	return cmp.Or(SuggestFraction(text), suggestBytes(text))
}

// decodeRaw stores a value as JSON for a later DecodeAt, and records the lines of its fields. Null leaves v
// unchanged, as with a struct, a map or a list.
func (d *Decoder) decodeRaw(n *yaml.Node, v reflect.Value, path string) {
	if n.Tag == "!!null" {
		return
	}
	before := len(d.errors)
	d.recordNodes(n, path)
	if len(d.errors) > before {
		return
	}
	var x any
	var b []byte
	err := n.Decode(&x)
	if err == nil {
		b, err = json.Marshal(x)
	}
	if err != nil {
		d.nodeErrorf(n, path, "%v", err)
		return
	}
	v.SetBytes(b)
}

func (d *Decoder) recordNodes(n *yaml.Node, path string) {
	d.nodes[path] = n
	switch n.Kind {
	case yaml.MappingNode:
		d.eachKey(n, path, func(key, val *yaml.Node) { d.recordNodes(val, joinPath(path, key.Value)) })
	case yaml.SequenceNode:
		for i, c := range n.Content {
			d.recordNodes(c, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
