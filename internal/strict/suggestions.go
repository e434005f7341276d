package strict

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// suggestSelector returns the text of a selector for keys and values, or for a list of requirements, as in
// ` (did you mean "pool=steady"?)`. It returns "" for other values.
func suggestSelector(n *yaml.Node) string {
	var text string
	switch n.Kind {
	case yaml.MappingNode:
		text = selectorOf(n)
	case yaml.SequenceNode:
		var parts []string
		if n.Decode(&parts) == nil {
			text = strings.Join(parts, ",")
		}
	}
	if _, err := labels.Parse(text); err != nil || text == "" || len(text) > 2*maxShown {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", text)
}

// selectorOf returns the text of a selector with the form of a LabelSelector or of a nodeSelector, or "".
func selectorOf(n *yaml.Node) string {
	var values map[string]any
	if n.Decode(&values) != nil {
		return ""
	}
	_, hasLabels := values["matchLabels"]
	_, hasExpressions := values["matchExpressions"]
	if !hasLabels && !hasExpressions {
		var set labels.Set
		if n.Decode(&set) != nil {
			return ""
		}
		return set.String()
	}
	data, err := json.Marshal(values)
	if err != nil {
		return ""
	}
	var selector metav1.LabelSelector
	if json.Unmarshal(data, &selector) != nil {
		return ""
	}
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return ""
	}
	return parsed.String()
}

// suggestKeys returns a suggestion for a list of keys with values, and "" for other values.
func suggestKeys(n *yaml.Node) string {
	isMapping := func(item *yaml.Node) bool { return item.Kind == yaml.MappingNode }
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || !slices.ContainsFunc(n.Content, isMapping) {
		return ""
	}
	return " (write the keys without a dash)"
}

// suggestList returns a suggestion for a value that is no list, but could be an item of one.
func suggestList(n *yaml.Node, item reflect.Type) string {
	isStruct := item.Kind() == reflect.Struct || item.Kind() == reflect.Pointer && item.Elem().Kind() == reflect.Struct
	switch {
	case n.Kind == yaml.MappingNode && isStruct:
		return " (begin each item with a dash)"
	case n.Kind == yaml.ScalarNode && item.Kind() == reflect.String && n.Value != "" && len(n.Value) <= maxShown:
		return " (did you mean [" + n.Value + "]?)"
	}
	return ""
}
