package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
)

const loadStrategyConfig = configHead + `load: {source: metricsServer}
strategies:
  hot: {type: NodeLoad, schedule: "@hourly", args: {basis: load, target: {cpu: 0.8}, for: FOR}}
`

// fakeMetricsServer serves the current usage of nodes, in CPU cores, and the usage of one pod.
func fakeMetricsServer(cpu map[string]string) *serverFault {
	list := func(kind string, items []any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"apiVersion": "metrics.k8s.io/v1beta1", "kind": kind + "List", "metadata": map[string]any{}, "items": items})
		}
	}
	var nodes []any
	for n, used := range cpu {
		nodes = append(nodes, map[string]any{"metadata": map[string]any{"name": n}, "timestamp": time.Now().UTC().Format(time.RFC3339), "window": "15s",
			"usage": map[string]string{"cpu": used, "memory": "1Gi"}})
	}
	pod := map[string]any{"metadata": map[string]any{"namespace": "shop", "name": "d-6c8f-02"}, "timestamp": time.Now().UTC().Format(time.RFC3339), "window": "15s",
		"containers": []any{map[string]any{"name": "c", "usage": map[string]string{"cpu": "700m", "memory": "64Mi"}}}}
	return &serverFault{paths: map[string]http.HandlerFunc{
		"/apis/metrics.k8s.io/v1beta1/nodes": list("NodeMetrics", nodes), "/apis/metrics.k8s.io/v1beta1/pods": list("PodMetrics", []any{pod}),
	}}
}

// runWithMetricsServer runs a command line against a server with metrics-server. The file measured.yaml configures a
// strategy that needs the given number of samples.
func runWithMetricsServer(t *testing.T, f *serverFault, samples, line string) (dir string, got programResult) {
	t.Helper()
	isolateFromCluster(t)
	r := badInput{server: f}
	dir = r.prepare(t)
	r.serve(t, dir)
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "measured.yaml"), []byte(strings.ReplaceAll(loadStrategyConfig, "FOR", samples)), 0o600))
	return dir, invoke(t, connectTimeout, argsInDir(dir, line), "")
}

// argsInDir splits a command line into arguments, and prefixes file names with dir.
func argsInDir(dir, line string) []string {
	args := strings.Fields(line)
	for i, a := range args {
		if strings.HasSuffix(a, ".yaml") || strings.HasSuffix(a, ".json") {
			args[i] = filepath.Join(dir, a)
		}
	}
	return args
}

// withoutNamespace returns a plan of a release in JSON as that of a snapshot, which has no release.
func withoutNamespace(planned string) string {
	return regexp.MustCompile(`,\n    "namespace": "[a-z-]+"`).ReplaceAllString(planned, "")
}

// planInputBySource returns the input with the given source from a plan in JSON.
func planInputBySource(t *testing.T, planned, source string) v1alpha1.Input {
	t.Helper()
	var o v1alpha1.RebalancePlan
	if err := json.Unmarshal([]byte(planned), &o); err != nil {
		t.Fatalf("no plan: %v\n%s", err, planned)
	}
	for _, in := range o.Spec.Inputs {
		if in.Source == source {
			return in
		}
	}
	t.Fatalf("no input %s: %+v", source, o.Spec.Inputs)
	return v1alpha1.Input{}
}

// TestPlanTakesASample checks that a plan for a live cluster takes one usage sample, and that --save-input saves this
// sample.
func TestPlanTakesASample(t *testing.T) {
	f := fakeMetricsServer(map[string]string{"n1": "9", "n2": "1", "n3": "500m"})
	dir, got := runWithMetricsServer(t, f, "2", "plan --kubeconfig kubeconfig.yaml --config measured.yaml --save-input saved.json -o json")
	if got.exit != 0 {
		t.Fatalf("exit %d: %s", got.exit, got.stderr)
	}
	in := planInputBySource(t, got.stdout, "metricsServer")
	said := strings.Join(in.Problems, "\n")
	for _, want := range []string{
		"strategy hot needs 2 consecutive samples (for), but this command takes only one, so the strategy moves no pod (want `evenkeel run`, load.source: prometheus, or for: 1)",
		"because metricsServer has no history: 1 of up to 2 required in a row",
		"the window of 5m0s contains one sample, too few for p90; the latest value is used",
		"strategy hot waits for n1, which is above its target in 1 of 2 samples in a row, counted since this process started (cpu)",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the plan does not contain %q:\n%s", want, said)
		}
	}
	if in.CoveragePerMille != 1000 {
		t.Errorf("coverage %v", in.CoveragePerMille)
	}
	o, err := cluster.ReadFiles([]string{filepath.Join(dir, "saved.json")}, nil)
	if err != nil || o.Usage == nil {
		t.Fatalf("the saved input has no Usage: %v", err)
	}
	u := o.Usage
	if u.Source != "metricsServer" || u.Statistic != "latest" || len(u.Nodes) != 3 || u.Nodes[0].Used["cpu"] != 9000 || len(u.Marks) != 1 ||
		len(u.Pods) != 1 || u.Pods[0].Node != "n3" || u.Pods[0].UID == "" || u.Pods[0].Used["cpu"] != 700 {
		t.Errorf("saved: %+v", u)
	}
	if replayed := invoke(t, connectTimeout, argsInDir(dir, "plan -f saved.json --config measured.yaml -o json"), ""); replayed.stdout != withoutNamespace(got.stdout) {
		t.Errorf("the saved input gives a different plan:\n%s%s\nfirst:\n%s", replayed.stdout, replayed.stderr, got.stdout)
	}
}

// TestFailedSourceMovesNothing checks that without usage data, the plan has no moves by load and reports the
// failed source.
func TestFailedSourceMovesNothing(t *testing.T) {
	_, got := runWithMetricsServer(t, &serverFault{}, "1", "plan --kubeconfig kubeconfig.yaml --config measured.yaml -o json")
	in := planInputBySource(t, got.stdout, "metricsServer")
	if said := strings.Join(in.Problems, "\n"); got.exit != 0 || !strings.Contains(said, "no answer since") || !strings.Contains(said, "is metrics-server installed?") || in.CoveragePerMille != 0 || in.Age != "never" {
		t.Errorf("exit %d, %+v\n%s", got.exit, in, got.stderr)
	}
	_, got = runWithMetricsServer(t, &serverFault{}, "1", "run --once --kubeconfig kubeconfig.yaml --config measured.yaml")
	if want := "nothing could be judged: strategy hot: no usage data: metricsServer gave no answer; "; got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d: %s", got.exit, got.stderr)
	}
	if want := "Plan: could judge nothing: strategy hot: no usage data: metricsServer gave no answer; "; !strings.Contains(got.stdout, want) {
		t.Errorf("the report does not contain %q:\n%s", want, got.stdout)
	}
}

// TestSinglePassRejectsSampleCounts checks that a single pass rejects a strategy that needs several
// samples from a usage source without a history.
func TestSinglePassRejectsSampleCounts(t *testing.T) {
	_, got := runWithMetricsServer(t, fakeMetricsServer(map[string]string{"n1": "9"}), "3", "run --once --kubeconfig kubeconfig.yaml --config measured.yaml")
	if want := "hot needs 3 consecutive samples of cpu (for), but one pass takes only one, and metricsServer has no history (want load.source: prometheus, for: 1, or run without --once)"; got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d: %s", got.exit, got.stderr)
	}
}

// TestCoverageIsThatOfTheNodesInScope checks that nodes which nodeSelector does not select do not lower the coverage.
func TestCoverageIsThatOfTheNodesInScope(t *testing.T) {
	isolateFromCluster(t)
	var pushed []*dto.MetricFamily
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		decoder := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		for family := new(dto.MetricFamily); decoder.Decode(family) == nil; family = new(dto.MetricFamily) {
			pushed = append(pushed, family)
		}
	}))
	defer gateway.Close()
	r := badInput{server: fakeMetricsServer(map[string]string{"n1": "1"}), files: map[string]string{
		"zone.yaml": strings.ReplaceAll(loadStrategyConfig, "FOR", "1") + "nodeSelector: topology.kubernetes.io/zone=zone-1\n"}}
	dir := r.prepare(t)
	r.serve(t, dir)
	got := invoke(t, connectTimeout, append(argsInDir(dir, "run --once --kubeconfig kubeconfig.yaml --config zone.yaml"), "--push-url", gateway.URL), "")
	for _, family := range pushed {
		if family.GetName() == "evenkeel_usage_coverage_ratio" {
			if c := family.Metric[0].GetGauge().GetValue(); c != 1 {
				t.Errorf("the coverage is %v, want 1: the only node in scope is measured", c)
			}
			return
		}
	}
	t.Errorf("no coverage was pushed; exit %d: %s%s", got.exit, got.stdout, got.stderr)
}

// TestAReloadWithoutASourceRemovesTheUsageMetrics checks that metrics of the former usage source do not stay.
func TestAReloadWithoutASourceRemovesTheUsageMetrics(t *testing.T) {
	load := func(text string) *config.Config {
		conf := must.Get(config.Load("c", []byte(configHead+text)))(t)
		return conf
	}
	counts := metrics.New("v1", "h")
	m := must.Get(newUsageMonitor(load("load: {source: metricsServer}\n"), observe.New(fake.NewClientset(), clock.RealClock{}), &rest.Config{},
		slog.New(slog.DiscardHandler), counts))(t)
	counts.UsageRecorder(cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.9}).RecordAttempt(monitor.Attempt{Coverage: 0.5, SampledAt: time.Unix(1000, 0)})
	m.setConfig(load("load: {source: requests}\n"))
	if n, err := testutil.GatherAndCount(counts.Registry, "evenkeel_usage_coverage_ratio", "evenkeel_usage_last_measurement_timestamp_seconds"); n != 0 || err != nil {
		t.Errorf("%d series about the usage source that is no longer configured; error %v", n, err)
	}
}
