package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// seldom is a configuration whose passes do not come in the way of a test.
const seldom = `
strategies:
- {name: zones, type: ZoneSpread, schedule: "0 0 29 2 *"}
`

// savedPlan makes a plan with two moves and saves it.
func savedPlan(t *testing.T, ns, config string) (path string, id string) {
	t.Helper()
	r := evenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns)
	var p struct {
		ID    string
		Moves []any
	}
	if err := json.Unmarshal([]byte(r.stdout), &p); err != nil || r.code != 0 || len(p.Moves) != 2 {
		t.Fatalf("exit %d, %d moves (%v); want 2", r.code, len(p.Moves), err)
	}
	path = filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, []byte(r.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, p.ID
}

// wantApplied checks the report of a plan that was carried out whole.
func wantApplied(t *testing.T, r passReport, id string) {
	t.Helper()
	var evicted int
	for _, o := range r.Outcomes {
		if o.Outcome == "evicted" {
			evicted++
		}
	}
	if r.Plan.ID != id || evicted != 2 || r.Stopped != nil {
		t.Errorf("the report is of plan %s with %q, stopped %v; want plan %s with two evictions", r.Plan.ID, r.codes(), r.Stopped, id)
	}
	if r.Approval == nil || r.Approval.By != "admin" {
		t.Errorf("approval %+v, want by admin", r.Approval)
	}
}

// TestApplyCarriesOutASavedPlan where nobody leads: also while the configuration
// says dryRun, for somebody has read the plan.
func TestApplyCarriesOutASavedPlan(t *testing.T) {
	const dry, live = "dryRun: true\n", "dryRun: false\n"
	for name, mode := range map[string]struct{ planned, applied string }{"live": {live, live}, "dry run": {dry, dry}, "looked at in dry run": {dry, live}} {
		t.Run(name, func(t *testing.T) {
			ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
			path, id := savedPlan(t, ns, testbed.ConfigFile(t, seldom+mode.planned))
			config := testbed.ConfigFile(t, seldom+mode.applied)
			r := evenkeel(t, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
			if r.code != 0 || !strings.Contains(r.stderr, "there is no Lease evenkeel in namespace "+ns) {
				t.Errorf("exit %d, or no warning that nobody ever led here", r.code)
			}
			wantApplied(t, parseReport(t, r.stdout), id)
			wantZones(t, ns, "d", 2, 2, 2)
			wantEvictions(t, ns, 2)

			// What it moved has gone: once more is no eviction more, and says why.
			r = evenkeel(t, "apply", path, "--config", config, "--lease-namespace", ns)
			if r.code != 1 || !strings.Contains(r.stdout, "Approved by admin at ") || strings.Contains(r.stderr, "no Lease") {
				t.Errorf("once more: exit %d, or the report does not say who approved it, or a Lease is missing", r.code)
			}
			if !strings.Contains(r.stderr, "nothing of the plan was carried out: step 1, ") || strings.Count(r.stdout, " already gone ") != 2 || strings.Contains(r.stdout, "CONFIDENCE") {
				t.Error("once more: it does not say that nothing was carried out, and why of each step, or it shows the whole plan")
			}
			wantEvictions(t, ns, 2)
		})
	}
}

// TestApplyHandsThePlanToTheLeader: apply itself evicts nothing, and prints the
// report of the process that leads.
func TestApplyHandsThePlanToTheLeader(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	config, port := testbed.ConfigFile(t, seldom), freePort(t)
	leader := startRun(t, lab.Kubeconfig, config, ns, port)
	awaitMetric(t, "http://"+port, "evenkeel_leader 1")
	path, id := savedPlan(t, ns, config)

	var asked atomic.Int32
	kubeconfig := proxied(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if isEviction(r) {
			asked.Add(1)
		}
		return false
	})
	// The proxy makes every request as the lab's administrator.
	r := evenkeelAs(t, kubeconfig, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stderr, "holds the Lease; the plan is handed to it") {
		t.Errorf("exit %d, or it does not say that the plan is handed over", r.code)
	}
	told := parseReport(t, r.stdout)
	wantApplied(t, told, id)
	wantApplied(t, leader.stdout.await(t, "of the approved plan", func(r passReport) bool { return r.Approval != nil }), id)
	if n := asked.Load(); n != 0 {
		t.Errorf("apply asked for %d evictions beside the leader", n)
	}
	wantZones(t, ns, "d", 2, 2, 2)
	wantEvictions(t, ns, 2)
	leader.wantSame(t, r.stdout)

	// The leader refuses what is not as it was made, too.
	r = evenkeel(t, "apply", changed(t, path), "-o", "json", "--config", config, "--lease-namespace", ns)
	wantStopped(t, r, "PlanRefused")
	wantEvictions(t, ns, 2)
}

// TestApplyTakesThePlanBackFromNobody: one pass, which holds the Lease while apply
// looks, takes no plans. The Lease comes free once the plan is handed over.
func TestApplyTakesThePlanBackFromNobody(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, seldom)
	path, id := savedPlan(t, ns, config)
	holder, seconds, now := "one-pass", int32(15), metav1.NowMicro()
	api := lab.Client.CoordinationV1().Leases(ns)
	held, err := api.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var free sync.Once
	kubeconfig := proxied(t, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps/evenkeel-approval") {
			free.Do(func() {
				*held.Spec.HolderIdentity = ""
				if _, err := api.Update(context.Background(), held, metav1.UpdateOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		return false
	})
	r := evenkeelAs(t, kubeconfig, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stderr, "one-pass holds the Lease") || !strings.Contains(r.stderr, "it is carried out here") {
		t.Errorf("exit %d, or it does not say that the plan was handed over and taken back", r.code)
	}
	wantApplied(t, parseReport(t, r.stdout), id)
	wantZones(t, ns, "d", 2, 2, 2)
	wantEvictions(t, ns, 2)
}

// wantSame checks that the leader printed the very report that apply did.
func (s *standby) wantSame(t *testing.T, stdout string) {
	t.Helper()
	if !slices.Contains(strings.Split(s.stdout.String(), "\n"), strings.TrimSpace(stdout)) {
		t.Errorf("apply prints another report than the leader:\n%s", stdout)
	}
}

// changed is the plan with a destination that somebody prefers.
func changed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(text), `"to":"n1"`, `"to":"n2"`, 1)
	if other == string(text) {
		other = strings.Replace(string(text), `"to": "n1"`, `"to": "n2"`, 1)
	}
	if other == string(text) {
		t.Fatalf("no move goes to n1: %s", text)
	}
	path = filepath.Join(t.TempDir(), "changed.json")
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantStopped checks that a plan was not carried out, for one reason, told both
// to people and in the report.
func wantStopped(t *testing.T, r result, code string) {
	t.Helper()
	got := parseReport(t, r.stdout)
	if r.code != 1 || !strings.Contains(r.stderr, code) || got.Stopped == nil || got.Stopped.Code != code {
		t.Errorf("exit %d, stopped %+v; want 1, and %s on stderr and in the report", r.code, got.Stopped, code)
	}
	for _, o := range got.Outcomes {
		if o.Outcome != "dropped" {
			t.Errorf("outcome %+v, want only dropped moves", o)
		}
	}
}

// TestApplyRefusesWhatIsNotThePlan that was made, or was made with something else.
func TestApplyRefusesWhatIsNotThePlan(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, seldom)
	path, _ := savedPlan(t, ns, config)
	apply := func(path, config string) result {
		return evenkeel(t, "apply", path, "-o", "json", "--config", config, "--lease-namespace", ns)
	}
	wantStopped(t, apply(changed(t, path), config), "PlanRefused")
	wantStopped(t, apply(path, testbed.ConfigFile(t, seldom+"limits: {perPass: 7}\n")), "PlanRefused")
	wantZones(t, ns, "d", 1, 1, 4)
	wantEvictions(t, ns, 0)
}

// TestApplyObeysAPause that somebody made after the plan.
func TestApplyObeysAPause(t *testing.T) {
	ns := scenario(t, seed.Zones([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, seldom)
	path, id := savedPlan(t, ns, config)
	if r := evenkeel(t, "pause", "--reason", "release 42", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("pause: exit %d", r.code)
	}
	apply := []string{"apply", path, "-o", "json", "--config", config, "--lease-namespace", ns}
	r := evenkeel(t, apply...)
	wantStopped(t, r, "Paused")
	if !strings.Contains(r.stderr, "release 42") {
		t.Error("it does not say why it is paused")
	}
	wantZones(t, ns, "d", 1, 1, 4)
	wantEvictions(t, ns, 0)
	if r := evenkeel(t, "resume", "--lease-namespace", ns); r.code != 0 {
		t.Fatalf("resume: exit %d", r.code)
	}
	r = evenkeel(t, apply...)
	if r.code != 0 {
		t.Errorf("after resume: exit %d", r.code)
	}
	wantApplied(t, parseReport(t, r.stdout), id)
	wantZones(t, ns, "d", 2, 2, 2)
	wantEvictions(t, ns, 2)
}
