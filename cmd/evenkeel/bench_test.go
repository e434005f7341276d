package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// asProgram names the environment variable that makes the test binary run evenkeel instead of the tests.
const asProgram = "EVENKEEL_AS_PROGRAM"

// BenchmarkPlanFromJSON reads a snapshot of 500 nodes and 10,000 pods, plans, and prints the plan. The benchmark also
// reports the peak memory.
func BenchmarkPlanFromJSON(b *testing.B) {
	path := filepath.Join(b.TempDir(), "snapshot.json")
	must.Succeed(b, saveSnapshot(path, simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20), cluster.JSON))
	info := must.Get(os.Stat(path))(b)
	var peak int64
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "plan", "-f", path)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(float64(peak)/1024, "peak-MiB")
	b.ReportMetric(float64(info.Size())/(1<<20), "input-MiB")
}
