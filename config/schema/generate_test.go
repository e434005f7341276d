package schema_test

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// node is an object of a JSON Schema.
type node = map[string]any

// generator derives a schema from Go types and docs/reference. It keeps keywords that were added by hand, such as enum
// and minimum, and descriptions of keys without a row in docs/reference.
type generator struct {
	rows     map[string]docRow
	defaults any // config.Default() as JSON
	// quotedStrings says that the decoder accepts only strings for strings, and no numbers.
	quotedStrings bool
}

// Patterns of texts. A duration of 0 needs no unit.
const (
	durationPattern      = `^(0|([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+)$`
	countPattern         = `^([0-9]+%?|unlimited)$`
	wholeCountPattern    = `^([0-9]+|unlimited)$`
	positiveCountPattern = `^(0*[1-9][0-9]*|unlimited)$`
)

// countSchema returns the schema of a count. The loader rejects shares of what has no total, and 0 where it would stop
// everything.
func countSchema(path string) node {
	switch {
	case strings.Contains(path, "perHour."), strings.HasPrefix(path, "evictor.inFlight."), path == "evictor.perMinute", path == "limits.maxPredictions":
		return node{"type": list("integer", "string"), "pattern": positiveCountPattern, "minimum": 1.0}
	case path == "evictor.breaker.maxPendingPods":
		return node{"type": list("integer", "string"), "pattern": wholeCountPattern, "minimum": 0.0}
	}
	return node{"type": list("integer", "string"), "pattern": countPattern, "minimum": 0.0}
}

var duration = regexp.MustCompile(durationPattern)

// list converts words to the type that encoding/json decodes lists to.
func list[S ~string](words ...S) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// config returns the schema of config.yaml. have is the present one.
func (g *generator) config(have node) node {
	out := g.object(reflect.TypeFor[config.Config](), have, "")
	strategy := sub(sub(sub(out, "properties"), "strategies"), "additionalProperties")
	sub(sub(strategy, "properties"), "type")["enum"] = list(strategies.Types()...)
	presentArgs := map[string]node{}
	kept, _ := sub(sub(sub(have, "properties"), "strategies"), "additionalProperties")["allOf"].([]any)
	for _, c := range kept {
		typ, _ := sub(sub(sub(c.(node), "if"), "properties"), "type")["const"].(string)
		presentArgs[typ] = sub(sub(sub(c.(node), "then"), "properties"), "args")
	}
	g.quotedStrings = true
	var conditions []any
	for _, d := range strategies.All {
		args := g.object(d.Args, presentArgs[d.Type], d.Type)
		args["description"] = "Arguments of " + d.Type + "."
		then := node{"properties": node{"args": args}}
		conditions = append(conditions, node{
			"if":   node{"properties": node{"type": node{"const": d.Type}}, "required": list("type")},
			"then": then,
		})
	}
	strategy["allOf"] = conditions
	walk(strategy, "", acceptNull)
	return out
}

// acceptNull lets a key of a strategy be null, which removes the key of a preset. Elements of lists are not removed.
func acceptNull(n node, path string) {
	if strings.Contains(path, "[]") {
		return
	}
	switch types := n["type"].(type) {
	case string:
		n["type"] = list(types, "null")
	case []any:
		if !slices.Contains(types, any("null")) {
			n["type"] = append(types, "null")
		}
	}
	if words, ok := n["enum"].([]any); ok && !slices.Contains(words, any(nil)) {
		n["enum"] = append(words, nil)
	}
	delete(n, "required") // a preset may have the rest
}

// schema returns the schema of a type at a path.
func (g *generator) schema(t reflect.Type, have node, path string) node {
	switch t {
	case reflect.TypeFor[config.Duration]():
		return g.leaf(have, path, node{"type": list("string", "integer"), "pattern": durationPattern, "minimum": 0.0, "maximum": 0.0})
	case reflect.TypeFor[plan.CountLimit]():
		return g.leaf(have, path, countSchema(path))
	case reflect.TypeFor[config.Presets]():
		names := config.PresetNames()
		return g.leaf(have, path, node{"type": list("array", "string", "null"), "items": node{"type": "string", "enum": list(names...)},
			"pattern": "^(" + strings.Join(names, "|") + ")?$"})
	case reflect.TypeFor[config.Strategies]():
		t = reflect.TypeFor[map[string]config.Strategy]()
	case reflect.TypeFor[schedulerconfig.SchedulerProfile](): // kube-scheduler's own format
		return g.leaf(have, path, node{"type": list("object", "null")})
	case reflect.TypeFor[json.RawMessage]():
		return g.leaf(have, path, node{"type": list("object", "null")}) // see config
	}
	switch t.Kind() {
	case reflect.Struct:
		return g.object(t, have, path)
	case reflect.Map:
		values := g.schema(t.Elem(), sub(have, "additionalProperties"), path+".*")
		return g.leaf(have, path, node{"type": list("object", "null"), "additionalProperties": values})
	case reflect.Slice:
		return g.leaf(have, path, node{"type": list("array", "null"), "items": g.schema(t.Elem(), sub(have, "items"), path+"[]")})
	case reflect.Pointer:
		inner := g.schema(t.Elem(), have, path)
		switch one := inner["type"].(type) {
		case string:
			inner["type"] = list(one, "null")
		case []any:
			if t.Elem() == reflect.TypeFor[config.Duration]() {
				inner["type"] = append(one, "null")
			}
		}
		return inner
	case reflect.Bool:
		return g.leaf(have, path, node{"type": "boolean"})
	case reflect.String:
		if types, _ := have["type"].([]any); g.quotedStrings || have["type"] == "string" || len(types) == 2 { // or narrowed by hand, because a policy of the chart contains the text
			return g.leaf(have, path, node{"type": "string"})
		}
		return g.leaf(have, path, node{"type": list("string", "number", "boolean")}) // the decoder accepts all three
	case reflect.Float64:
		return g.leaf(have, path, g.number(path))
	}
	return g.leaf(have, path, integerSchema(have))
}

// integerSchema returns the schema of a whole number. The decoder rejects numbers of more than 32 bits.
func integerSchema(have node) node {
	out := node{"type": "integer"}
	if have["maximum"] == nil {
		out["maximum"] = float64(math.MaxInt32)
	}
	if have["minimum"] == nil {
		out["minimum"] = float64(math.MinInt32)
	}
	return out
}

// number returns the type of a floating-point number, with the range that docs/reference states.
func (g *generator) number(path string) node {
	row, _ := findRow(g.rows, path)
	switch row.typ {
	case "fraction":
		return node{"type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0}
	case "fraction or 0":
		return node{"type": "number", "minimum": 0.0, "maximum": 1.0}
	}
	return node{"type": "number"}
}

func (g *generator) object(t reflect.Type, have node, path string) node {
	out, props := node{"type": list("object", "null"), "additionalProperties": false}, node{}
	var required []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		props[name] = g.schema(f.Type, sub(sub(have, "properties"), name), at)
		if g.isRequired(at) {
			required = append(required, name)
		}
	}
	if required != nil {
		out["required"] = list(required...)
	}
	out["properties"] = props
	return g.leaf(node{"description": have["description"]}, path, out)
}

// isRequired reports whether docs/reference says that a key must be set.
func (g *generator) isRequired(path string) bool {
	row, own := findRow(g.rows, path)
	if strings.HasPrefix(row.typ, "required or") { // a word that the key may have
		return false
	}
	return row.standard == "required" && (own || strings.HasPrefix(path, "windows.")) || strings.HasPrefix(row.meaning, "required;")
}

// derived are keywords that only the Go types and the defaults decide.
var derived = []string{"default", "properties", "items", "additionalProperties", "required"}

// leaf adds the description and the default of a key to the schema of its type, and keywords that were added by hand.
func (g *generator) leaf(have node, path string, typed node) node {
	row, own := findRow(g.rows, path)
	for key, v := range have {
		if _, ours := typed[key]; !ours && v != nil && !slices.Contains(derived, key) {
			typed[key] = v
		}
	}
	if row.meaning != "" {
		typed["description"] = plainText(row.meaning)
	}
	if value := g.defaultAt(path); value != nil {
		typed["default"] = value
	} else if own {
		if value := documentedDefault(row.standard, typed); value != nil {
			typed["default"] = value
		}
	}
	return typed
}

// defaultAt returns the default of a key outside lists. It returns nil for an empty one, and for an object.
func (g *generator) defaultAt(path string) any {
	value := g.defaults
	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(node)
		if !ok {
			return nil
		}
		value = object[name]
	}
	switch v := value.(type) {
	case bool, float64:
		return v
	case string:
		if v != "" {
			return v
		}
	case []any:
		if len(v) > 0 {
			return v
		}
	}
	return nil
}

// documentedDefault returns the default in a cell of docs/reference, or nil if the cell contains no value. A text is a
// value only if backticks enclose the whole cell.
func documentedDefault(cell string, typed node) any {
	text, quoted := cell, false
	if m := markedText.FindStringSubmatch(cell); m != nil && m[0] == cell {
		text, quoted = m[1], true
	}
	switch typed["type"] {
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
		return nil
	case "integer", "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		return nil
	}
	words, _ := typed["enum"].([]any)
	isDuration := typed["pattern"] == durationPattern && duration.MatchString(text)
	if isDuration || slices.Contains(words, any(text)) || quoted && typed["type"] == "string" {
		return text
	}
	return nil
}

func sub(n node, key string) node {
	child, _ := n[key].(node)
	return child
}
