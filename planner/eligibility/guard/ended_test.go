package guard

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestRunningOnlyRules checks that each code of runningOnly belongs to a rule.
func TestRunningOnlyRules(t *testing.T) {
	for _, code := range runningOnly {
		if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.Code == code }) {
			t.Errorf("no rule has the code %s", code)
		}
	}
}

// TestEndedPodPassesForItselfOnly checks that rules which do not apply to an ended pod still judge
// the other pods of its workload.
func TestEndedPodPassesForItselfOnly(t *testing.T) {
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(`
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: n1}}
- {kind: Deployment, metadata: {name: web}, spec: {replicas: 1}, pods: [2 on n1]}
- {kind: Pod, metadata: {name: web-6c8f-00}, status: {phase: Failed}}
`)}).Objects(t)))(t)
	opts := DefaultOptions()
	in := Input{Snapshot: s, Pod: s.PodByKey("shop/web-6c8f-00"), Now: s.TakenAt, Options: &opts, Cache: NewCache()}
	if r, refused := Check(in); !refused || r.Code != plan.PodTerminal {
		t.Errorf("without a removal: %+v", r)
	}
	in.RemovesEnded = true
	if r, refused := Check(in); refused {
		t.Errorf("the removal is refused: %+v", r)
	}
	in.Pod, in.RemovesEnded = s.PodByKey("shop/web-6c8f-01"), false
	if r, refused := Check(in); !refused || r.Code != plan.TooFewReplicas {
		t.Errorf("the pod that runs: %+v", r)
	}
}
