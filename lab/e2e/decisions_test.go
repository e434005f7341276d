package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
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

// approveConfig has a strategy whose moves wait for a decision.
const approveConfig = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 1 1 *", mode: approve}
`

// decidedPlan is what the tests of decisions read of a RebalancePlan.
type decidedPlan struct {
	Metadata struct{ Name string }
	Status   struct {
		Phase             string
		Foreign, Closed   bool
		Attempts, Evicted int
		Steps             []struct {
			Step             int
			State, DecidedBy string
			Reason           struct{ Code, Message string }
		}
	}
}

// states returns the states of the steps that have one, such as 1 Evicted 2 Discarded.
func (p *decidedPlan) states() string {
	var out []string
	for _, s := range p.Status.Steps {
		out = append(out, fmt.Sprint(s.Step, " ", s.State))
	}
	return strings.Join(out, " ")
}

// waitForDecided waits until the only RebalancePlan in a namespace fulfills a condition.
func waitForDecided(t *testing.T, ns, what string, is func(p *decidedPlan) bool) (found decidedPlan) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		var list struct{ Items []decidedPlan }
		text := must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objectsAPI, ns, "rebalanceplans").DoRaw(t.Context()))(t)
		must.Succeed(t, json.Unmarshal(text, &list))
		if len(list.Items) != 1 || !is(&list.Items[0]) {
			return false, fmt.Errorf("no plan %s: %+v", what, list.Items)
		}
		found = list.Items[0]
		return true, nil
	}))
	return found
}

// patchPlan changes a RebalancePlan with a merge patch, as kubectl does.
func patchPlan(t *testing.T, ns, name, patch string) error {
	t.Helper()
	return lab.Client.Discovery().RESTClient().Patch("application/merge-patch+json").AbsPath(objectsAPI, ns, "rebalanceplans", name).
		Body([]byte(patch)).Do(t.Context()).Error()
}

// TestADecisionOutlivesItsLeader kills the leader after it has claimed an approved plan, before it evicts. The next
// leader executes the approved step once. Two people decide about the other steps at the same time, and both decisions
// have their effect.
func TestADecisionOutlivesItsLeader(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 7}, 1))
	config := testbed.ConfigFile(t, approveConfig)
	var decided atomic.Bool
	var writes atomic.Int32
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	first := startRun(t, kubeconfigWithProxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPut && decided.Load() && strings.Contains(r.URL.Path, "/rebalanceplans/"):
			writes.Add(1)
		case writes.Load() == 2 && strings.Contains(r.URL.Path, "/configmaps/"): // the pass of the claimed plan reads the state
			begin()
			<-r.Context().Done()
			return true
		}
		return false
	}), config, ns, freePort(t))
	must.Get(createObject(t, ns, "rebalanceruns", "RebalanceRun", `"spec": {"strategies": ["zones"], "by": "ann"}`))(t)
	name := waitForDecided(t, ns, "that waits", func(p *decidedPlan) bool { return p.Status.Phase == "Waiting" }).Metadata.Name
	decided.Store(true)
	must.Succeed(t, patchPlan(t, ns, name, `{"decision": {"by": "ann", "approve": {"steps": [1]}}}`))
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("no process executes the approved step")
	}
	first.kill()
	if p := waitForDecided(t, ns, "", func(*decidedPlan) bool { return true }); p.Status.Phase != "Running" || p.Status.Attempts != 1 {
		t.Errorf("after its process was killed, the plan has the status %+v", p.Status)
	}
	startRun(t, lab.Kubeconfig, config, ns, freePort(t))
	waitForDecided(t, ns, "with one eviction", func(p *decidedPlan) bool { return p.states() == "1 Evicted" && p.Status.Phase == "Waiting" })
	checkEvictions(t, ns, 1)

	var both sync.WaitGroup
	for _, args := range [][]string{{"approve", name, "--steps", "2"}, {"discard", name, "--steps", "3"}} {
		both.Go(func() {
			if r := runEvenkeel(t, append(args, "--lease-namespace", ns)...); r.code != 0 {
				t.Errorf("%s: exit %d", args[0], r.code)
			}
		})
	}
	both.Wait()
	p := waitForDecided(t, ns, "that is completed", func(p *decidedPlan) bool { return p.Status.Phase == "Completed" })
	if p.states() != "1 Evicted 2 Evicted 3 Discarded" || p.Status.Closed || p.Status.Steps[0].DecidedBy != "ann" {
		t.Errorf("status %+v", p.Status)
	}
	checkEvictions(t, ns, 2)
}

// TestAForgedPlanNeedsADecision: a plan that somebody creates, with a decision in it, has no effect before somebody
// decides. Its spec does not change. A plan with a strategy that the configuration lacks is refused.
func TestAForgedPlanNeedsADecision(t *testing.T) {
	for name, strategy := range map[string]string{"valid": "zones", "refused": "forged"} {
		t.Run(name, func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 1))
			config := testbed.ConfigFile(t, rareSchedule)
			startRun(t, lab.Kubeconfig, config, ns, freePort(t))
			path, _ := savePlan(t, ns, config)
			text := regexp.MustCompile(`"strategy": *"zones"`).ReplaceAllString(string(must.Get(os.ReadFile(path))(t)), `"strategy":"`+strategy+`"`)
			text = strings.Replace(text, `"spec":`, `"decision":{"by":"admin","approve":{"all":true}},"spec":`, 1)
			r := lab.Client.Discovery().RESTClient().Post().AbsPath(objectsAPI, ns, "rebalanceplans").SetHeader("Content-Type", "application/json")
			must.Succeed(t, r.Body([]byte(text)).Do(t.Context()).Error())
			p := waitForDecided(t, ns, "that is known as foreign", func(p *decidedPlan) bool { return p.Status.Foreign })
			if p.Status.Phase != "Waiting" || len(p.Status.Steps) != 0 {
				t.Errorf("status %+v, want a plan that waits", p.Status)
			}
			if err := patchPlan(t, ns, p.Metadata.Name, `{"spec": {"moveCount": 7}}`); err == nil || !strings.Contains(err.Error(), "a plan never changes") {
				t.Errorf("the spec was changed: %v", err)
			}
			checkEvictions(t, ns, 0)
			must.Succeed(t, patchPlan(t, ns, p.Metadata.Name, `{"decision": {"by": "admin", "approve": {"all": null, "steps": [1]}}}`))
			if strategy == "forged" {
				waitForDecided(t, ns, "that was refused", func(p *decidedPlan) bool { return p.Status.Phase == "Refused" && p.Status.Closed })
				checkEvictions(t, ns, 0)
				return
			}
			waitForDecided(t, ns, "with one eviction", func(p *decidedPlan) bool { return p.states() == "1 Evicted" })
			checkEvictions(t, ns, 1)
		})
	}
}
