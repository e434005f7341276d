package load

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestForgedUsageIsAmbiguous reports n1 as busy through the Pushgateway, whose labels Prometheus keeps (honor_labels).
// The usage of n1 must be unknown, and known as it is if the configuration selects the job of the kubelets.
func TestForgedUsageIsAmbiguous(t *testing.T) {
	ns := seedApps(t, []seed.App{minimalUsageApp("n1", "n2", "n3", "n4")})
	begun := time.Now()
	push := func() {
		t.Helper()
		used := 9 * time.Since(begun).Seconds() // 9 of 10 cores
		must.Succeed(t, stack.PushMetric(t.Context(), "forged", "n1", "node_cpu_usage_seconds_total", used))
	}
	t.Cleanup(func() {
		if err := stack.DeletePushed(context.Background(), "forged", "n1"); err != nil {
			t.Error(err)
		}
	})
	// The program reads the last 20 s, and a value from before the first push would still count.
	waitUntil(t, "Prometheus has rates of the kubelets, and for 30 s of the forged target", func() bool {
		push()
		got, err := stack.Query(t.Context(),
			`min_over_time((count by (instance) (rate(node_cpu_usage_seconds_total[20s])))[30s:5s])`)
		return err == nil && got["n1"] == 2 && got["n2"] == 1 && got["n3"] == 1 && got["n4"] == 1
	})
	for job, known := range map[string]bool{"": false, "kubelet": true} {
		push()
		used, stdout := plannedCPU(t, ns, job)
		cpu, has := used["n1"]
		if has != known || cpu > 0.5 || len(used) != nodeCount-1 && !known {
			t.Errorf("job %q: the nodes use %v of their CPU; want n1 known and idle: %t, and the other nodes known", job, used, known)
		}
		if strings.Contains(stdout, "cpu: more than one value for n1") == known {
			t.Errorf("job %q: the problem of n1 is reported: %t, want %t", job, known, !known)
		}
	}
}

// plannedCPU returns the CPU usage of nodes in a plan with the preset kubelet, and the plan.
func plannedCPU(t *testing.T, ns, job string) (map[string]float64, string) {
	t.Helper()
	config := configFile(t, fmt.Sprintf(`
load: {source: prometheus, interval: 5s, statistic: latest, window: 20s, maxAge: 20s, minCoverage: 0.5,
  prometheus: {url: %q, preset: kubelet, rateWindow: 20s, job: %q}}
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {basis: load, target: {cpu: 0.60}}}
`, stack.Prometheus, job))
	stdout, code := runEvenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns)
	var plan testbed.Report
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	used := map[string]float64{}
	for _, n := range plan.Spec.Before.Nodes {
		if cpu, known := n.UsedPerMille["cpu"]; known {
			used[n.Name] = float64(cpu) / 1000
		}
	}
	return used, stdout
}
