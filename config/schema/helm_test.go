package schema_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const formatsFile = "../../charts/evenkeel/files/config-formats.json"

// formatWords says in words what a pattern of the schema allows. Helm's messages about patterns do not, so the
// templates of the chart check these texts.
var formatWords = map[string]string{
	"duration": "a number and a unit, such as 30s or 5m",
	"count":    "a whole number, a share such as 20%, or unlimited",
	// Without shares, because the count has no total.
	"wholeCount":    "a whole number, or unlimited",
	"positiveCount": "a whole number above 0, or unlimited",
	"schedule":      `five fields, such as "*/10 * * * *", or @hourly`,
}

// formatOf returns the name of a pattern in formatWords, or "".
func formatOf(path string, n node) string {
	switch pattern, _ := n["pattern"].(string); {
	case pattern == durationPattern:
		return "duration"
	case pattern == countPattern:
		return "count"
	case pattern == wholeCountPattern:
		return "wholeCount"
	case pattern == positiveCountPattern:
		return "positiveCount"
	case strings.HasSuffix(path, "strategies.*.schedule"):
		return "schedule"
	}
	return ""
}

// forHelm removes from the schema of config.yaml the patterns in formatWords, and adds what to write instead of a list
// of strategies and of each key in config.Remedies. It returns the patterns with their keys, for the templates of the
// chart.
func forHelm(t *testing.T, root node) (formats node) {
	t.Helper()
	patterns, keys := node{}, node{}
	walk(root, "", func(n node, path string) {
		name := formatOf(path, n)
		if name == "" {
			return
		}
		before, after, isArg := strings.Cut(path, "<")
		if isArg { // strategies.*<Lifetime>.args.maxAge
			_, after, _ = strings.Cut(after, ">")
		}
		patterns[name] = node{"pattern": n["pattern"], "want": formatWords[name]}
		keys[before+after] = name
		delete(n, "pattern")
		if name == "duration" {
			n["type"] = list("string", "number", "null")
			delete(n, "minimum")
			delete(n, "maximum")
		}
	})
	refuse(sub(sub(root, "properties"), "strategies"), "array", "a map by name, which `evenkeel config convert` makes of a list; "+
		"after --reuse-values, use --reset-then-reuse-values instead")
	for path, remedy := range config.Remedies() {
		parent, keys := root, strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			name, isList := strings.CutSuffix(key, "[]")
			child := sub(sub(parent, "properties"), name)
			if name == "*" {
				child = sub(parent, "additionalProperties")
			}
			if parent = child; isList {
				parent = sub(child, "items")
			}
		}
		if types, _ := parent["type"].([]any); !slices.Contains(types, any("object")) {
			t.Errorf("the schema has no object for the remedy of %s", path)
			continue
		}
		if parent["properties"] == nil { // the schema does not list its keys
			parent["properties"] = node{}
		}
		properties, key := sub(parent, "properties"), keys[len(keys)-1]
		if known := sub(properties, key); known != nil {
			refuse(known, "object", strings.TrimSuffix(strings.TrimPrefix(remedy, " (want "), ")"))
		} else {
			properties[key] = node{"const": "unset" + remedy}
		}
	}
	return node{"formats": patterns, "keys": keys}
}

// refuse lets a key refuse values of a type. Helm shows the text of const, which no such value can equal, as what is
// wanted.
func refuse(key node, typ, want string) {
	key["if"], key["then"], key["else"] = node{"type": typ}, node{"const": want}, node{"type": key["type"]}
	delete(key, "type")
}

// TestChartFormats checks the formats of texts that the templates of the chart check instead of its schema. The flag
// -update writes them.
func TestChartFormats(t *testing.T) {
	embedded := must.Get(os.ReadFile("config.json"))(t)
	formats := forHelm(t, decode(t, embedded))
	if n := len(sub(formats, "formats")); n != len(formatWords) {
		t.Errorf("%d formats, want %d", n, len(formatWords))
	}
	golden.Equal(t, formatsFile, encode(t, formats))
}
