package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

const unusedSourceWarning = "load.source: the usage from prometheus is not used: no NodeLoad strategy has basis: load, hints.rules is empty, and load.serve is false"

// TestUnusedSourceWarning checks the warning about an unused usage source.
func TestUnusedSourceWarning(t *testing.T) {
	const hot = "strategies: {hot: {type: NodeLoad, schedule: '@hourly', args: {target: {cpu: 0.7}, basis: "
	for more, want := range map[string]string{hot + "load}}}": "", hot + "requests}}}": unusedSourceWarning, "load: {source: requests}": ""} {
		head := prometheusConfig
		if strings.HasPrefix(more, "load:") {
			head = minimalConfig
		}
		if got := strings.Join(loadConfig(t, head+more+"\n").Warnings(time.Now()), "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", more, got, want)
		}
	}
}

// TestHintWarnings checks warnings about rules without effect, about inverted rules, and about queries
// that return no value for some nodes.
func TestHintWarnings(t *testing.T) {
	for hints, want := range map[string]string{
		`{enabled: false, rules: [{name: a, promql: x, above: 1}, {name: b, promql: x, above: 1}]}`:                             "hints.enabled: is false: the 2 rules have no effect (want hints.enabled: true)",
		`{enabled: false, rules: [{name: a, promql: "x > 1", above: 1}]}`:                                                       "hints.enabled: is false: the rule has no effect (want hints.enabled: true)",
		`{enabled: true, rules: [{name: a, promql: "x > 0.8", above: 0.8}]}`:                                                    "hints: rule a: the query returns a value only if x > 0.8; the state of the other nodes is unknown, so their hints stay until they expire; remove the comparison, or use bool",
		`{enabled: true, rules: [{name: a, promql: "x > bool 0.8", above: 0.5}, {name: b, resource: cpu, above: 0.5}]}`:         "",
		`{enabled: true, rules: [{name: m, resource: memory.available, above: 1073741824}]}`:                                    "hints: rule m: memory.available is free memory, so `above` makes pods avoid nodes with much free memory (did you mean below?)",
		`{enabled: true, rules: [{name: c, resource: cpu, below: 0.2}, {name: d, resource: memory.available, below: 1048576}]}`: "hints: rule c: `below` makes pods avoid nodes that use little cpu (did you mean above?)",
		`{}`: unusedSourceWarning,
	} {
		c := loadConfig(t, prometheusConfig+"hints: "+hints+"\n")
		if got := strings.Join(c.Warnings(time.Now()), "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", hints, got, want)
		}
	}
}

// TestMissingSecretWarnings checks the warning about missing credential files of the usage source.
func TestMissingSecretWarnings(t *testing.T) {
	there := filepath.Join(t.TempDir(), "token")
	must.Succeed(t, os.WriteFile(there, []byte("x"), 0o600))
	c := loadConfig(t, minimalConfig+"load:\n  source: prometheus\n  prometheus:\n    url: https://p\n    tokenFile: "+there+"\n    caFile: /no/such/ca.crt\n  loadWatcher: {caFile: /no/such/other.crt}\n")
	want := unusedSourceWarning + "\nconfig.yaml:" + "8: load.prometheus.caFile: cannot be read here: open /no/such/ca.crt: no such file or directory; the source needs this file where Evenkeel runs"
	if got := strings.Join(c.Warnings(time.Now()), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
