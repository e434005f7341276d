package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// decode fills what `into` points to from the document. It is our own because no
// library reports every mistake with its line and goes on.
func (e *decoder) decode(root *yaml.Node, into any) {
	e.decodeValue(root, reflect.ValueOf(into).Elem(), "")
}

var (
	durationType = reflect.TypeFor[Duration]()
	countType    = reflect.TypeFor[plan.CountLimit]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

func (e *decoder) decodeValue(n *yaml.Node, v reflect.Value, path string) {
	e.nodes[path] = n
	switch {
	case v.Type() == rawType:
		e.decodeRaw(n, v, path)
		return
	case n.Tag == "!!null":
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Slice && v.Kind() != reflect.Map && v.Kind() != reflect.Struct {
			e.addError(n, path, "is empty (want %s, or leave the key out)", describeType(v.Type()))
		}
		return
	case v.Type() == durationType:
		e.decodeDuration(n, v, path)
		return
	case v.Type() == countType:
		e.decodeCount(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		e.decodeStruct(n, v, path)
	case reflect.Map:
		e.decodeMap(n, v, path)
	case reflect.Slice:
		e.decodeList(n, v, path)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		e.decodeValue(n, p.Elem(), path)
		v.Set(p)
	default:
		e.decodeScalar(n, v, path)
	}
}

func (e *decoder) decodeStruct(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		e.addError(n, path, "want keys and values, found %s", describeNode(n))
		return
	}
	fields := map[string]int{}
	var names []string
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = i
		names = append(names, name)
	}
	e.eachKey(n, path, func(key, val *yaml.Node) {
		i, known := fields[key.Value]
		if !known {
			e.addError(key, joinPath(path, key.Value), "unknown key%s", suggest.DidYouMean(key.Value, names))
			return
		}
		f := v.Type().Field(i)
		before := reflect.New(f.Type).Elem()
		before.Set(v.Field(i))
		e.decodeValue(val, v.Field(i), joinPath(path, key.Value))
		if f.Tag.Get("built") == "no" {
			e.checkNotBuilt(before, v.Field(i), joinPath(path, key.Value))
		}
	})
}

// eachKey walks a mapping and reports keys that stand twice.
func (e *decoder) eachKey(n *yaml.Node, path string, f func(key, val *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			e.addError(key, joinPath(path, key.Value), "duplicate key (first on line %d)", line)
			continue
		}
		seen[key.Value] = key.Line
		f(key, n.Content[i+1])
	}
}

// checkNotBuilt reports every leaf that differs from its default in a part of the
// configuration whose feature does not exist yet.
func (e *decoder) checkNotBuilt(before, after reflect.Value, path string) {
	if before.Kind() == reflect.Struct && before.Type() != countType {
		for i := range before.NumField() {
			name, _, _ := strings.Cut(before.Type().Field(i).Tag.Get("json"), ",")
			e.checkNotBuilt(before.Field(i), after.Field(i), joinPath(path, name))
		}
		return
	}
	empty := func(v reflect.Value) bool {
		return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
	}
	if reflect.DeepEqual(before.Interface(), after.Interface()) || empty(before) && empty(after) {
		return
	}
	e.fieldError(path, "not built yet in this version; leave it out, or at its default (%s)", formatDefault(before))
}

func formatDefault(v reflect.Value) string {
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 || v.Kind() == reflect.String && v.Len() == 0 {
		return "empty"
	}
	return fmt.Sprint(v.Interface())
}

func (e *decoder) decodeMap(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		e.addError(n, path, "want keys and values, found %s", describeNode(n))
		return
	}
	m := reflect.MakeMap(v.Type())
	e.eachKey(n, path, func(key, val *yaml.Node) {
		x := reflect.New(v.Type().Elem()).Elem()
		e.decodeValue(val, x, joinPath(path, key.Value))
		m.SetMapIndex(reflect.ValueOf(key.Value), x)
	})
	v.Set(m)
}

func (e *decoder) decodeList(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		e.addError(n, path, "want a list, found %s", describeNode(n))
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		e.decodeValue(c, s.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(s)
}

func (e *decoder) decodeScalar(n *yaml.Node, v reflect.Value, path string) {
	bad := func(hint string) {
		e.typeError(n, path, "want %s, found %s%s", describeScalarType(v.Type(), path), describeNode(n), hint)
	}
	if n.Kind != yaml.ScalarNode {
		bad("")
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Value)
		if err != nil || n.Tag != "!!bool" {
			bad("")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 32)
		if err != nil || n.Tag != "!!int" {
			bad("")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || n.Tag != "!!int" && n.Tag != "!!float" {
			bad(cmp.Or(arg.SuggestFraction(n.Value), suggestBytes(n.Value)))
			return
		}
		v.SetFloat(f)
	case reflect.String:
		// A plain number or boolean where a word is wanted is kept as written.
		v.SetString(n.Value)
	}
}

// describeScalarType says in words what the type of a field takes, or its name.
func describeScalarType(t reflect.Type, path string) string {
	if strings.HasSuffix(strings.ToLower(path), "selector") {
		return "a label selector such as \"app=web\""
	}
	return describeType(t)
}

func (e *decoder) decodeDuration(n *yaml.Node, v reflect.Value, path string) {
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		e.typeError(n, path, "%s is not a duration (%s)", describeNode(n), durationHint(n.Value, strings.HasPrefix(path, "windows.")))
	case d < 0:
		e.typeError(n, path, "%s is negative (want 0s or more)", n.Value)
	default:
		v.SetInt(int64(d))
	}
}

// durationHint says what to write instead of text: numbers without a unit, and
// days, which are none, are told in those that are known. Windows last hours.
func durationHint(text string, window bool) string {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	switch days := strings.HasSuffix(text, "d"); {
	case err == nil && days && n > 0 && (n <= 7 || !window && n <= 9999):
		return fmt.Sprintf("did you mean %dh?", 24*n)
	case err == nil && !days && window:
		return fmt.Sprintf("did you mean %dh?", n)
	case err == nil && !days:
		return fmt.Sprintf("did you mean %ds or %dm?", n, n)
	case window:
		return "want a number and a unit, such as 6h"
	}
	return "want a number and a unit, such as 90s, 5m or 1h30m"
}

func (e *decoder) decodeCount(n *yaml.Node, v reflect.Value, path string) {
	want := "a number, a share such as 20%%, or unlimited"
	whole := strings.HasPrefix(path, "evictor.") // these count pods, whatever is there
	if whole {
		want = "a whole number, or unlimited"
	}
	if n.Kind != yaml.ScalarNode {
		e.typeError(n, path, "want "+want+"; found %s", describeNode(n))
		return
	}
	c, err := plan.ParseCountLimit(n.Value)
	switch {
	case err != nil && whole && !strings.HasPrefix(n.Value, "-"):
		e.typeError(n, path, "want "+want+"; found %s", describeNode(n))
	case err != nil:
		e.typeError(n, path, "%v", err)
	default:
		v.Set(reflect.ValueOf(c))
	}
}

// decodeRaw keeps a value as JSON for whoever knows its shape, and remembers where
// its fields stand.
func (e *decoder) decodeRaw(n *yaml.Node, v reflect.Value, path string) {
	before := len(e.errors)
	e.recordPositions(n, path)
	if len(e.errors) > before {
		return
	}
	var x any
	if err := n.Decode(&x); err != nil {
		e.addError(n, path, "%v", err)
		return
	}
	b, err := json.Marshal(x)
	if err != nil {
		e.addError(n, path, "%v", err)
		return
	}
	v.SetBytes(b)
}

func (e *decoder) recordPositions(n *yaml.Node, path string) {
	e.nodes[path] = n
	switch n.Kind {
	case yaml.MappingNode:
		e.eachKey(n, path, func(key, val *yaml.Node) { e.recordPositions(val, joinPath(path, key.Value)) })
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.recordPositions(c, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
