package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/plan"
)

type node = map[string]any // of a JSON Schema

// words is a list as it is in JSON.
func words(s ...string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// shape is the schema of a type of the configuration. Where the chart says more about a
// value than its type does (a pattern, its words), that stays.
func shape(t reflect.Type, have node) node {
	switch t {
	case reflect.TypeFor[config.Duration]():
		return leaf(have, node{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`})
	case reflect.TypeFor[plan.CountLimit]():
		return leaf(have, node{"type": words("integer", "string"), "pattern": "^([0-9]+%?|unlimited)$", "minimum": 0.0})
	case reflect.TypeFor[json.RawMessage]():
		return leaf(have, node{"type": words("object", "null")}) // whose keys each strategy knows
	}
	switch t.Kind() {
	case reflect.Struct:
		return object(t, have)
	case reflect.Map:
		return node{"type": words("object", "null"), "additionalProperties": shape(t.Elem(), under(have, "additionalProperties"))}
	case reflect.Slice:
		return node{"type": words("array", "null"), "items": shape(t.Elem(), under(have, "items"))}
	case reflect.Pointer:
		inner := shape(t.Elem(), nil)
		if one, ok := inner["type"].(string); ok {
			inner["type"] = words(one, "null")
		}
		return leaf(have, inner)
	case reflect.Bool:
		return leaf(have, node{"type": "boolean"})
	case reflect.String:
		return leaf(have, node{"type": words("string", "number", "boolean")}) // kept as written
	case reflect.Float64:
		return leaf(have, node{"type": "number"})
	}
	return leaf(have, node{"type": "integer"})
}

func object(t reflect.Type, have node) node {
	out, props := node{"type": words("object", "null"), "additionalProperties": false}, node{}
	for _, kept := range []string{"description", "required"} {
		if have[kept] != nil {
			out[kept] = have[kept]
		}
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); t.Field(i).IsExported() {
			props[name] = shape(t.Field(i).Type, under(under(have, "properties"), name))
		}
	}
	out["properties"] = props
	return out
}

func under(n node, key string) node {
	sub, _ := n[key].(node)
	return sub
}

// leaf is what the type says, and what was added by hand.
func leaf(have, typed node) node {
	for key, v := range have {
		if _, ours := typed[key]; !ours {
			typed[key] = v
		}
	}
	return typed
}

// TestTheChartsSchemaHasOurKeys: what is misspelt under config is refused by Helm
// already, for the chart's schema has the keys of Config and no others. -update writes
// them; patterns and words that were added by hand stay.
func TestTheChartsSchemaHasOurKeys(t *testing.T) {
	const file = "../charts/evenkeel/values.schema.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all node
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	values := under(all, "properties")
	values["config"] = shape(reflect.TypeFor[config.Config](), under(values, "config"))
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false) // patterns stay readable
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, file, want.Bytes())
}
