package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// IsConfig reports whether data looks like a configuration of Evenkeel, or like values of a chart that contain one.
func IsConfig(data []byte) bool {
	root, err := strict.Parse("", data)
	return err == nil && len(configsIn(root)) > 0
}

// Update returns a configuration, or values of a chart, of an earlier format in the present format, and says which keys
// it removed or moved. The strategies become a map by name instead of a list. They get an order if their names do not
// sort like the list, so that the plan stays the same.
func Update(name string, data []byte) (text string, notes []string, err error) {
	root, err := strict.Parse(name, data)
	if err != nil {
		return "", nil, err
	}
	if key := duplicateKey(root); key != nil {
		return "", nil, fmt.Errorf("%s:%d: duplicate key %q (want one)", name, key.Line, key.Value)
	}
	converted := false
	for _, c := range configsIn(root) {
		notes = append(notes, updateKeys(c)...)
		for i := 0; i+1 < len(c.Content); i += 2 {
			list := c.Content[i+1]
			if c.Content[i].Value != "strategies" || list.Kind != yaml.SequenceNode {
				continue
			}
			if c.Content[i+1], err = mapOf(name, list); err != nil {
				return "", nil, err
			}
			if keyIndex(c, "preset") < 0 { // the chart's default has presets
				none := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
				preset := &yaml.Node{Kind: yaml.ScalarNode, Value: "preset", HeadComment: c.Content[i].HeadComment}
				c.Content[i].HeadComment = ""
				c.Content = slices.Insert(c.Content, i, preset, none)
			}
			converted = true
			break
		}
	}
	if !converted && notes == nil {
		return "", nil, fmt.Errorf("%s: has no list of strategies and no removed key that can be converted (`evenkeel config check` names the other removed keys)", name)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err = e.Encode(root)
	return out.String(), notes, err
}

// configsIn returns the configurations at or below n: a RebalanceConfig, or the mappings at keys named config.
func configsIn(n *yaml.Node) (found []*yaml.Node) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if key == "kind" && value.Value == "RebalanceConfig" {
			return []*yaml.Node{n}
		}
		if key == "config" && value.Kind == yaml.MappingNode {
			found = append(found, value)
		} else {
			found = append(found, configsIn(value)...)
		}
	}
	return found
}

// mapOf returns a list of strategies as a map by name.
func mapOf(file string, list *yaml.Node) (*yaml.Node, error) {
	out := &yaml.Node{Kind: yaml.MappingNode}
	var names []string
	for i, item := range list.Content {
		at := keyIndex(item, "name")
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: strategies[%d]: has no name, which becomes its key (want name: NAME)", file, item.Line, i)
		}
		key := *item.Content[at+1]
		if key.Kind != yaml.ScalarNode || keyIndex(item, "order") >= 0 {
			return nil, fmt.Errorf("%s:%d: strategies[%d]: want a name that is a word, and no order (a list had none)", file, item.Line, i)
		}
		if slices.Contains(names, key.Value) {
			return nil, fmt.Errorf("%s:%d: strategies[%d].name: another strategy has the name %s, too (want different names)", file, key.Line, i, key.Value)
		}
		key.HeadComment, key.FootComment = joinComments(item.HeadComment, item.Content[at].HeadComment), item.FootComment
		item.HeadComment, item.FootComment = "", ""
		item.Content = slices.Delete(item.Content, at, at+2)
		names = append(names, key.Value)
		out.Content = append(out.Content, &key, item)
	}
	if !slices.IsSorted(names) {
		for i := 1; i < len(names); i++ {
			item := out.Content[2*i+1]
			item.Content = slices.Insert(item.Content, 0, &yaml.Node{Kind: yaml.ScalarNode, Value: "order"},
				&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(i)})
		}
	}
	return out, nil
}

func joinComments(a, b string) string {
	if a != "" && b != "" {
		return a + "\n" + b
	}
	return a + b
}
