package planner_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestEndedPods checks that the plan removes pods that have ended only for goals that ask for it,
// and that their removal frees no room.
func TestEndedPods(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode+`
- {kind: Deployment, metadata: {name: web}, spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2}}
- {kind: ReplicaSet, metadata: {name: web-6c8f}, spec: {replicas: 2}, status: {replicas: 2, readyReplicas: 2, availableReplicas: 2}}
- {kind: Pod, metadata: {name: "web-*-00"}, status: {phase: Failed}}
- {kind: Pod, metadata: {name: "web-*-01"}, status: {phase: Failed}}
`)
	n1 := s.NodeByName("n1")
	first, second := podAway(t, s, "shop/web-6c8f-00"), podAway(t, s, "shop/web-6c8f-01")
	hot := plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Resource: "cpu", Weight: 1, Limit: 0.1, Node: n1.ID,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "n1"}, Reason: plan.Reason{Code: plan.NodeOverUtilized}}
	if p := planFor(t, s, unlimitedOptions(), first, second); len(p.Moves) != 0 || p.Rejections.Counts[plan.PodTerminal] != 2 || p.Bound.Residual != 2 {
		t.Errorf("without removal, the plan is\n%s", formatPlan(p))
	}
	first.Removal, second.Removal = plan.ByEviction, plan.ByDeletion
	p := planFor(t, s, unlimitedOptions(), first, second, hot)
	removed := map[string]plan.Move{}
	for _, m := range p.Moves {
		if m.Removal != "" {
			removed[m.Pod.Name] = m
		}
	}
	for name, how := range map[string]plan.Removal{"web-6c8f-00": plan.ByEviction, "web-6c8f-01": plan.ByDeletion} {
		m := removed[name]
		if m.Removal != how || m.To != "" || m.From != "n1" || len(m.Goals) != 1 || m.Benefit != 1 || m.Acceptable.Nodes != 0 {
			t.Errorf("move %+v", m)
		}
	}
	if len(p.Bound.BlockedBy) > 0 && len(removed) != 2 || p.Bound.MinForPlan != len(p.Moves) {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
	ok, dropped := planner.New(unlimitedOptions()).Recheck(s, plan.PlannerState{}, []plan.Goal{first, second}, p, removed["web-6c8f-00"].Wave, s.TakenAt)
	kept := 0
	for _, m := range ok {
		if m.Removal != "" {
			kept++
		}
	}
	if kept == 0 {
		t.Errorf("the wave is not executed: dropped %v", dropped)
	}
	if _, dropped := planner.New(unlimitedOptions()).Recheck(s, plan.PlannerState{}, nil, p, removed["web-6c8f-00"].Wave, s.TakenAt); len(dropped) == 0 {
		t.Error("the pods are removed although no goal asks for it")
	}
}

// TestEndedPodsInBackoff checks that a pod that has ended stays while its workload is in back-off, for example because
// admission refused an earlier removal. A recent eviction of its workload does not keep it, because it replaces no pod.
func TestEndedPodsInBackoff(t *testing.T) {
	s := snapshotOf(t, podsOnOneNode+`
- {kind: Pod, metadata: {name: "web-*-00"}, status: {phase: Failed}}
`)
	web := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	g := podAway(t, s, "shop/web-6c8f-00")
	g.Removal = plan.ByEviction
	for name, c := range map[string]struct {
		state plan.PlannerState
		moves int
	}{
		"back-off": {plan.PlannerState{Backoffs: []plan.Backoff{{Workload: web, Since: s.TakenAt.Add(-time.Minute),
			Until: s.TakenAt.Add(time.Minute), Failures: 1, Reason: plan.Reason{Code: plan.BlockedByAdmission, Message: "no"}}}}, 0},
		"back-off that has ended": {plan.PlannerState{Backoffs: []plan.Backoff{{Workload: web, Since: s.TakenAt.Add(-time.Hour),
			Until: s.TakenAt.Add(-time.Minute), Failures: 1, Reason: plan.Reason{Code: plan.BlockedByAdmission, Message: "no"}}}}, 1},
		"eviction in the last minute": {plan.PlannerState{Evictions: []plan.EvictionCount{{Workload: web,
			Minute: s.TakenAt.Add(-time.Minute).Truncate(time.Minute), Count: 1}}}, 1},
	} {
		p := planner.New(unlimitedOptions()).Plan(s, c.state, []plan.Goal{g}, s.TakenAt)
		if len(p.Moves) != c.moves || p.Rejections.Counts[plan.BackedOff] != 1-c.moves {
			t.Errorf("%s: the plan is\n%s", name, formatPlan(p))
		}
	}
}
