package load

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// TestLoadWatchersOwnClientReadsUs reads /watcher with load-watcher's own client, which the trimaran scheduler plugins
// use. The client must return the usage that the source shows.
func TestLoadWatchersOwnClientReadsUs(t *testing.T) {
	client := os.Getenv("EVENKEEL_WATCHERCLIENT")
	if client == "" {
		t.Fatal("EVENKEEL_WATCHERCLIENT is not set; `make load-tools` builds bin/watcherclient")
	}
	busy := seed.App{Name: "busy", MilliCPU: 100, MemoryMi: 64, Nodes: repeatNode("n1", 4), GraceSeconds: 30,
		Annotations: usagestack.UsageAnnotations(500, 1024)}
	ns := seedApps(t, []seed.App{busy, minimalUsageApp("n2", "n3", "n4")})
	s := sources()[0]
	s.waitForCPU(t, map[string]float64{"n1": 2})
	p := startProgram(t, ns, configFile(t, strings.Replace(s.config(), "load: {", "load: {serve: true, ", 1)))
	p.waitForMetric(t, "evenkeel_usage_coverage_ratio 1\n")
	var got struct {
		End   int64
		Nodes map[string]map[string]float64
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the client's last result: %v", got.Nodes)
		}
	})
	// At first, the window still contains the usage while the pods started.
	p.waitUntil(t, "the client reads a fifth of the CPU and two fifths of the memory of n1", func() bool {
		out, err := exec.CommandContext(t.Context(), client, p.url).Output()
		if err != nil || json.Unmarshal(out, &got) != nil || len(got.Nodes) != nodeCount {
			return false
		}
		n1 := got.Nodes["n1"]
		return isNearPercent(n1, "CPU Latest", 20) && isNearPercent(n1, "CPU AVG", 20) &&
			isNearPercent(n1, "Memory Latest", 40) && isNearPercent(n1, "Memory AVG", 40)
	})
	if got.End == 0 {
		t.Error("the client's result lacks the end of the window")
	}
}

// isNearPercent reports whether a value exists and differs from the wanted percentage by at most 2 points.
func isNearPercent(values map[string]float64, name string, percent float64) bool {
	v, known := values[name]
	return known && math.Abs(v-percent) <= 2
}
