package load

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/loadbed"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// TestLoadWatchersOwnClientReadsUs: what trimaran's plugins read with is the client of
// load-watcher. It understands from /watcher what the source says.
func TestLoadWatchersOwnClientReadsUs(t *testing.T) {
	client := os.Getenv("EVENKEEL_WATCHERCLIENT")
	if client == "" {
		t.Fatal("EVENKEEL_WATCHERCLIENT is not set; `make load-tools` builds bin/watcherclient")
	}
	ns := scenario(t, []seed.App{{Name: "busy", MilliCPU: 100, MemoryMi: 64, On: on("n1", 4), GraceSeconds: 30, Annotations: loadbed.Use(500, 1024)}, breath("n2", "n3", "n4")})
	s := sources()[0]
	s.awaitCPU(t, map[string]float64{"n1": 2})
	p := start(t, ns, configFile(t, s.config()+"web: {watcher: true}\n"))
	p.awaitMetric(t, "evenkeel_load_coverage_ratio 1\n")
	var got struct {
		End   int64
		Nodes map[string]map[string]float64
	}
	p.await(t, "the client understands the answer", func() bool {
		out, err := exec.CommandContext(t.Context(), client, p.url).Output()
		return err == nil && json.Unmarshal(out, &got) == nil && len(got.Nodes) == nodes
	})
	for what, percent := range map[string]float64{"CPU Latest": 20, "CPU AVG": 20, "Memory Latest": 40, "Memory AVG": 40} {
		if v, known := got.Nodes["n1"][what]; !known || math.Abs(v-percent) > 2 {
			t.Errorf("n1: %s is %v, want about %v; all: %v", what, v, percent, got.Nodes["n1"])
		}
	}
	if got.End == 0 {
		t.Error("the window has no end")
	}
}
