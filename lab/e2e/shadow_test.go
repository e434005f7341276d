package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// twoMore are two profiles of the real kube-scheduler that Evenkeel is not told
// of: fancy places pods as the default does, packed prefers full nodes.
const twoMore = `
profiles:
- schedulerName: default-scheduler
- schedulerName: fancy
- schedulerName: packed
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}
`

// TestAnUnknownSchedulerIsTrustedOnceItsBindingsComeTrue: Deployment d stands at
// 1/1/4 and is placed by the scheduler fancy. Its pods stay while 11 of fancy's
// bindings were foretold, and go once 12 were; the scheduler packed, of which as
// many were foretold, is found out.
func TestAnUnknownSchedulerIsTrustedOnceItsBindingsComeTrue(t *testing.T) {
	long(t)
	const wanted = 12
	reschedule(t, twoMore)
	apps := seed.Zones([3]int{1, 1, 4}, 1)
	apps[3].Scheduler = "fancy"
	ns := scenario(t, apps)
	r := running(t, ns, testbed.ConfigFile(t, fmt.Sprintf(`
strategies:
- {name: zones, type: ZoneSpread, schedule: "* * * * *"}
placement: {trust: {minBindings: %d, minHitRate: 0.9}}
`, wanted)))

	r.watch(t, ns, "packed", wanted)
	r.watch(t, ns, "fancy", wanted-1)
	shut := r.await(t, func(p pass) bool {
		return p.scheduler("fancy").Predicted == wanted-1 && p.scheduler("packed").Foretold == wanted
	})
	if s := shut.scheduler("fancy"); s.Pods != 6 || s.Hits != wanted-1 || s.Trusted || len(shut.Plan.Moves) != 0 || shut.Plan.Rejections.Counts["PlacementUnknown"] == 0 {
		t.Errorf("with %d bindings: %+v, %d moves, %v", wanted-1, s, len(shut.Plan.Moves), shut.Plan.Rejections.Counts)
	}
	if s := shut.scheduler("packed"); s.Hits > wanted/2 || s.Trusted {
		t.Errorf("packed places pods otherwise: %+v", s)
	}
	wantEvictions(t, ns, 0)

	r.watch(t, ns, "fancy", wanted)
	open := r.await(t, func(p pass) bool { return len(p.Plan.Moves) > 0 })
	if s := open.scheduler("fancy"); !s.Trusted || s.Hits < wanted || open.scheduler("packed").Trusted {
		t.Errorf("with %d bindings: %+v", wanted, open.Plan.Schedulers)
	}
	t.Logf("%+v", open.Plan.Schedulers)
	if err := seed.Until(t.Context(), time.Minute, func() (bool, error) {
		s, err := seed.Spread(t.Context(), lab.Client, ns, "d")
		return err == nil && s["zone-1"] == 2 && s["zone-2"] == 2 && s["zone-3"] == 2, err
	}); err != nil {
		t.Errorf("waiting for 2/2/2: %v", err)
	}
	wantEvictions(t, ns, 2)
	awaitMetric(t, r.url, `evenkeel_shadow_hit_ratio{scheduler="fancy"} 1`)
	_ = r.cmd.Process.Signal(syscallTerm)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it did not end cleanly: %v", err)
	}
}

// pass is what a report says of schedulers and moves.
type pass struct {
	Plan struct {
		Moves      []json.RawMessage
		Rejections struct{ Counts map[string]int }
		Schedulers []schedulerState
	}
}

type schedulerState struct {
	Name                        string
	Pods, Seen, Predicted, Hits int
	Trusted                     bool
}

func (p pass) scheduler(name string) schedulerState {
	for _, s := range p.Plan.Schedulers {
		if s.Name == name {
			return s
		}
	}
	return schedulerState{}
}

// process is `evenkeel run`, with its reports in a file.
type process struct {
	cmd       *exec.Cmd
	url, file string
	probes    int
}

func running(t *testing.T, ns, config string) *process {
	t.Helper()
	address := freePort(t)
	r := &process{url: "http://" + address, file: filepath.Join(t.TempDir(), "reports")}
	out, err := os.Create(r.file)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	r.cmd = exec.CommandContext(t.Context(), testbed.Evenkeel, "run", "--config", config, "--kubeconfig", lab.Kubeconfig, "--lease-namespace", ns, "--bind-address", address)
	r.cmd.Stdout, r.cmd.Stderr = out, &log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		out.Close()
		if t.Failed() {
			text, _ := os.ReadFile(r.file)
			t.Logf("%s\n%s\n%s", log.String(), text, metricsOf(r.url))
		}
	})
	return r
}

// await returns the first report for which ok holds, of the last one and those to
// come; there is one a minute.
func (r *process) await(t *testing.T, ok func(pass) bool) (last pass) {
	t.Helper()
	if err := seed.Until(t.Context(), 2*time.Minute, func() (bool, error) {
		text, err := os.ReadFile(r.file)
		if err != nil {
			return false, err
		}
		whole, _, found := cutLast(string(text), "\n")
		if !found {
			return false, fmt.Errorf("no report")
		}
		lines := strings.Split(whole, "\n")
		last = pass{}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			return false, err
		}
		if !ok(last) {
			return false, fmt.Errorf("the last report has %+v", last.Plan.Schedulers)
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	return last
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// watch has a scheduler bind one pod after the other until so many of its bindings
// were foretold. The pods differ in what they prefer, and each goes away again.
func (r *process) watch(t *testing.T, ns, scheduler string, want int) {
	t.Helper()
	for range 4 * want {
		if r.foretold(scheduler) >= want {
			return
		}
		before := r.seen(scheduler)
		name := r.probe(t, ns, scheduler)
		deadline := time.Now().Add(3 * time.Second) // a binding may be let go
		_ = seed.Until(t.Context(), 5*time.Second, func() (bool, error) {
			return r.seen(scheduler) > before || time.Now().After(deadline), nil
		})
		none := int64(0)
		if err := lab.Client.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("only %d of %d bindings of %s were foretold", r.foretold(scheduler), want, scheduler)
}

func (r *process) foretold(scheduler string) int {
	return r.count(scheduler, "hit") + r.count(scheduler, "miss")
}

func (r *process) seen(scheduler string) int {
	return r.foretold(scheduler) + r.count(scheduler, "unclear")
}

func (r *process) count(scheduler, result string) (n int) {
	head := fmt.Sprintf("evenkeel_shadow_bindings_total{result=%q,scheduler=%q} ", result, scheduler)
	for line := range strings.SplitSeq(metricsOf(r.url), "\n") {
		if rest, ok := strings.CutPrefix(line, head); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

// probe is a small pod that prefers no zone, zone-1 or zone-2, bound.
func (r *process) probe(t *testing.T, ns, scheduler string) (name string) {
	t.Helper()
	r.probes++
	name = fmt.Sprintf("probe-%03d", r.probes)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{SchedulerName: scheduler, Containers: []corev1.Container{{
		Name: "c", Image: "registry.k8s.io/pause:3.10",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("20Mi")}}}}}}
	if i := r.probes % 4; i > 2 {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: seed.ZoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprintf("zone-%d", r.probes/4%2+1)}}}}}}}}
	}
	api := lab.Client.CoreV1().Pods(ns)
	if _, err := api.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := seed.Until(t.Context(), time.Minute, func() (bool, error) {
		p, err := api.Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && p.Spec.NodeName != "", err
	}); err != nil {
		t.Fatalf("waiting for %s to bind %s: %v", scheduler, name, err)
	}
	return name
}
