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
func (e *mistakes) decode(root *yaml.Node, into any) {
	e.value(root, reflect.ValueOf(into).Elem(), "")
}

var (
	durationType = reflect.TypeFor[Duration]()
	countType    = reflect.TypeFor[plan.CountLimit]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

func (e *mistakes) value(n *yaml.Node, v reflect.Value, path string) {
	e.at[path] = n
	switch {
	case v.Type() == rawType:
		e.raw(n, v, path)
		return
	case n.Tag == "!!null":
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Slice && v.Kind() != reflect.Map && v.Kind() != reflect.Struct {
			e.add(n, path, "is empty (want %s, or leave the key out)", wanted(v.Type()))
		}
		return
	case v.Type() == durationType:
		e.duration(n, v, path)
		return
	case v.Type() == countType:
		e.count(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		e.object(n, v, path)
	case reflect.Map:
		e.mapping(n, v, path)
	case reflect.Slice:
		e.sequence(n, v, path)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		e.value(n, p.Elem(), path)
		v.Set(p)
	default:
		e.scalar(n, v, path)
	}
}

func (e *mistakes) object(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		e.add(n, path, "want keys and values, found %s", found(n))
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
	e.pairs(n, path, func(key, val *yaml.Node) {
		i, known := fields[key.Value]
		if !known {
			e.add(key, join(path, key.Value), "unknown key%s", suggest.DidYouMean(key.Value, names))
			return
		}
		f := v.Type().Field(i)
		before := reflect.New(f.Type).Elem()
		before.Set(v.Field(i))
		e.value(val, v.Field(i), join(path, key.Value))
		if f.Tag.Get("built") == "no" {
			e.notBuilt(before, v.Field(i), join(path, key.Value))
		}
	})
}

// pairs walks a mapping and reports keys that stand twice.
func (e *mistakes) pairs(n *yaml.Node, path string, f func(key, val *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			e.add(key, join(path, key.Value), "duplicate key (first on line %d)", line)
			continue
		}
		seen[key.Value] = key.Line
		f(key, n.Content[i+1])
	}
}

// notBuilt reports every leaf that differs from its default in a part of the
// configuration whose feature does not exist yet.
func (e *mistakes) notBuilt(before, after reflect.Value, path string) {
	if before.Kind() == reflect.Struct && before.Type() != countType {
		for i := range before.NumField() {
			name, _, _ := strings.Cut(before.Type().Field(i).Tag.Get("json"), ",")
			e.notBuilt(before.Field(i), after.Field(i), join(path, name))
		}
		return
	}
	empty := func(v reflect.Value) bool {
		return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
	}
	if reflect.DeepEqual(before.Interface(), after.Interface()) || empty(before) && empty(after) {
		return
	}
	e.field(path, "not built yet in this version; leave it out, or at its default (%s)", show(before))
}

func show(v reflect.Value) string {
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 || v.Kind() == reflect.String && v.Len() == 0 {
		return "empty"
	}
	return fmt.Sprint(v.Interface())
}

func (e *mistakes) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		e.add(n, path, "want keys and values, found %s", found(n))
		return
	}
	m := reflect.MakeMap(v.Type())
	e.pairs(n, path, func(key, val *yaml.Node) {
		x := reflect.New(v.Type().Elem()).Elem()
		e.value(val, x, join(path, key.Value))
		m.SetMapIndex(reflect.ValueOf(key.Value), x)
	})
	v.Set(m)
}

func (e *mistakes) sequence(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		e.add(n, path, "want a list, found %s", found(n))
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		e.value(c, s.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(s)
}

func (e *mistakes) scalar(n *yaml.Node, v reflect.Value, path string) {
	bad := func(hint string) {
		e.unreadable(n, path, "want %s, found %s%s", scalarWanted(v.Type(), path), found(n), hint)
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
			bad(cmp.Or(arg.MeantFraction(n.Value), meantBytes(n.Value)))
			return
		}
		v.SetFloat(f)
	case reflect.String:
		// A plain number or boolean where a word is wanted is kept as written.
		v.SetString(n.Value)
	}
}

// scalarWanted says in words what the type of a field takes, or its name.
func scalarWanted(t reflect.Type, path string) string {
	if strings.HasSuffix(strings.ToLower(path), "selector") {
		return "a label selector such as \"app=web\""
	}
	return wanted(t)
}

func (e *mistakes) duration(n *yaml.Node, v reflect.Value, path string) {
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		e.unreadable(n, path, "%s is not a duration (%s)", found(n), durationHint(n.Value, strings.HasPrefix(path, "windows.")))
	case d < 0:
		e.unreadable(n, path, "%s is negative (want 0s or more)", n.Value)
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

func (e *mistakes) count(n *yaml.Node, v reflect.Value, path string) {
	want := "a number, a share such as 20%%, or unlimited"
	whole := strings.HasPrefix(path, "evictor.") // these count pods, whatever is there
	if whole {
		want = "a whole number, or unlimited"
	}
	if n.Kind != yaml.ScalarNode {
		e.unreadable(n, path, "want "+want+"; found %s", found(n))
		return
	}
	c, err := plan.ParseCountLimit(n.Value)
	switch {
	case err != nil && whole && !strings.HasPrefix(n.Value, "-"):
		e.unreadable(n, path, "want "+want+"; found %s", found(n))
	case err != nil:
		e.unreadable(n, path, "%v", err)
	default:
		v.Set(reflect.ValueOf(c))
	}
}

// raw keeps a value as JSON for whoever knows its shape, and remembers where
// its fields stand.
func (e *mistakes) raw(n *yaml.Node, v reflect.Value, path string) {
	before := len(e.list)
	e.positions(n, path)
	if len(e.list) > before {
		return
	}
	var x any
	if err := n.Decode(&x); err != nil {
		e.add(n, path, "%v", err)
		return
	}
	b, err := json.Marshal(x)
	if err != nil {
		e.add(n, path, "%v", err)
		return
	}
	v.SetBytes(b)
}

func (e *mistakes) positions(n *yaml.Node, path string) {
	e.at[path] = n
	switch n.Kind {
	case yaml.MappingNode:
		e.pairs(n, path, func(key, val *yaml.Node) { e.positions(val, join(path, key.Value)) })
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.positions(c, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
