package arg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Decode reads JSON strictly into v, a pointer to a struct, and reports every
// mistake: unknown keys, keys that stand twice, values of another type. Keys are
// matched exactly. Empty input and null leave v as it is, and so does a value
// that cannot be read, except in a map of fractions, where it is NaN: the key
// was given. Numbers with a point are fractions.
func Decode(raw []byte, v any) []Error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	tree, err := read(d)
	if err != nil {
		return []Error{{"", "reading arguments: " + err.Error()}}
	}
	if _, err := d.Token(); err != io.EOF {
		return []Error{{"", "more than one value"}}
	}
	if tree == nil {
		return nil
	}
	var t taking
	t.value("", tree, reflect.ValueOf(v).Elem())
	return t.errs
}

// object is a JSON object with its keys as they stand, also twice.
type object []member

type member struct {
	key   string
	value any
}

// read is one JSON value: nil, bool, json.Number, string, []any or object.
func read(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(key), v})
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return token, nil
}

// taking puts values where they belong, and collects what is wrong.
type taking struct{ errs []Error }

func (t *taking) add(path, format string, args ...any) {
	t.errs = append(t.errs, Error{path, fmt.Sprintf(format, args...)})
}

func (t *taking) value(path string, from any, to reflect.Value) {
	switch to.Kind() {
	case reflect.Struct, reflect.Map:
		if from == nil {
			return
		}
		o, ok := from.(object)
		if !ok {
			t.add(path, "want keys and values, found %s", found(from))
			return
		}
		t.object(path, o, to)
	default:
		t.scalar(path, from, to)
	}
}

func (t *taking) object(path string, o object, to reflect.Value) {
	seen := map[string]bool{}
	if to.Kind() == reflect.Map && to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, m := range o {
		at := strings.TrimPrefix(path+"."+m.key, ".")
		if seen[m.key] {
			t.add(at, "duplicate key")
			continue
		}
		seen[m.key] = true
		if to.Kind() == reflect.Map {
			entry := reflect.New(to.Type().Elem()).Elem()
			if entry.Kind() == reflect.Float64 {
				entry.SetFloat(math.NaN())
			}
			t.value(at, m.value, entry)
			to.SetMapIndex(reflect.ValueOf(m.key), entry)
			continue
		}
		if f, known := fieldNamed(to, m.key); known {
			t.value(at, m.value, f)
		} else {
			t.add(at, "unknown argument%s", suggest.DidYouMean(m.key, names(to.Type())))
		}
	}
}

func fieldNamed(v reflect.Value, key string) (reflect.Value, bool) {
	for i, name := range names(v.Type()) {
		if name == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// names are the keys of a struct, in the order of its fields.
func names(t reflect.Type) []string {
	out := make([]string, t.NumField())
	for i := range out {
		out[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return out
}

func (t *taking) scalar(path string, from any, to reflect.Value) {
	if from == nil {
		t.add(path, "is empty (want %s, or leave the key out)", wanted(to.Kind()))
		return
	}
	number, numeric := from.(json.Number)
	switch to.Kind() {
	case reflect.Bool:
		if b, ok := from.(bool); ok {
			to.SetBool(b)
			return
		}
	case reflect.String:
		if s, ok := from.(string); ok {
			to.SetString(s)
			return
		}
	case reflect.Int:
		if n, err := strconv.Atoi(string(number)); numeric && err == nil {
			to.SetInt(int64(n))
			return
		}
	case reflect.Float64:
		if f, err := number.Float64(); numeric && err == nil {
			to.SetFloat(f)
			return
		}
		text, _ := from.(string)
		t.add(path, "want a fraction, found %s%s", found(from), MeantFraction(text))
		return
	default:
		panic("arg: arguments cannot be of type " + to.Type().String())
	}
	t.add(path, "want %s, found %s", wanted(to.Kind()), found(from))
}

// wanted says in words what a kind takes.
func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a fraction"
	}
	return "a word"
}

// maxFound bounds what is repeated of a value.
const maxFound = 40

// found says in words what stands there.
func found(v any) string {
	switch v := v.(type) {
	case object:
		return "keys and values"
	case []any:
		return "a list"
	case string:
		if r := []rune(v); len(r) > maxFound {
			v = string(r[:maxFound]) + "..."
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(v) // a number, true or false
}
