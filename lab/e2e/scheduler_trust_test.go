package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// twoMoreProfiles adds two unknown profiles to the real kube-scheduler: fancy places pods like the default profile,
// packed prefers full nodes.
const twoMoreProfiles = `
profiles:
- schedulerName: default-scheduler
- schedulerName: fancy
- schedulerName: packed` + prefersFullNodes

// prefersFullNodes continues the profile of a KubeSchedulerConfiguration.
const prefersFullNodes = `
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}
`

// TestAnUnknownSchedulerIsTrustedOnceItsBindingsComeTrue creates Deployment d with 1/1/4 pods per zone and scheduler
// fancy. The pods of d must not be moved after 49 predicted bindings of fancy, and must be moved after 50. Scheduler
// packed gets as many predictions but must remain untrusted.
func TestAnUnknownSchedulerIsTrustedOnceItsBindingsComeTrue(t *testing.T) {
	skipIfShort(t)
	const wanted = 50
	restartScheduler(t, twoMoreProfiles)
	apps := seed.ThreeZoneApps([3]int{1, 1, 4}, 1)
	apps[3].SchedulerName = "fancy"
	ns := seedApps(t, apps)
	r := startProcess(t, ns, testbed.ConfigFile(t, `
strategies:
  zones: {type: ZoneSpread, schedule: "* * * * *"}
`))

	r.bindProbes(t, ns, "packed", wanted)
	r.bindProbes(t, ns, "fancy", wanted-1)
	earlier := len(testbed.Reports(r.log.String()))
	shut := r.waitFor(t, func(testbed.Report) bool { return len(testbed.Reports(r.log.String())) > earlier })
	if n := r.metricCount("fancy", "hit"); n != wanted-1 || !untrusted(shut, "fancy") || len(shut.Spec.Moves) != 0 || shut.NotMoved()["PlacementUnknown"] == 0 {
		t.Errorf("after %d bindings, %d as predicted: notices %+v, %d moves, rejections %v", wanted-1, n, shut.Spec.Notices, len(shut.Spec.Moves), shut.NotMoved())
	}
	if n := r.metricCount("packed", "hit"); n > wanted/2 || !untrusted(shut, "packed") {
		t.Errorf("packed places pods unlike the default and must remain untrusted, got %d hits, %+v", n, shut.Spec.Notices)
	}
	checkEvictions(t, ns, 0)

	r.bindProbes(t, ns, "fancy", wanted)
	open := r.waitFor(t, func(p testbed.Report) bool { return len(p.Spec.Moves) > 0 })
	if n := r.metricCount("fancy", "hit"); untrusted(open, "fancy") || n < wanted || !untrusted(open, "packed") {
		t.Errorf("after %d bindings, %d as predicted: notices %+v", wanted, n, open.Spec.Notices)
	}
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		s, err := seed.PodsByZone(t.Context(), lab.Client, ns, "d")
		return err == nil && s["zone-1"] == 2 && s["zone-2"] == 2 && s["zone-3"] == 2, err
	}); err != nil {
		t.Errorf("waiting for 2/2/2: %v", err)
	}
	checkEvictions(t, ns, 2)
	waitForMetric(t, r.url, `evenkeel_scheduler_hit_ratio{scheduler="fancy"} 1`)
	_ = r.cmd.Process.Signal(syscallTerm)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("the process did not exit cleanly: %v", err)
	}
}

// packedDefault makes the default scheduler prefer full nodes, under its usual name.
const packedDefault = `
profiles:
- schedulerName: default-scheduler` + prefersFullNodes

// TestADefaultSchedulerThatDiffersLosesItsTrust lets the default scheduler prefer full nodes. A
// pass plans moves until 50 bindings are examined, and none afterwards. It plans moves again once
// the configuration has the right profile.
func TestADefaultSchedulerThatDiffersLosesItsTrust(t *testing.T) {
	skipIfShort(t)
	restartScheduler(t, packedDefault)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
	file := testbed.ConfigFile(t, `
dryRun: true
strategies:
  zones: {type: ZoneSpread, schedule: "* * * * *"}
`)
	r := startProcess(t, ns, file)
	const name = corev1.DefaultSchedulerName
	r.waitFor(t, func(p testbed.Report) bool { return len(p.Spec.Moves) > 0 })
	for r.metricCount(name, "miss") < 6 && r.bindingCount(name) < 50 {
		r.bindProbes(t, ns, name, r.countPredictedBindings(name)+1)
	}
	t.Logf("%d bindings examined, %d predicted, %d of them correctly", r.bindingCount(name), r.countPredictedBindings(name), r.metricCount(name, "hit"))
	lost := r.waitFor(t, func(p testbed.Report) bool { return untrusted(p, name) })
	if r.bindingCount(name) > 50 || len(lost.Spec.Moves) != 0 || lost.NotMoved()["PlacementUnknown"] == 0 {
		t.Errorf("after %d bindings: %d moves, rejections %v", r.bindingCount(name), len(lost.Spec.Moves), lost.NotMoved())
	}
	text := must.Get(os.ReadFile(file))(t)
	text = append(text, "placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}\n"...)
	must.Succeed(t, os.WriteFile(file, text, 0o600))
	r.waitFor(t, func(p testbed.Report) bool { return len(p.Spec.Moves) > 0 })
	checkEvictions(t, ns, 0)
}

// TestANewerServerIsUntrustedAtFirst needs a server that calls itself newer than every known version; `make
// test-trust` starts one. Deployment d has 1/1/4 pods per zone. No pod may be moved before 50 bindings were
// predicted; then the zones become level.
func TestANewerServerIsUntrustedAtFirst(t *testing.T) {
	v := must.Get(lab.Client.Discovery().ServerVersion())(t)
	if v.Minor != "39" {
		t.Skipf("the server calls itself %s.%s; `make test-trust` starts one that calls itself 1.39", v.Major, v.Minor)
	}
	const wanted, name = 50, corev1.DefaultSchedulerName
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
	r := startProcess(t, ns, testbed.ConfigFile(t, `
strategies:
  zones: {type: ZoneSpread, schedule: "* * * * *"}
`))
	shut := r.waitFor(t, func(p testbed.Report) bool { return untrusted(p, name) })
	if len(shut.Spec.Moves) != 0 || shut.NotMoved()["PlacementUnknown"] == 0 {
		t.Errorf("at first: %d moves, rejections %v", len(shut.Spec.Moves), shut.NotMoved())
	}
	checkEvictions(t, ns, 0)
	r.bindProbes(t, ns, name, wanted)
	open := r.waitFor(t, func(p testbed.Report) bool { return len(p.Spec.Moves) > 0 })
	t.Logf("%s: %+v", v.GitVersion, open.Spec.Notices)
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		s, err := seed.PodsByZone(t.Context(), lab.Client, ns, "d")
		return err == nil && s["zone-1"] == 2 && s["zone-2"] == 2 && s["zone-3"] == 2, err
	}); err != nil {
		t.Errorf("waiting for 2/2/2: %v", err)
	}
}

// untrusted reports whether the pods of a scheduler stay because its bindings are not predicted well enough.
func untrusted(p testbed.Report, scheduler string) bool {
	return p.HasNotice("UntrustedScheduler", scheduler+": ")
}

// process is a running `evenkeel run`.
type process struct {
	cmd    *exec.Cmd
	url    string
	log    testbed.Buffer
	probes int
}

func startProcess(t *testing.T, ns, config string) *process {
	t.Helper()
	address := freePort(t)
	r := &process{url: "http://" + address}
	r.cmd = exec.CommandContext(t.Context(), testbed.Evenkeel, append([]string{"run", "--config", config,
		"--kubeconfig", lab.Kubeconfig, "--lease-namespace", ns, "--bind-address", address}, testbed.ReportFlags...)...)
	r.cmd.Stderr = &r.log
	must.Succeed(t, r.cmd.Start())
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if t.Failed() {
			t.Logf("%s\n%s", r.log.String(), metricsOf(r.url))
		}
	})
	return r
}

// waitFor returns the first report that matches, starting with the last one; the process writes one report per minute.
func (r *process) waitFor(t *testing.T, ok func(testbed.Report) bool) (last testbed.Report) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		all := testbed.Reports(r.log.String())
		if len(all) == 0 {
			return false, fmt.Errorf("the process has not written a report")
		}
		if last = all[len(all)-1]; !ok(last) {
			return false, fmt.Errorf("the last report has the notices %+v", last.Spec.Notices)
		}
		return true, nil
	}))
	return last
}

// bindProbes creates pods for a scheduler one after the other, until the given number of its bindings have been
// predicted. The pods have different preferences, and bindProbes deletes each pod after its binding.
func (r *process) bindProbes(t *testing.T, ns, scheduler string, want int) {
	t.Helper()
	for range 4 * want {
		if r.countPredictedBindings(scheduler) >= want {
			return
		}
		before := r.bindingCount(scheduler)
		name := r.bindProbe(t, ns, scheduler)
		deadline := time.Now().Add(3 * time.Second) // the program may skip a binding
		_ = seed.WaitUntil(t.Context(), 5*time.Second, func() (bool, error) {
			return r.bindingCount(scheduler) > before || time.Now().After(deadline), nil
		})
		none := int64(0)
		must.Succeed(t, lab.Client.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &none}))
	}
	t.Fatalf("only %d of %d bindings of %s were predicted", r.countPredictedBindings(scheduler), want, scheduler)
}

func (r *process) countPredictedBindings(scheduler string) int {
	return r.metricCount(scheduler, "hit") + r.metricCount(scheduler, "miss")
}

func (r *process) bindingCount(scheduler string) int {
	return r.countPredictedBindings(scheduler) + r.metricCount(scheduler, "unclear")
}

func (r *process) metricCount(scheduler, result string) (n int) {
	head := fmt.Sprintf("evenkeel_scheduler_bindings_total{result=%q,scheduler=%q} ", result, scheduler)
	for line := range strings.SplitSeq(metricsOf(r.url), "\n") {
		if rest, ok := strings.CutPrefix(line, head); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

// bindProbe binds a small pod that prefers zone-1, zone-2 or no zone.
func (r *process) bindProbe(t *testing.T, ns, scheduler string) (name string) {
	t.Helper()
	r.probes++
	name = fmt.Sprintf("probe-%03d", r.probes)
	zone := ""
	if r.probes%4 > 2 {
		zone = fmt.Sprintf("zone-%d", r.probes/4%2+1)
	}
	must.Succeed(t, seed.BindProbe(t.Context(), lab.Client, ns, name, scheduler, zone))
	return name
}
