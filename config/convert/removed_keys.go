package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// removedKeys are keys of earlier formats with their former default. Without the key, the program acts the same.
var removedKeys = [][2]string{
	{"load.metricsServer", "{timeout: 10s}"}, {"load.prometheus.timeout", "10s"}, {"load.loadWatcher.timeout", "10s"},
	{"load.prometheus.insecureSkipVerify", "false"}, {"guards.landing", "required"}, {"guards.schedulerTimeout", "1m"},
	{"guards.maxStaleness", "2m"}, {"placement.trust.minBindings", "50"}, {"evictor.steerMaxFrac", "0.67"},
	{"evictor.steerTTL", "10m"}, {"evictor.backoff.max", "24h"}, {"evictor.breaker.maxBadLandingsFrac", "0.2"},
	{"hints.formerLabels", "[]"}, {"hints.formerTaints", "[]"}, {"hints.for", "1"}, {"hints.clearMargin", "0.1"},
	{"hints.skipTaints", "[node-role.kubernetes.io/control-plane, node-role.kubernetes.io/master]"}, {"history.maxBytes", "67108864"},
}

// movedKeys are keys of earlier formats, with the path at which their value is now.
var movedKeys = [][2]string{
	{"placement.trust.minHitRate", "placement.trust"}, {"evictor.background.timeout", "evictor.backgroundTimeout"},
	{"evictor.backoff.initial", "evictor.backoff"}, {"web.watcher", "load.serve"},
}

// updateKeys removes and moves keys of earlier formats in a configuration, and returns what it changed. It leaves a
// removed key whose value was not the default: `evenkeel config check` says what to write instead.
func updateKeys(c *yaml.Node) (notes []string) {
	for _, k := range removedKeys {
		n, why := at(c, k[0]), "it was empty"
		switch {
		case n == nil || k[0] == badLandings && !isDefault(at(c, failed), "0.2"):
			continue
		case isEmpty(n):
		case isEqual(n, k[1]):
			why = "its value was the default, " + k[1]
		default:
			continue
		}
		set(c, k[0], nil)
		notes = append(notes, k[0]+": removed; "+why)
	}
	for _, k := range movedKeys {
		from, to := k[0], k[1]
		above := parentOf(from)
		mapping, value := at(c, above), at(c, from)
		switch {
		case mapping == nil:
		case isEmpty(mapping) || value != nil && isEmpty(value) && len(mapping.Content) == 2:
			set(c, above, nil)
			notes = append(notes, above+": removed; it was empty")
		case value != nil && len(mapping.Content) == 2 && move(c, from, to):
			notes = append(notes, fmt.Sprintf("%s: now %s: %q", from, to, value.Value))
		}
	}
	for _, path := range []string{"hints.label", "hints.taint"} {
		if text, ok := hintMark(at(c, path), path == "hints.label"); ok {
			replace(c, path, path, &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text})
			notes = append(notes, fmt.Sprintf("%s: now %s: %q", path, path, text))
		}
	}
	return notes
}

// failed also limits what badLandings limited, so only a file with its default acts the same without badLandings.
const failed, badLandings = "evictor.breaker.maxFailedFrac", "evictor.breaker.maxBadLandingsFrac"

// isDefault reports whether a value is missing, empty, or equal to the default.
func isDefault(n *yaml.Node, standard string) bool {
	return n == nil || isEmpty(n) || isEqual(n, standard)
}

// isEmpty reports whether a value is null or a mapping without keys, so that the default applies.
func isEmpty(n *yaml.Node) bool {
	return n.Tag == "!!null" || n.Kind == yaml.MappingNode && len(n.Content) == 0
}

// isEqual reports whether a value equals a text of YAML. Numbers and durations have several forms: `helm get values`
// prints 6.7108864e+07.
func isEqual(n *yaml.Node, text string) bool {
	var values [2]any
	if n.Decode(&values[0]) != nil || yaml.Unmarshal([]byte(text), &values[1]) != nil {
		return false
	}
	for i, v := range values {
		switch v := v.(type) {
		case int:
			values[i] = float64(v)
		case string:
			if d, err := time.ParseDuration(v); err == nil {
				values[i] = d
			}
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// hintMark returns the text of a label, or of a taint, that was a mapping. It returns false if n is another value, has
// keys that the mapping did not have, or has the key of a taint that the text cannot keep.
func hintMark(n *yaml.Node, isLabel bool) (text string, ok bool) {
	var former struct {
		Enabled    bool
		Key, Value *string
	}
	if n == nil || n.Kind != yaml.MappingNode || n.Decode(&former) != nil {
		return "", false
	}
	for i := 0; i < len(n.Content); i += 2 {
		if name := n.Content[i].Value; name != "key" && (name != "value" || !isLabel) && (name != "enabled" || isLabel) {
			return "", false
		}
	}
	key, value := "evenkeel.io/pressure", "true"
	if former.Key != nil {
		key = *former.Key
	}
	if former.Value != nil && *former.Value != "" {
		value = *former.Value
	}
	switch {
	case isLabel && key == "":
		return "", true
	case isLabel:
		return key + "=" + value, true
	case former.Enabled:
		return key, key != ""
	}
	return "", key == "evenkeel.io/pressure" // the former program removed taints with another key
}

// move moves the value of a key, which is alone in its mapping, to another path, with the comments. It returns false
// if another value is there.
func move(c *yaml.Node, from, to string) bool {
	above, target, value := parentOf(from), parentOf(to), at(c, from)
	if above != to && at(c, to) != nil {
		return false
	}
	if parentOf(above) == target {
		replace(c, above, to, value)
		return true
	}
	there := at(c, target)
	if there == nil { // the new mapping takes the place of the former one
		at(c, above).Content[0].Value = nameOf(to)
		replace(c, above, target, at(c, above))
		return true
	}
	if there.Kind != yaml.MappingNode && !isEmpty(there) {
		return false
	}
	commented := nodesOf(c, above)
	set(c, above, nil)
	set(c, to, value)
	key := nodesOf(c, to)[0]
	if carryComments(commented, key, value); key.HeadComment+value.LineComment+key.FootComment != "" {
		at(c, target).Style &^= yaml.FlowStyle // each comment needs a line
	}
	return true
}

// replace gives a key another name and value in the same place, and keeps the comments. The paths have the same parent.
func replace(c *yaml.Node, from, to string, value *yaml.Node) {
	former := nodesOf(c, from)
	former[0].Value = nameOf(to)
	set(c, to, value)
	if value != former[1] {
		carryComments(former, former[0], value)
	}
}

// nodesOf returns the nodes of a key: the key, its value, and the keys and values in it.
func nodesOf(c *yaml.Node, path string) []*yaml.Node {
	mapping := c
	if above := parentOf(path); above != "" {
		mapping = at(c, above)
	}
	i := keyIndex(mapping, nameOf(path))
	value := mapping.Content[i+1]
	return append([]*yaml.Node{mapping.Content[i], value}, value.Content...)
}

// carryComments gives the comments of nodes to a key and its value. Only one can be in its line; the others are above.
func carryComments(from []*yaml.Node, key, value *yaml.Node) {
	var head, line, foot string
	for _, n := range from {
		head = joinComments(head, n.HeadComment)
		if n.LineComment != "" {
			head, line = joinComments(head, line), n.LineComment
		}
		foot = joinComments(foot, n.FootComment)
	}
	for _, n := range []*yaml.Node{key, value} {
		n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	}
	key.HeadComment, value.LineComment, key.FootComment = head, line, foot
}

// parentOf returns the path without its last key.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// nameOf returns the last key of a path.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// at returns the value at a path of keys, or nil.
func at(n *yaml.Node, path string) *yaml.Node {
	for key := range strings.SplitSeq(path, ".") {
		i := keyIndex(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// set sets the value at a path of keys. It replaces a parent that is no mapping by one. Nil removes the value, and then
// each mapping that is empty.
func set(n *yaml.Node, path string, value *yaml.Node) {
	key, rest, deeper := strings.Cut(path, ".")
	i := keyIndex(n, key)
	if i < 0 {
		if value == nil {
			return
		}
		i = len(n.Content)
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.MappingNode})
	}
	if child := n.Content[i+1]; deeper && child.Kind != yaml.MappingNode {
		n.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode, HeadComment: child.HeadComment, LineComment: child.LineComment, FootComment: child.FootComment}
	}
	switch {
	case deeper:
		if set(n.Content[i+1], rest, value); len(n.Content[i+1].Content) == 0 {
			remove(n, i)
		}
	case value == nil:
		remove(n, i)
	default:
		n.Content[i+1] = value
	}
}

// remove removes the key with an index. A comment after it, such as a key that is commented out, stays.
func remove(n *yaml.Node, i int) {
	foot := n.Content[i].FootComment
	n.Content = slices.Delete(n.Content, i, i+2)
	switch {
	case i > 0:
		n.Content[i-2].FootComment = joinComments(n.Content[i-2].FootComment, foot)
	case len(n.Content) > 0:
		n.Content[0].HeadComment = joinComments(foot, n.Content[0].HeadComment)
	}
}

// keyIndex returns the index of a key in the content of a mapping, or -1.
func keyIndex(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// duplicateKey returns a key that a mapping at or below n has twice, or nil.
func duplicateKey(n *yaml.Node) *yaml.Node {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && keyIndex(n, child.Value) < i {
			return child
		}
		if key := duplicateKey(child); key != nil {
			return key
		}
	}
	return nil
}
