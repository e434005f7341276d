package planner_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

const failedJobPods = `
base: three-nodes
objects:
- {kind: Job, metadata: {name: job}, pods: [2 on n2]}
- {kind: Pod, metadata: {name: job-*}, status: {phase: Failed}}
`

// failedPodsConfig removes failed pods by deletion or eviction.
func failedPodsConfig(t *testing.T, remove, mode string) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(head+"limits: {perNamespace: unlimited, perOwner: unlimited}\nstrategies:\n"+
		"  failed: {type: FailedPods, schedule: '@hourly', mode: "+mode+", args: {remove: "+remove+"}}\n")))(t)
	return conf
}

// TestRecheckOfRemovals checks that a removal is executed only if the pod has still ended, and if a strategy of the
// configuration still asks for it by the same request.
func TestRecheckOfRemovals(t *testing.T) {
	s := snapshotOf(t, failedJobPods)
	conf := failedPodsConfig(t, "deletion", "automatic")
	p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	checkObjects(t, p)
	if len(p.Moves) != 2 || p.Moves[0].Removal != plan.ByDeletion || p.Moves[0].To != "" {
		t.Fatalf("the plan is\n%s", formatPlan(p))
	}
	edited := func(change func(o *cluster.Objects)) *cluster.Snapshot {
		o := (&scenario.Scenario{Cluster: []byte(failedJobPods)}).Objects(t)
		change(o)
		s := must.Get(cluster.New(o))(t)
		return s
	}
	of := func(o *cluster.Objects, name string) *corev1.Pod {
		for _, p := range o.Pods {
			if p.Name == name {
				return p
			}
		}
		t.Fatalf("there is no pod %s", name)
		return nil
	}
	forged := p
	forged.Moves = append([]plan.Move(nil), p.Moves...)
	forged.Moves[0].Removal = ""
	for _, c := range []struct {
		name   string
		s      *cluster.Snapshot
		conf   *config.Config
		plan   plan.Plan
		ok     int
		reason plan.Reason
	}{
		{"unchanged", s, conf, p, 2, plan.Reason{}},
		{"a pod runs", edited(func(o *cluster.Objects) { of(o, "job-0").Status.Phase = corev1.PodRunning }), conf, p, 1,
			plan.Reason{Code: plan.PremiseChanged, Message: "the pod has not ended"}},
		{"a pod is gone", edited(func(o *cluster.Objects) { of(o, "job-0").Name, of(o, "job-0").UID = "x", "x" }), conf, p, 1,
			plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}},
		{"a pod was made anew", edited(func(o *cluster.Objects) { of(o, "job-0").UID = "x" }), conf, p, 1,
			plan.Reason{Code: plan.UIDChanged, Message: "another pod of the same name stands there now"}},
		{"a pod is protected", edited(func(o *cluster.Objects) {
			of(o, "job-0").Annotations = map[string]string{"evenkeel.io/evict": "never"}
		}), conf, p, 1, plan.Reason{Code: plan.EvictNever, Message: `evenkeel.io/evict: "never" on the pod`}},
		{"by another request", s, failedPodsConfig(t, "eviction", "automatic"), p, 0,
			plan.Reason{Code: plan.NotNeeded, Message: "no goal of strategy failed needs the removal of the pod"}},
		{"forged as a move", s, conf, forged, 1, plan.Reason{Code: plan.PodTerminal, Message: "the pod has ended (Failed)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			goals := controller.Goals(c.s, c.conf.BuildStrategies(), nil)
			ok, dropped := planner.New(c.conf.PlannerOptions()).Recheck(c.s, plan.PlannerState{}, goals, c.plan, 1, c.s.TakenAt)
			if len(ok) != c.ok || len(dropped) != 2-c.ok || len(dropped) > 0 && dropped[0].Reason != c.reason {
				t.Errorf("moves %+v, dropped %+v", ok, dropped)
			}
		})
	}
}

// TestProposedRemovals checks that a mode's proposal contains its removals, and that an automatic
// removal is not proposed again.
func TestProposedRemovals(t *testing.T) {
	s := snapshotOf(t, failedJobPods)
	conf := failedPodsConfig(t, "eviction", "approve")
	p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	checkObjects(t, p)
	if len(p.Moves) != 0 || len(p.Proposals) != 1 || len(p.Proposals[0].Plan.Moves) != 2 {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
	two := must.Get(config.Load("c", []byte(head+"limits: {perNamespace: unlimited, perOwner: unlimited}\nstrategies:\n"+
		"  failed: {type: FailedPods, schedule: '@hourly', limits: {perPass: 1}}\n"+
		"  shown: {type: FailedPods, schedule: '@hourly', mode: approve}\n")))(t)
	p = planner.New(two.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, two.BuildStrategies(), nil), s.TakenAt)
	checkObjects(t, p)
	if len(p.Moves) != 1 || len(p.Proposals) != 1 || len(p.Proposals[0].Plan.Moves) != 1 ||
		p.Moves[0].Pod == p.Proposals[0].Plan.Moves[0].Pod {
		t.Errorf("the plan is\n%s", formatPlan(p))
	}
}

// TestExplainEndedPods checks what explain says about ended pods that are removed, and about those that stay.
func TestExplainEndedPods(t *testing.T) {
	s := snapshotOf(t, strings.Replace(failedJobPods, "\n- {kind: Pod", "\n- {kind: Pod, metadata: {name: bare}, spec: {nodeName: n2}, "+
		"status: {phase: Failed}}\n- {kind: Pod", 1))
	conf := failedPodsConfig(t, "deletion", "automatic")
	e := planner.New(conf.PlannerOptions()).Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	for name, want := range map[string]plan.Code{"job-0": plan.PodFailed, "bare": plan.BarePod} {
		x := e.Pod(s.PodByKey("shop/" + name).ID).Pods[0]
		if x.Verdict.Code != want || (x.Move != nil) != (want == plan.PodFailed) || len(x.Goals) != 1 || !x.Goals[0].EvictionHelps {
			t.Errorf("%s: %+v", name, x)
		}
		for _, g := range x.Guards {
			if !g.Allows && g.Code != want {
				t.Errorf("%s: guard %s refuses: %s", name, g.Code, g.Message)
			}
		}
	}
}
