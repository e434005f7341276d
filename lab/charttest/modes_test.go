package charttest

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/podrunner"
)

// TestThreeModes runs the pods of a release in the three-zones scenario: a dry run that shows two moves, a strategy
// whose moves wait for approval, and one that evicts by itself. No request of theirs may be forbidden.
func TestThreeModes(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			ctx := t.Context()
			r := newRunningRelease("keel", "ek-"+strings.ToLower(mode.name))
			seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
			r.install(ctx, t, append(slices.Clone(automatic), mode.args...)...)
			mode.check(ctx, t, r)
			r.uninstall(ctx, t)
		})
	}
}

// TestChangesOfDryRun upgrades a release with two replicas from evictions to a dry run, and back. Both pods follow
// their new configuration without a restart, and one of them leads. Requests that are forbidden in between raise no
// alert, because the metric of the alert does not count them.
func TestChangesOfDryRun(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-changes")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	r.install(ctx, t, append(slices.Clone(automatic), "--set", "replicas=2")...)
	r.waitForLiveLease(ctx, t)
	for i, dryRun := range []string{"true", "false"} {
		r.upgrade(t, "--set", "config.dryRun="+dryRun)
		held, free := "evenkeel-dry-run", "evenkeel"
		if dryRun == "false" {
			held, free = free, held
		}
		eventually(ctx, t, "two replicas that follow dryRun: "+dryRun, func() (bool, string) {
			log, err := r.logs(ctx)
			if err != nil {
				return false, err.Error()
			}
			return strings.Count(log, `msg="dryRun changed`) == 2*(i+1) && r.holderOf(ctx, held) != "" && r.holderOf(ctx, free) == "", log
		})
	}
	pods := must.Get(r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name}))(t)
	for _, p := range pods.Items {
		for _, c := range p.Status.ContainerStatuses {
			if c.RestartCount > 0 {
				t.Errorf("pod %s has restarted %d times", p.Name, c.RestartCount)
			}
		}
		address := must.Get(podrunner.LocalAddress(ctx, lab, r.namespace, p.Name, 8080))(t)
		answer := must.Get(http.Get("http://" + address + "/metrics"))(t)
		metrics := must.Get(io.ReadAll(answer.Body))(t)
		answer.Body.Close()
		if !strings.Contains(string(metrics), "\nevenkeel_forbidden_requests_total{") {
			t.Errorf("pod %s does not count forbidden requests", p.Name)
		}
		for line := range strings.Lines(string(metrics)) {
			if strings.HasPrefix(line, "evenkeel_forbidden_requests_total{") && !strings.HasSuffix(line, " 0\n") {
				t.Errorf("pod %s: %s", p.Name, line)
			}
		}
	}
	r.evictTriggered(ctx, t)
	r.since = time.Now() // requests during the changes may be forbidden
	r.uninstall(ctx, t)
}

// holderOf returns the holder of a Lease, or "".
func (r release) holderOf(ctx context.Context, lease string) string {
	l, err := r.client.CoordinationV1().Leases(r.namespace).Get(ctx, lease, metav1.GetOptions{})
	if err != nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

var modes = []struct {
	name  string
	args  []string
	check func(context.Context, *testing.T, release)
}{
	{"dryRun", []string{"--set", "config.dryRun=true", "--set", "kind=CronJob", "--set", "cronJob.suspend=true"}, showMoves},
	{"approve", []string{"--set", "config.strategies.zones.mode=approve"}, approve},
	{"automatic", nil, evict},
}

func showMoves(ctx context.Context, t *testing.T, r release) {
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "moves=2 ") || !strings.Contains(out, "mode=dryRun") {
		t.Errorf("the dry run does not show two moves:\n%s", out)
	}
	r.checkMovesInLog(ctx, t, "outcome=wouldEvict")
	if got := podsOfDPerZone(ctx, t, r.client); got != "1/1/4" {
		t.Errorf("pods of d per zone are %s, want 1/1/4", got)
	}
	r.checkRequests(ctx, t, 0)
}

func approve(ctx context.Context, t *testing.T, r release) {
	r.waitForLog(ctx, t, "leads=true")
	r.runAsAdministrator(ctx, t, "trigger", "zones")
	r.waitForLog(ctx, t, "proposedMoves=2 ")
	if got := podsOfDPerZone(ctx, t, r.client); got != "1/1/4" {
		t.Errorf("before the approval pods of d per zone are %s, want 1/1/4", got)
	}
	var plan []string
	eventually(ctx, t, "a plan that waits", func() (bool, string) {
		out := r.runAsAdministrator(ctx, t, "approve")
		plan = regexp.MustCompile(`(?m)^Plan (\S+-proposal),`).FindStringSubmatch(out)
		return plan != nil, out
	})
	r.runAsAdministrator(ctx, t, "approve", plan[1])
	waitForZones(ctx, t, "2/2/2")
	r.waitForLog(ctx, t, "mode=live strategies=zones planned=2 ")
	r.checkRequests(ctx, t, 2)
}

func evict(ctx context.Context, t *testing.T, r release) {
	r.evictTriggered(ctx, t)
	r.checkRequests(ctx, t, 2)
}

// evictTriggered makes a Deployment spread the pods of d, and waits for the end of the pass: then the state is saved,
// and the steering marks are removed.
func (r release) evictTriggered(ctx context.Context, t *testing.T) {
	t.Helper()
	r.waitForLog(ctx, t, "leads=true")
	r.runAsAdministrator(ctx, t, "trigger", "zones")
	waitForZones(ctx, t, "2/2/2")
	r.waitForLog(ctx, t, "mode=live strategies=zones planned=2 ")
	r.checkMovesInLog(ctx, t, "outcome=evicted")
}

// checkMovesInLog checks that `evenkeel logs` prints two moves with the outcome.
func (r release) checkMovesInLog(ctx context.Context, t *testing.T, outcome string) {
	t.Helper()
	if out := r.runAsAdministrator(ctx, t, "logs"); strings.Count(out, outcome) != 2 || !strings.Contains(out, `msg="pass ended"`) {
		t.Errorf("the log has not two moves with %s:\n%s", outcome, out)
	}
}
