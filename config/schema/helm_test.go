package schema_test

import (
	"os"
	"strings"
	"testing"

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
// of strategies. It returns the patterns with their keys, for the templates of the chart.
func forHelm(config node) (formats node) {
	patterns, keys := node{}, node{}
	walk(config, "", func(n node, path string) {
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
	strategies := sub(sub(config, "properties"), "strategies")
	// Helm shows the text of const, which no list can equal, as what is wanted.
	strategies["if"], strategies["then"] = node{"type": "array"}, node{"const": "a map by name, which `evenkeel config convert` makes of a list; " +
		"after --reuse-values, use --reset-then-reuse-values instead"}
	strategies["else"] = node{"type": strategies["type"]}
	delete(strategies, "type")
	return node{"formats": patterns, "keys": keys}
}

// TestChartFormats checks the formats of texts that the templates of the chart check instead of its schema. The flag
// -update writes them.
func TestChartFormats(t *testing.T) {
	embedded := must.Get(os.ReadFile("config.json"))(t)
	formats := forHelm(decode(t, embedded))
	if n := len(sub(formats, "formats")); n != len(formatWords) {
		t.Errorf("%d formats, want %d", n, len(formatWords))
	}
	golden.Equal(t, formatsFile, encode(t, formats))
}
