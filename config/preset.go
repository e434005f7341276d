package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
)

// presets returns the presets: a mapping from their names to their strategies.
var presets = sync.OnceValue(func() *yaml.Node {
	root, err := strict.Parse("presets.yaml", evenkeel.Presets)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return root
})

// PresetNames returns the names of all presets.
func PresetNames() (names []string) {
	for i := 0; i < len(presets().Content); i += 2 {
		names = append(names, presets().Content[i].Value)
	}
	return names
}

// presetsWith returns the names of the presets that have a strategy of this name.
func presetsWith(strategy string) (names []string) {
	for _, name := range PresetNames() {
		if valueAt(valueAt(presets(), name), strategy) != nil {
			names = append(names, name)
		}
	}
	return names
}

// strategiesOfPresets returns the names of the strategies of all presets.
func strategiesOfPresets() (names []string) {
	for _, preset := range PresetNames() {
		strategies := valueAt(presets(), preset)
		for i := 0; i < len(strategies.Content); i += 2 {
			names = append(names, strategies.Content[i].Value)
		}
	}
	return names
}

// expandPresets returns the configuration at root with the strategies of its presets, into which those of the file are
// merged as a merge patch (RFC 7386). Nodes of presets get the line of the name of the preset. Values of a wrong type
// stay as they are.
func expandPresets(root *yaml.Node) *yaml.Node {
	given := valueAt(root, "strategies")
	if root.Kind != yaml.MappingNode || given != nil && given.Kind != yaml.MappingNode && given.Tag != "!!null" {
		return root
	}
	merged := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: root.Line}
	for _, name := range namesAt(valueAt(root, "preset")) {
		if preset := valueAt(presets(), name.Value); preset != nil {
			merged = mergePatch(merged, atLine(preset, name.Line))
		}
	}
	out := *root
	out.Content = slices.Clone(root.Content)
	if given == nil {
		out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "strategies", Line: root.Line}, merged)
		return &out
	}
	if given.Kind == yaml.MappingNode {
		merged = mergePatch(merged, withoutAbsent(given, merged))
	}
	out.Content[slices.Index(out.Content, given)] = merged
	return &out
}

// withoutAbsent returns the strategies of a file without nulls that remove nothing, but name what exists: a strategy of
// a preset that is not selected, or a key that a strategy of a selected preset may have.
func withoutAbsent(given, selected *yaml.Node) *yaml.Node {
	return withoutNulls(given, selected, func(name string, s *yaml.Node) (bool, *yaml.Node) {
		preset := valueAt(selected, name)
		if preset == nil {
			return presetsWith(name) != nil, s
		}
		typ := valueAt(s, "type")
		if typ == nil {
			typ = valueAt(preset, "type")
		}
		return true, withoutNullKeys(s, preset, reflect.TypeFor[Strategy](), strategies.Lookup(typ.Value).Args)
	})
}

// withoutNullKeys returns a patch without nulls for keys of the type that the target does not have. args is the type of
// the arguments, or nil.
func withoutNullKeys(patch, target *yaml.Node, typ, args reflect.Type) *yaml.Node {
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return withoutNulls(patch, target, func(key string, value *yaml.Node) (bool, *yaml.Node) {
		field := typeOfKey(typ, key)
		if field == reflect.TypeFor[json.RawMessage]() {
			field = args
		}
		return field != nil, withoutNullKeys(value, valueAt(target, key), field, args)
	})
}

// typeOfKey returns the type of a key of a struct, or of a map by resource, and nil if the type has no such key.
func typeOfKey(t reflect.Type, key string) reflect.Type {
	switch {
	case t == nil:
	case t.Kind() == reflect.Map && len(arg.Resource("", key)) == 0:
		return t.Elem()
	case t.Kind() == reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key && f.IsExported() {
				return f.Type
			}
		}
	}
	return nil
}

// withoutNulls returns a mapping without nulls for keys that exist, but that the target does not have, and other nodes
// as they are. Duplicate keys stay. visit returns whether a key exists, and what replaces its value.
func withoutNulls(patch, target *yaml.Node, visit func(key string, value *yaml.Node) (exists bool, replacement *yaml.Node)) *yaml.Node {
	if patch.Kind != yaml.MappingNode {
		return patch
	}
	out := *patch
	out.Content = nil
	times := map[string]int{}
	for i := 0; i+1 < len(patch.Content); i += 2 {
		times[patch.Content[i].Value]++
	}
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key := patch.Content[i]
		exists, value := visit(key.Value, patch.Content[i+1])
		if value.Tag != "!!null" || !exists || times[key.Value] > 1 || valueAt(target, key.Value) != nil {
			out.Content = append(out.Content, key, value)
		}
	}
	return &out
}

// mergePatch returns a target with a merge patch applied: mappings merge, null removes a key of the target, and other
// values replace. A null for a key that the target does not have stays, and so does a duplicate key of the patch: the
// decoder refuses both.
func mergePatch(target, patch *yaml.Node) *yaml.Node {
	if patch.Kind != yaml.MappingNode {
		return patch
	}
	out := *patch
	out.Content = nil
	if target != nil && target.Kind == yaml.MappingNode {
		out.Content = slices.Clone(target.Content)
	}
	inherited := len(out.Content) // keys before it are those of the target
	for i := 0; i+1 < len(patch.Content); i += 2 {
		key, value := patch.Content[i], patch.Content[i+1]
		at := 0
		for at < inherited && out.Content[at].Value != key.Value {
			at += 2
		}
		switch {
		case at == inherited:
			out.Content = append(out.Content, key, mergePatch(nil, value))
		case value.Tag == "!!null":
			out.Content = slices.Delete(out.Content, at, at+2)
			inherited -= 2
		default:
			value = mergePatch(out.Content[at+1], value)
			out.Content = append(slices.Delete(out.Content, at, at+2), key, value)
			inherited -= 2
		}
	}
	return &out
}

// atLine returns a copy of a node whose line, like that of all nodes below it, is the given one.
func atLine(n *yaml.Node, line int) *yaml.Node {
	out := *n
	out.Line, out.Content = line, nil
	for _, child := range n.Content {
		out.Content = append(out.Content, atLine(child, line))
	}
	return &out
}

// namesAt returns the elements of a list, or n itself if it is a word. Nil has none.
func namesAt(n *yaml.Node) []*yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return []*yaml.Node{n}
	}
	return n.Content
}

// Presets are names of presets. In the file, they are a list or one word.
type Presets []string

func decodePresets(d *strict.Decoder, n *yaml.Node, v reflect.Value, path string) {
	names := []string{}
	switch {
	case n.Kind != yaml.ScalarNode:
		d.DecodeNode(n, &names, path)
	case n.Value != "":
		names = append(names, n.Value)
	}
	v.Set(reflect.ValueOf(Presets(names)))
}

// checkPresets reports presets that are unknown.
func checkPresets(c *Config, d *strict.Decoder) {
	for i, name := range c.Preset {
		path := fmt.Sprintf("preset[%d]", i)
		if !d.Has(path) {
			path = "preset"
		}
		d.CheckOneOf(path, "preset", name, PresetNames())
	}
}
