package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestRequestsOfAPass counts, in the audit log, the requests of a job for the objects of evenkeel.io. Beside reads of
// the pause, of which there is one for each eviction, and of requests for a pass, there are at most seven, and one
// status of the plan for each wave, but no more than one in ten seconds.
func TestRequestsOfAPass(t *testing.T) {
	const atMost, pauses = 7, 5 // one plan list, and one read of the pause with the state, replace reads of former ConfigMaps
	for waves, place := range map[int][3]int{1: {2, 1, 3}, 3: {1, 2, 6}} {
		t.Run(fmt.Sprintf("%d waves", waves), func(t *testing.T) {
			ns := seedApps(t, nil)
			evict := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}}
			events := rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}
			kubeconfig := createAccount(t, ns, leaseRule, stateRule, evict, events)
			args := []string{"run", "--once", "--config", testbed.ConfigFile(t, zonesConfig+"limits: {perNamespace: unlimited, perOwner: unlimited}\n"), "--lease-namespace", ns}
			if r := runEvenkeelAs(t, kubeconfig, args...); r.code != 0 { // it creates the objects of the release
				t.Fatalf("exit %d", r.code)
			}
			must.Succeed(t, seed.CreateApps(t.Context(), lab.Client, ns, seed.ThreeZoneApps(place, 1)[3:]))
			before := len(must.Get(lab.Audit())(t))
			r := runEvenkeelAs(t, kubeconfig, args...)
			calls, total, others := map[string]int{}, 0, 0
			for _, e := range must.Get(lab.Audit())(t)[before:] {
				o := e.ObjectRef
				switch {
				case o == nil || e.User.Username != "system:serviceaccount:"+ns+":default" || e.Verb == "watch":
				case o.APIGroup == "evenkeel.io":
					calls[strings.TrimSuffix(e.Verb+" "+o.Resource+"/"+o.Subresource, "/")]++
					if o.Resource != "rebalanceruns" && (o.Resource != "rebalancers" || e.Verb != "get") {
						total++
					}
				default:
					others++
				}
			}
			t.Logf("exit %d after %s: %v; %d other requests", r.code, r.took.Round(time.Millisecond), calls, others)
			if most := atMost + min(waves, 1+int(r.took/(10*time.Second))); total > most || calls["get rebalancers"] > pauses+waves {
				t.Errorf("%d requests for objects, want at most %d, and %d reads of the pause", total, most, pauses+waves)
			}
			made := storedPlans(t, ns)[0]
			if n := len(made.Spec.Moves); n != waves || made.Spec.Moves[n-1].Wave != waves || made.Status.Evicted != n {
				t.Errorf("exit %d: %+v, want %d waves with one eviction each", r.code, made, waves)
			}
		})
	}
}
