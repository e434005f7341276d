package helm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// helms are the programs that must merge values in the same way. EVENKEEL_HELM3 names a Helm 3.
func helms() []string {
	if helm3 := os.Getenv("EVENKEEL_HELM3"); helm3 != "" {
		return []string{helmBinary, helm3}
	}
	return []string{helmBinary}
}

// jobs returns the strategies of each CronJob with their schedule, and whether the account may evict.
func jobs(t *testing.T, manifests string) string {
	t.Helper()
	var list []string
	for _, job := range parseObjects(t, manifests, "CronJob") {
		args := valueAt(t, job, "spec", "jobTemplate", "spec", "template", "spec", "containers", 0, "args")
		list = append(list, fmt.Sprint(valueAt(t, args, 3), " ", valueAt(t, job, "spec", "schedule")))
	}
	slices.Sort(list)
	if strings.Contains(manifests, "pods/eviction") {
		list = append(list, "evicts")
	}
	return strings.Join(list, "; ")
}

// TestStrategiesMerge checks how Helm and the chart merge values into the strategies of presets, and that the account
// may evict only if a strategy is left that is no dry run.
func TestStrategiesMerge(t *testing.T) {
	const hot, zones = "hot-nodes */10 * * * *", "spread-constraints,zones 0 * * * *"
	const own = `{"type":"NodeLoad","schedule":"@daily","args":{"target":{"cpu":0.5}}}`
	const quiet = "config.preset=zones,config.strategies.zones.mode=dryRun,config.strategies.spread-constraints."
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("config: {strategies: {zones: null, hot-nodes: {schedule: \"@daily\"}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, value, want string }{
		{"--set", "cronJob.suspend=true", hot + "; " + zones + "; evicts"},
		{"--values", file, "hot-nodes @daily; spread-constraints 0 * * * *; evicts"},
		{"--set", "config.strategies.zones=null", hot + "; spread-constraints 0 * * * *; evicts"},
		{"--set", "config.strategies.zones.enabled=false", hot + "; spread-constraints 0 * * * *; evicts"},
		{"--set", "config.strategies.zones.schedule=@daily", hot + "; spread-constraints 0 * * * *; zones @daily; evicts"},
		{"--set", "config.preset=zones", zones + "; evicts"},
		{"--set", "config.preset={relieve,consolidate}", "empty-nodes */30 * * * *; " + hot + "; evicts"},
		{"--set", quiet + "mode=dryRun", zones},
		{"--set", quiet + "enabled=false", "zones 0 * * * *"},
		{"--set", quiet + "mode=approve", zones + "; evicts"},
		{"--set-json", `config.preset=[],config.strategies={"hot":` + own + `}`, "hot @daily; evicts"},
		{"--set-json", `config.strategies={"hot-nodes":` + own + `}`, "hot-nodes @daily; " + zones + "; evicts"},
	} {
		for _, helm := range helms() {
			out, errs, err := runProgram(t, helm, slices.Concat([]string{"template", "ek", chart, "--kube-version", "1.37.0",
				"--set", "kind=CronJob,config.dryRun=false,crds.install=false", c.flag, c.value}, imageArgs)...)
			if err != nil {
				t.Errorf("%s %s %s: %s", helm, c.flag, c.value, errs)
			} else if got := jobs(t, out); got != c.want {
				t.Errorf("%s %s %s: %s, want %s", helm, c.flag, c.value, got, c.want)
			}
		}
	}
}

// TestWrongStrategies checks the messages about a list and keys that charts and releases had before, and about unknown
// names.
func TestWrongStrategies(t *testing.T) {
	for value, want := range map[string]string{
		`config.strategies=[{"name":"a","type":"ZoneSpread","schedule":"@hourly"}]`: "at '/config/strategies': value must be 'a map by name, which " +
			"`evenkeel config convert` makes of a list; after --reuse-values, use --reset-then-reuse-values instead'",
		`config.evictor.backoff={"initial":"10m"}`:         "at '/config/evictor/backoff': value must be 'initial alone, such as evictor.backoff: 10m'",
		`config.hints.taint.enabled=true`:                  "at '/config/hints/taint': value must be 'the key alone, such as hints.taint: evenkeel.io/pressure'",
		`config.hints.rules=[{"name":"a","clearBelow":1}]`: "at '/config/hints/rules/0/clearBelow': value must be 'unset (want clear)'",
		`config.strategies.zones.jitter="3m"`:              "at '/config/strategies/zones/jitter': value must be 'unset (there is none: other minutes",
		`config.preset=["relive"]`:                         "at '/config/preset/0': value must be one of 'zones', 'relieve', 'consolidate', 'clean-up'",
		`config.strategies={"zone":{"mode":"approve"}}`:    "config.strategies.zone has no type, and no preset of config.preset has a strategy of this name",
		`config.strategies={"zones":{"schedule":"7 pm"}}`:  `config.strategies.zones.schedule is "7 pm" (want five fields`,
	} {
		for _, helm := range helms() {
			_, errs, err := runProgram(t, helm, slices.Concat([]string{"template", "ek", chart, "--kube-version", "1.37.0", "--set-json", value}, imageArgs)...)
			if err == nil || !strings.Contains(errs, want) {
				t.Errorf("%s: %v, want the error %s: %s", helm, err, want, errs)
			}
		}
	}
}

// TestParentChartSetsStrategies checks that the values of a parent chart merge with the presets. Helm 4 drops a null of
// these values, so a parent chart switches a strategy off with enabled: false.
func TestParentChartSetsStrategies(t *testing.T) {
	parent := parentChart(t, "evenkeel:\n  kind: CronJob\n  config: {strategies: {zones: {schedule: \"@daily\"}, spread-constraints: {enabled: false}}}\n")
	for values, want := range map[string]string{
		"kind=CronJob": "hot-nodes */10 * * * *; zones @daily",
		"config.strategies.zones.schedule=@weekly": "hot-nodes */10 * * * *; zones @weekly",
		"config.strategies.hot-nodes=null":         "zones @daily",
	} {
		for _, helm := range helms() {
			out, errs, err := runProgram(t, helm, "template", "ek", parent, "--kube-version", "1.37.0", "--set", "evenkeel."+imageArgs[1]+",evenkeel."+values)
			if err != nil {
				t.Errorf("%s %s: %s", helm, values, errs)
			} else if got := jobs(t, out); got != want {
				t.Errorf("%s %s: %s, want %s", helm, values, got, want)
			}
		}
	}
}
