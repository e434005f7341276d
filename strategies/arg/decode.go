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
	tree, err := readJSON(d)
	if err != nil {
		return []Error{{"", "reading arguments: " + err.Error()}}
	}
	if _, err := d.Token(); err != io.EOF {
		return []Error{{"", "more than one value"}}
	}
	if tree == nil {
		return nil
	}
	var t decoder
	t.decodeValue("", tree, reflect.ValueOf(v).Elem())
	return t.errs
}

// object is a JSON object with its keys as they stand, also twice.
type object []member

type member struct {
	key   string
	value any
}

// readJSON is one JSON value: nil, bool, json.Number, string, []any or object.
func readJSON(d *json.Decoder) (any, error) {
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
			v, err := readJSON(d)
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
			v, err := readJSON(d)
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

// decoder puts values where they belong, and collects what is wrong.
type decoder struct{ errs []Error }

func (t *decoder) addError(path, format string, args ...any) {
	t.errs = append(t.errs, Error{path, fmt.Sprintf(format, args...)})
}

func (t *decoder) decodeValue(path string, from any, to reflect.Value) {
	switch to.Kind() {
	case reflect.Struct, reflect.Map:
		if from == nil {
			return
		}
		o, ok := from.(object)
		if !ok {
			t.addError(path, "want keys and values, found %s", describeValue(from))
			return
		}
		t.decodeObject(path, o, to)
	default:
		t.decodeScalar(path, from, to)
	}
}

func (t *decoder) decodeObject(path string, o object, to reflect.Value) {
	seen := map[string]bool{}
	if to.Kind() == reflect.Map && to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, m := range o {
		at := strings.TrimPrefix(path+"."+m.key, ".")
		if seen[m.key] {
			t.addError(at, "duplicate key")
			continue
		}
		seen[m.key] = true
		if to.Kind() == reflect.Map {
			entry := reflect.New(to.Type().Elem()).Elem()
			if entry.Kind() == reflect.Float64 {
				entry.SetFloat(math.NaN())
			}
			t.decodeValue(at, m.value, entry)
			to.SetMapIndex(reflect.ValueOf(m.key), entry)
			continue
		}
		if f, known := fieldByKey(to, m.key); known {
			t.decodeValue(at, m.value, f)
		} else {
			t.addError(at, "unknown argument%s", suggest.DidYouMean(m.key, jsonKeys(to.Type())))
		}
	}
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for i, name := range jsonKeys(v.Type()) {
		if name == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// jsonKeys are the keys of a struct, in the order of its fields.
func jsonKeys(t reflect.Type) []string {
	out := make([]string, t.NumField())
	for i := range out {
		out[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return out
}

func (t *decoder) decodeScalar(path string, from any, to reflect.Value) {
	if from == nil {
		t.addError(path, "is empty (want %s, or leave the key out)", describeKind(to.Kind()))
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
		t.addError(path, "want a fraction, found %s%s", describeValue(from), SuggestFraction(text))
		return
	default:
		panic("arg: arguments cannot be of type " + to.Type().String())
	}
	t.addError(path, "want %s, found %s", describeKind(to.Kind()), describeValue(from))
}

// describeKind says in words what a kind takes.
func describeKind(k reflect.Kind) string {
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

// describeValue says in words what stands there.
func describeValue(v any) string {
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
