package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const yearlyConfig = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 1 1 *"}
`

type requestStatus struct{ Phase, Message, Holder, RunID string }

// statusOfRequest returns the status of a RebalanceRun.
func statusOfRequest(t *testing.T, ns, name string) (r struct{ Status requestStatus }) {
	t.Helper()
	text := must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objectsAPI, ns, "rebalanceruns", name).DoRaw(t.Context()))(t)
	must.Succeed(t, json.Unmarshal(text, &r))
	return r
}

// waitForRequest waits until a RebalanceRun has a phase.
func waitForRequest(t *testing.T, ns, name, phase string, within time.Duration) requestStatus {
	t.Helper()
	var last requestStatus
	must.Succeed(t, seed.WaitUntil(t.Context(), within, func() (bool, error) {
		last = statusOfRequest(t, ns, name).Status
		if last.Phase != phase {
			return false, fmt.Errorf("request %s: %+v, want phase %s", name, last, phase)
		}
		return true, nil
	}))
	return last
}

// TestRequestOfAKilledLeader kills a leader between the moment at which it takes a request and its first eviction. The
// next leader rejects the request and repeats nothing. It then carries out the request of the command trigger, and
// rejects another one that comes too early.
func TestRequestOfAKilledLeader(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
	config := testbed.ConfigFile(t, yearlyConfig)
	var taken atomic.Bool
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	kubeconfig := kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/rebalanceruns/"):
			taken.Store(true)
		case taken.Load() && strings.Contains(r.URL.Path, "/configmaps/"): // the pass reads the state first
			begin()
			<-r.Context().Done()
			return true
		}
		return false
	})
	first := startRun(t, kubeconfig, config, ns, freePort(t))
	must.Get(createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}`))(t)
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("no process takes the request")
	}
	first.kill()
	if s := statusOfRequest(t, ns, "one").Status; s.Phase != "Running" || s.Holder == "" {
		t.Errorf("after its process was killed, the request has the status %+v", s)
	}
	port := freePort(t)
	startRun(t, lab.Kubeconfig, config, ns, port)
	if s := waitForRequest(t, ns, "one", "Rejected", time.Minute); !strings.Contains(s.Message, "ended before it stored a result") {
		t.Errorf("the next leader says %q", s.Message)
	}
	checkEvictions(t, ns, 0)
	r := runEvenkeel(t, "trigger", "zones", "--lease-namespace", ns)
	if r.code != 0 || !strings.Contains(r.stdout, "runs strategy zones now") || !strings.Contains(r.stdout, ") has ended.") {
		t.Errorf("trigger: exit %d", r.code)
	}
	checkEvictions(t, ns, 2)
	r = runEvenkeel(t, "trigger", "zones", "--lease-namespace", ns)
	if r.code != 1 || !strings.Contains(r.stderr, "is rejected: the last trigger was less than 1m0s ago") {
		t.Errorf("a second trigger: exit %d", r.code)
	}
}

// TestAJobTakesARequest creates a request while no process leads. A single pass takes it before its own pass.
func TestAJobTakesARequest(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
	must.Get(createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}`))(t)
	args := []string{"run", "--once", "--config", testbed.ConfigFile(t, yearlyConfig), "--lease-namespace", ns, "-o", "json"}
	r := runEvenkeel(t, args...)
	if s := statusOfRequest(t, ns, "one").Status; r.code != 0 || s.Phase != "Completed" || s.Message != "" || !strings.Contains(r.stdout, s.RunID) {
		t.Errorf("exit %d; after the job, the request has the status %+v", r.code, s)
	}
	if n := strings.Count(r.stdout, `"kind":"RebalancePlan"`); n != 2 {
		t.Errorf("the job made %d passes, want the requested one and its own", n)
	}
	checkEvictions(t, ns, 2)
}

// flood has somebody make 10,000 objects of a kind with the same content.
func flood(t *testing.T, ns, resource, kind, content string) {
	t.Helper()
	api := lab.Client.Discovery().RESTClient()
	var made sync.WaitGroup
	var next atomic.Int64
	for range 20 {
		made.Go(func() {
			for i := next.Add(1); i <= 10_000; i = next.Add(1) {
				body := fmt.Sprintf(`{"apiVersion": "evenkeel.io/v1alpha1", "kind": %q, "metadata": {"name": "flood-%d"}, %s}`, kind, i, content)
				err := api.Post().AbsPath(objectsAPI, ns, resource).SetHeader("Content-Type", "application/json").
					Body([]byte(body)).Do(t.Context()).Error()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	made.Wait()
}

// TestManyRequests has somebody make 10,000 requests for a strategy that does not exist. The passes of the schedule
// stay punctual, and the leader answers the request of another person.
func TestManyRequests(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, nil)
	flood(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["none"], "by": "eve"}`)
	must.Get(createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}`))(t)
	began := time.Now()
	config := testbed.ConfigFile(t, "\nstrategies:\n  zones: {type: ZoneSpread, schedule: \"* * * * *\"}\n")
	leader := startRun(t, lab.Kubeconfig, config, ns, freePort(t))
	s := waitForRequest(t, ns, "one", "Completed", 5*time.Minute)
	t.Logf("the request was answered after %s: %+v", time.Since(began).Round(time.Second), s)
	minutes := int(time.Since(began) / time.Minute)
	if n := len(leader.log.parsedReports()); n < minutes || n > minutes+3 {
		t.Errorf("%d passes in %d minutes", n, minutes)
	}
}

// TestManyPlans has somebody make 10,000 plans. The plan of a pass waits beside them, and is executed soon after a
// person has approved it.
func TestManyPlans(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
	flood(t, ns, "rebalanceplans", "RebalancePlan", `"spec": {"id": "f", "mode": "Automatic", "takenAt": "2026-01-01T00:00:00Z",
		"expires": "2099-01-01T00:00:00Z", "cluster": {"uid": "u"}, "moves": [{"step": 1, "wave": 1, "from": "n3", "strategy": "zones",
		"pod": {"namespace": "shop", "name": "p", "uid": "u"}, "owner": {"kind": "Deployment", "name": "d"}, "reason": {"code": "ZoneSkewed"}}]}`)
	startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, approveConfig), ns, freePort(t))
	must.Get(createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}`))(t)
	waitForRequest(t, ns, "one", "Completed", 3*time.Minute)
	list := runEvenkeel(t, "approve", "--lease-namespace", ns)
	name := regexp.MustCompile(`\S+-proposal`).FindString(list.stdout)
	began := time.Now()
	must.Succeed(t, patchPlan(t, ns, name, `{"decision": {"by": "ann", "approve": {"all": true}}}`))
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		var p decidedPlan
		text := must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objectsAPI, ns, "rebalanceplans", name).DoRaw(t.Context()))(t)
		must.Succeed(t, json.Unmarshal(text, &p))
		if p.Status.Phase != "Completed" {
			return false, fmt.Errorf("plan %s: %+v", name, p.Status)
		}
		return true, nil
	}))
	t.Logf("the plan was executed %s after its approval", time.Since(began).Round(time.Second))
	checkEvictions(t, ns, 2)
}
