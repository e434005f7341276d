package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// rareSchedule is a configuration whose schedule is almost never due, so that no scheduled pass disturbs a test.
const rareSchedule = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 29 2 *"}
`

// savePlan makes a plan with two moves and saves it.
func savePlan(t *testing.T, ns, config string) (path string, id string) {
	t.Helper()
	r := runEvenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns)
	p := parseReport(t, r.stdout)
	if r.code != 0 || len(p.Spec.Moves) != 2 {
		t.Fatalf("exit %d, %d moves, want 2 moves", r.code, len(p.Spec.Moves))
	}
	path = filepath.Join(t.TempDir(), "plan.json")
	must.Succeed(t, os.WriteFile(path, []byte(r.stdout), 0o600))
	return path, p.Spec.ID
}

// checkApplied checks the report of a plan that was executed to the end.
func checkApplied(t *testing.T, r testbed.Report, id string) {
	t.Helper()
	var evicted int
	for _, o := range r.Outcomes() {
		if o.Outcome == "evicted" {
			evicted++
		}
	}
	if r.Spec.ID != id || evicted != 2 || r.Status.Stopped != nil {
		t.Errorf("the report has plan %s, outcomes %q, stopped %v; want plan %s with two evictions and no stop",
			r.Spec.ID, r.OutcomeCodes(), r.Status.Stopped, id)
	}
	if !isApproved(r, "admin") {
		t.Errorf("the steps are %+v, want that admin approved them", r.Status.Steps)
	}
}

func isApproved(r testbed.Report, by string) bool {
	return slices.ContainsFunc(r.Status.Steps, func(x testbed.StepStatus) bool { return x.DecidedBy == by })
}

// TestApplyCarriesOutASavedPlan executes a plan while no process holds the Lease. Apply evicts even if the
// configuration says dryRun, because a person has approved the plan.
func TestApplyCarriesOutASavedPlan(t *testing.T) {
	const dry, live = "dryRun: true\n", "dryRun: false\n"
	modes := map[string]struct{ planned, applied string }{"live": {live, live}, "dry run": {dry, dry}, "planned in dry run": {dry, live}}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
			path, id := savePlan(t, ns, testbed.ConfigFile(t, rareSchedule+mode.planned))
			config := testbed.ConfigFile(t, rareSchedule+mode.applied)
			r := runEvenkeel(t, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
			if r.code != 0 || !strings.Contains(r.stderr, "namespace "+ns+" has no Lease evenkeel") {
				t.Errorf("exit %d, or no warning that the Lease is missing", r.code)
			}
			checkApplied(t, parseReport(t, r.stdout), id)
			checkZones(t, ns, "d", 2, 2, 2)
			checkEvictions(t, ns, 2)

			// A second apply evicts nothing, because the stored plan has ended.
			r = runEvenkeel(t, "apply", path, "--config", config, "--lease-namespace", ns)
			if r.code != 1 || !strings.Contains(r.stderr, "is stored already, and no decision about it has an effect any more: its phase is Completed") {
				t.Errorf("second apply: exit %d", r.code)
			}
			checkEvictions(t, ns, 2)
		})
	}
}

// TestApplyHandsThePlanToTheLeader checks that apply itself evicts nothing and prints the leader's report.
func TestApplyHandsThePlanToTheLeader(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config, port := testbed.ConfigFile(t, rareSchedule), freePort(t)
	leader := startRun(t, lab.Kubeconfig, config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	path, id := savePlan(t, ns, config)

	var asked atomic.Int32
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if isEviction(r) {
			asked.Add(1)
		}
		return false
	})
	// The proxy sends every request as the lab's administrator, whatever the caller's credentials are.
	r := runEvenkeelAs(t, kubeconfig, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stderr, " and executes plan ") {
		t.Errorf("exit %d, or stderr does not say that apply hands the plan to the leader", r.code)
	}
	told := parseReport(t, r.stdout)
	checkApplied(t, told, id)
	checkApplied(t, leader.log.waitFor(t, "with the approved plan", func(r testbed.Report) bool { return isApproved(r, "admin") }), id)
	if n := asked.Load(); n != 0 {
		t.Errorf("apply sent %d evictions itself, want none", n)
	}
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
}

// TestApplyRefusesIfApprovalsAreOff checks that the leader announces on its Lease that it executes
// no approved plans, that apply and approve then refuse at once, and that a new configuration
// switches approvals on.
func TestApplyRefusesIfApprovalsAreOff(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, rareSchedule+"approvals: {enabled: false}\n")
	enabled := testbed.ConfigFile(t, rareSchedule)
	port := freePort(t)
	startRun(t, lab.Kubeconfig, config, ns, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	path, id := savePlan(t, ns, enabled)
	for _, args := range [][]string{{"apply", path, "--config", enabled}, {"approve", "x"}} {
		r := runEvenkeel(t, append(args, "--lease-namespace", ns)...)
		if r.code != 1 || !strings.Contains(r.stderr, "holds the Lease in namespace "+ns+" with approvals.enabled: false") {
			t.Errorf("%s: exit %d, %s; want an error about approvals.enabled", args[0], r.code, r.stderr)
		}
	}
	checkEvictions(t, ns, 0)

	text := must.Get(os.ReadFile(enabled))(t)
	must.Succeed(t, os.WriteFile(config, text, 0o600))
	waitUntilApprovalsAreOn(t, ns)
	r := runEvenkeel(t, "apply", path, "-o", "json", "--config", enabled, "--lease-namespace", ns)
	checkApplied(t, parseReport(t, r.stdout), id)
	checkEvictions(t, ns, 2)
}

// waitUntilApprovalsAreOn waits until the Lease says that its holder executes approved plans.
func waitUntilApprovalsAreOn(t *testing.T, ns string) {
	t.Helper()
	api := lab.Client.CoordinationV1().Leases(ns)
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		l, err := api.Get(t.Context(), "evenkeel", metav1.GetOptions{})
		if err == nil && l.Labels["evenkeel.io/approvals"] != "on" {
			err = fmt.Errorf("the Lease has the labels %v", l.Labels)
		}
		return err == nil, err
	}))
}

// TestApplyTakesThePlanBackFromNobody covers a single pass that holds the Lease while apply starts. A single pass
// accepts no plans, and its Lease becomes free after apply has handed over the plan. When the Lease becomes free, apply
// must execute the plan itself.
func TestApplyTakesThePlanBackFromNobody(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, rareSchedule)
	path, id := savePlan(t, ns, config)
	holder, seconds, now := "one-pass", int32(15), metav1.NowMicro()
	api := lab.Client.CoordinationV1().Leases(ns)
	held := must.Get(api.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now,
			RenewTime: &now}}, metav1.CreateOptions{}))(t)
	var free sync.Once
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/rebalanceplans/") {
			free.Do(func() {
				*held.Spec.HolderIdentity = ""
				if _, err := api.Update(context.Background(), held, metav1.UpdateOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		return false
	})
	r := runEvenkeelAs(t, kubeconfig, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stderr, "one-pass holds the Lease") ||
		!strings.Contains(r.stderr, "this process executes the plan") {
		t.Errorf("exit %d, or stderr does not say that apply handed over the plan and took it back", r.code)
	}
	checkApplied(t, parseReport(t, r.stdout), id)
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
}

// checkRefused checks that a plan was refused for a reason before it was stored.
func checkRefused(t *testing.T, r commandResult, why string) {
	t.Helper()
	if r.code != 1 || !strings.Contains(r.stderr, "nothing was evicted: ") || !strings.Contains(r.stderr, why) || r.stdout != "" {
		t.Errorf("exit %d, stderr %q, stdout %q; want exit 1, and %q on stderr", r.code, r.stderr, r.stdout, why)
	}
}

// TestApplyRefusesAPlanOfAnotherConfiguration: apply refuses a plan that was made with another configuration.
func TestApplyRefusesAPlanOfAnotherConfiguration(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, rareSchedule)
	path, _ := savePlan(t, ns, config)
	apply := func(path, config string) commandResult {
		return runEvenkeel(t, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	}
	checkRefused(t, apply(path, testbed.ConfigFile(t, rareSchedule+"limits: {perPass: 7}\n")), "another configuration")
	checkZones(t, ns, "d", 1, 1, 4)
	checkEvictions(t, ns, 0)
}

// TestApplyObeysAPause checks that apply obeys a pause that began after the plan was made.
func TestApplyObeysAPause(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, rareSchedule)
	path, id := savePlan(t, ns, config)
	if r := runEvenkeel(t, "pause", "--reason", "release 42", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("pause: exit %d", r.code)
	}
	apply := []string{"apply", path, "-o", "json", "--config", config, "--lease-namespace", ns}
	r := runEvenkeel(t, apply...)
	checkRefused(t, r, "release 42; approved steps would be dropped")
	checkZones(t, ns, "d", 1, 1, 4)
	checkEvictions(t, ns, 0)
	if r := runEvenkeel(t, "resume", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("resume: exit %d", r.code)
	}
	r = runEvenkeel(t, apply...)
	if r.code != 0 {
		t.Errorf("after resume: exit %d", r.code)
	}
	checkApplied(t, parseReport(t, r.stdout), id)
	checkZones(t, ns, "d", 2, 2, 2)
	checkEvictions(t, ns, 2)
}
