package convert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// removedKeys are keys of earlier formats with their former default. Without the key, the program acts the same.
var removedKeys = [][2]string{
	{"load.metricsServer", "{timeout: 10s}"}, {"load.prometheus.timeout", "10s"}, {"load.loadWatcher.timeout", "10s"},
	{"load.prometheus.insecureSkipVerify", "false"}, {"guards.landing", "required"}, {"guards.schedulerTimeout", "1m"},
	{"guards.maxStaleness", "2m"}, {"placement.trust.minBindings", "50"}, {"evictor.steerMaxFrac", "0.67"},
	{"evictor.steerTTL", "10m"}, {"evictor.backoff.max", "24h"}, {"evictor.breaker.maxBadLandingsFrac", "0.2"},
	{"hints.formerLabels", "[]"}, {"hints.formerTaints", "[]"}, {"hints.for", "1"}, {"hints.clearMargin", "0.1"},
	{"hints.skipTaints", "[node-role.kubernetes.io/control-plane, node-role.kubernetes.io/master]"}, {"history.maxBytes", "64Mi"},
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
		var standard, value any
		if n := at(c, k[0]); n == nil || n.Decode(&value) != nil || yaml.Unmarshal([]byte(k[1]), &standard) != nil || !reflect.DeepEqual(value, standard) {
			continue
		}
		set(c, k[0], nil)
		notes = append(notes, fmt.Sprintf("%s: removed; its value was the default, %s", k[0], k[1]))
	}
	move := func(from, to string, value *yaml.Node) {
		set(c, from, nil)
		set(c, to, value)
		notes = append(notes, fmt.Sprintf("%s: now %s: %q", from, to, value.Value))
	}
	for _, k := range movedKeys {
		parent := at(c, k[0][:strings.LastIndexByte(k[0], '.')])
		if n := at(c, k[0]); n != nil && len(parent.Content) == 2 {
			move(k[0], k[1], n)
		}
	}
	word := func(path, standard string) string {
		if n := at(c, path); n != nil {
			return n.Value
		}
		return standard
	}
	if n := at(c, "hints.label"); n != nil && n.Kind == yaml.MappingNode {
		label := word("hints.label.key", "evenkeel.io/pressure")
		if label != "" {
			label += "=" + word("hints.label.value", "true")
		}
		move("hints.label", "hints.label", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: label})
	}
	if n := at(c, "hints.taint"); n != nil && n.Kind == yaml.MappingNode {
		taint := ""
		if word("hints.taint.enabled", "false") == "true" {
			taint = word("hints.taint.key", "evenkeel.io/pressure")
		}
		move("hints.taint", "hints.taint", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: taint})
	}
	return notes
}

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

// set sets the value at a path of keys. Nil removes it, and then each mapping that is empty.
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
	switch {
	case deeper:
		if set(n.Content[i+1], rest, value); len(n.Content[i+1].Content) == 0 {
			n.Content = slices.Delete(n.Content, i, i+2)
		}
	case value == nil:
		n.Content = slices.Delete(n.Content, i, i+2)
	default:
		n.Content[i+1] = value
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
