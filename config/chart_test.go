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

// schemaNode is an object of a JSON Schema.
type schemaNode = map[string]any

// stringsToAny converts a list to the type that encoding/json decodes lists to.
func stringsToAny(s ...string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// schemaOf returns the JSON schema of a type. It keeps additions of the chart's schema, such as patterns and
// descriptions.
func schemaOf(t reflect.Type, have schemaNode) schemaNode {
	switch t {
	case reflect.TypeFor[config.Duration]():
		return mergeLeafSchema(have, schemaNode{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`})
	case reflect.TypeFor[plan.CountLimit]():
		return mergeLeafSchema(have, schemaNode{"type": stringsToAny("integer", "string"), "pattern": "^([0-9]+%?|unlimited)$", "minimum": 0.0})
	case reflect.TypeFor[json.RawMessage]():
		return mergeLeafSchema(have, schemaNode{"type": stringsToAny("object", "null")}) // each strategy checks its own keys
	}
	switch t.Kind() {
	case reflect.Struct:
		return objectSchema(t, have)
	case reflect.Map:
		return schemaNode{"type": stringsToAny("object", "null"), "additionalProperties": schemaOf(t.Elem(), subSchema(have, "additionalProperties"))}
	case reflect.Slice:
		return schemaNode{"type": stringsToAny("array", "null"), "items": schemaOf(t.Elem(), subSchema(have, "items"))}
	case reflect.Pointer:
		inner := schemaOf(t.Elem(), nil)
		if one, ok := inner["type"].(string); ok {
			inner["type"] = stringsToAny(one, "null")
		}
		return mergeLeafSchema(have, inner)
	case reflect.Bool:
		return mergeLeafSchema(have, schemaNode{"type": "boolean"})
	case reflect.String:
		if have["type"] == "string" {
			return have // narrowed by hand, because a policy of the chart contains the text
		}
		return mergeLeafSchema(have, schemaNode{"type": stringsToAny("string", "number", "boolean")}) // the decoder accepts all three
	case reflect.Float64:
		return mergeLeafSchema(have, schemaNode{"type": "number"})
	}
	return mergeLeafSchema(have, schemaNode{"type": "integer"})
}

func objectSchema(t reflect.Type, have schemaNode) schemaNode {
	out, props := schemaNode{"type": stringsToAny("object", "null"), "additionalProperties": false}, schemaNode{}
	for _, kept := range []string{"description", "required"} {
		if have[kept] != nil {
			out[kept] = have[kept]
		}
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); t.Field(i).IsExported() {
			props[name] = schemaOf(t.Field(i).Type, subSchema(subSchema(have, "properties"), name))
		}
	}
	out["properties"] = props
	return out
}

func subSchema(n schemaNode, key string) schemaNode {
	sub, _ := n[key].(schemaNode)
	return sub
}

// mergeLeafSchema adds to the schema of a type the keys that only the chart's schema has.
func mergeLeafSchema(have, typed schemaNode) schemaNode {
	for key, v := range have {
		if _, ours := typed[key]; !ours {
			typed[key] = v
		}
	}
	return typed
}

// TestChartSchemaMatchesConfig checks that the chart's schema has exactly the keys of Config, so Helm rejects a
// misspelt key. The flag -update writes the keys, and keeps manually added patterns and descriptions.
func TestChartSchemaMatchesConfig(t *testing.T) {
	const file = "../charts/evenkeel/values.schema.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all schemaNode
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	values := subSchema(all, "properties")
	values["config"] = schemaOf(reflect.TypeFor[config.Config](), subSchema(values, "config"))
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false) // patterns stay readable
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, file, want.Bytes())
}
