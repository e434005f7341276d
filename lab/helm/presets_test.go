package helm_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestChartSeesTheStrategiesOfTheProgram renders jobs for random presets and strategies. Their schedules and strategies
// must be those that the program finds in the rendered configuration.
func TestChartSeesTheStrategiesOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "evenkeel"), filepath.Join(dir, "config.yaml")
	build := exec.Command("go", "build", "-o", program, "./cmd/evenkeel")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		values := randomStrategies(r)
		out := renderChart(t, "--set", "kind=CronJob", "--set-json", values)
		text := valueAt(t, parseObjects(t, out, "ConfigMap")[0], "data", "config.yaml").(string)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		printed, errs, err := runProgram(t, program, "config", "print", "--config", file)
		if err != nil {
			t.Fatalf("%s: %v %s", values, err, errs)
		}
		var config struct {
			Strategies map[string]struct{ Schedule string }
		}
		if err := yaml.Unmarshal([]byte(printed), &config); err != nil {
			t.Fatal(err)
		}
		want, got := map[string]string{}, map[string]string{}
		for name, s := range config.Strategies {
			want[name] = s.Schedule
		}
		for _, job := range parseObjects(t, out, "CronJob") {
			args := valueAt(t, job, "spec", "jobTemplate", "spec", "template", "spec", "containers", 0, "args").([]any)
			for name := range strings.SplitSeq(args[3].(string), ",") {
				got[name] = valueAt(t, job, "spec", "schedule").(string)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: the strategies differ (-program +chart):\n%s", values, d)
		}
	}
}

// randomStrategies returns presets, and strategies that change, remove, switch off and add to theirs, for --set-json.
func randomStrategies(r *rand.Rand) string {
	var presets, strategies []string
	for _, name := range []string{"zones", "relieve", "consolidate", "clean-up"} {
		if r.IntN(2) == 0 {
			presets = append(presets, fmt.Sprintf("%q", name))
		}
	}
	changes := []string{"null", `{"enabled":false,"type":"ZoneSpread"}`,
		`{"type":"ZoneSpread","schedule":"5 * * * *","args":null,"podSelector":null,"guards":{"priorityBelow":null}}`}
	for _, name := range []string{"zones", "hot-nodes", "restarts", "own"} {
		if r.IntN(2) == 0 {
			strategies = append(strategies, fmt.Sprintf("%q:%s", name, changes[r.IntN(len(changes))]))
		}
	}
	strategies = append(strategies, `"always":{"type":"NodeTaints","schedule":"@daily"}`)
	return "config.preset=[" + strings.Join(presets, ",") + "],config.strategies={" + strings.Join(strategies, ",") + "}"
}
