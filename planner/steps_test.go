package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// In the scenario displacementCase, the plan moves the pod of Deployment cache to make room for the pod of
// Deployment api.
type displacementCase struct {
	objects *cluster.Objects
	conf    *config.Config
	planner *planner.Planner
	plan    plan.Plan
}

func newDisplacementCase(t *testing.T) displacementCase {
	t.Helper()
	s, st, conf := openScenario(t, scenario.Read(t, "step-makes-room"))
	p := planner.New(conf.PlannerOptions())
	made := p.Plan(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	if len(made.Moves) != 2 || made.Moves[0].DisplacedFor == nil || *made.Moves[0].DisplacedFor != made.Moves[1].Pod {
		t.Fatalf("want one step: %+v", made.Moves)
	}
	return displacementCase{s.Objects, conf, p, made}
}

// recheck runs Recheck for one wave after a change to the cluster.
func (r displacementCase) recheck(t *testing.T, wave int, change func(o *cluster.Objects)) ([]plan.Move, []plan.Outcome) {
	t.Helper()
	o := *r.objects
	o.Pods = slices.Clone(o.Pods)
	change(&o)
	s := must.Get(cluster.New(&o))(t)
	return r.planner.Recheck(s, plan.PlannerState{}, controller.Goals(s, r.conf.BuildStrategies(), nil), r.plan, wave, s.TakenAt)
}

func deletePod(o *cluster.Objects, name string) {
	o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool { return strings.HasPrefix(p.Name, name) })
}

// editPod replaces the pod of this name with an edited copy.
func editPod(o *cluster.Objects, name string, edit func(p *corev1.Pod)) {
	for i, p := range o.Pods {
		if p.Name == name {
			o.Pods[i] = p.DeepCopy()
			edit(o.Pods[i])
		}
	}
}

func budgetWithoutDisruptions(name string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1}}
}

// TestTheFirstHalfOfAStepIsNotMadeForNothing: Recheck keeps the move of cache only if three conditions hold. The pod
// of api exists, may be evicted, and can move only if cache moves first.
func TestTheFirstHalfOfAStepIsNotMadeForNothing(t *testing.T) {
	r := newDisplacementCase(t)
	if ok, dropped := r.recheck(t, 1, func(*cluster.Objects) {}); len(ok) != 1 || ok[0].To != "n3" ||
		!slices.Equal(ok[0].AcceptableNodes, []string{"n3"}) || ok[0].DisplacedFor == nil {
		t.Errorf("without a change to the cluster: moves %+v, dropped %+v", ok, dropped)
	}
	for _, c := range []struct {
		what   string
		code   plan.Code
		says   string
		change func(o *cluster.Objects)
	}{
		{"api is gone", plan.PremiseChanged, "shop/api-6c8f-00, for which it was to make room, is gone",
			func(o *cluster.Objects) { deletePod(o, "api") }},
		{"another pod has the name of api", plan.PremiseChanged, "shop/api-6c8f-00, for which it was to make room, is gone",
			func(o *cluster.Objects) { editPod(o, "api-6c8f-00", func(p *corev1.Pod) { p.UID = "another" }) }},
		{"api is on no node", plan.PremiseChanged, "shop/api-6c8f-00, for which it was to make room, is gone",
			func(o *cluster.Objects) {
				editPod(o, "api-6c8f-00", func(p *corev1.Pod) {
					p.Spec.NodeName, p.CreationTimestamp = "", metav1.NewTime(o.TakenAt) // the scheduler has had no time to try it
				})
			}},
		{"api's budget has closed", plan.PremiseChanged, "BlockedByPDB: shop/api-6c8f-00, for which it was to make room, may not leave: pdb shop/api allows 0", func(o *cluster.Objects) {
			o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, budgetWithoutDisruptions("api"))
		}},
		{"there is room", plan.NotNeeded, "there is room for shop/api-6c8f-00 without its leaving",
			func(o *cluster.Objects) { deletePod(o, "base-2") }},
		{"api could not land there even then", plan.PremiseChanged,
			"shop/api-6c8f-00 could not move to n2 even then: its replacement fits on no other node", func(o *cluster.Objects) {
				editPod(o, "base-2", func(p *corev1.Pod) {
					p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *o.Nodes[0].Status.Allocatable.Cpu()
				})
			}},
		{"n1 is not over its target any more", plan.PremiseChanged, "could not move to n2 even then",
			func(o *cluster.Objects) { deletePod(o, "base-1") }},
	} {
		ok, dropped := r.recheck(t, 1, c.change)
		if len(ok) != 0 || len(dropped) != 1 || dropped[0].Outcome != plan.Dropped || dropped[0].Reason.Code != c.code ||
			!strings.Contains(dropped[0].Reason.Message, c.says) {
			t.Errorf("%s: %d moves remain, dropped %+v", c.what, len(ok), dropped)
		}
	}
}

// TestTheFirstHalfOfAStepInAWave: the move of cache follows another move of its wave. Recheck
// predicts the landing of api to see whether cache is still needed. The acceptable nodes of the
// move are still those of cache.
func TestTheFirstHalfOfAStepInAWave(t *testing.T) {
	anotherGoal := []string{
		`{kind: Node, metadata: {name: n4, labels: {topology.kubernetes.io/zone: zone-1}}}`,
		`{kind: Node, metadata: {name: n5, labels: {topology.kubernetes.io/zone: zone-2}}, status: {allocatable: {cpu: "3", memory: 4Gi}, capacity: {cpu: "3", memory: 4Gi}}}`,
		`{kind: Deployment, metadata: {name: another}, requests: {cpu: "2", memory: 1Gi}, pods: [1 on n4]}`,
		`{kind: Pod, metadata: {name: base-4}, requests: {cpu: "7", memory: 9Gi}, spec: {nodeName: n4}}`,
	}
	of := scenario.Read(t, "step-makes-room")
	s, st, conf := openScenario(t, of, anotherGoal...)
	p := planner.New(conf.PlannerOptions())
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	made := p.Plan(s, st, goals, s.TakenAt)
	if len(made.Moves) != 3 || made.Moves[1].DisplacedFor == nil {
		t.Fatalf("want a move and a step: %+v", made.Moves)
	}
	made.Moves[1].Wave = 1
	ok, dropped := p.Recheck(s, st, goals, made, 1, s.TakenAt)
	if len(ok) != 2 || ok[1].Acceptable.Nodes != 1 || !slices.Equal(ok[1].AcceptableNodes, []string{"n3"}) {
		t.Errorf("moves %+v, dropped %+v", ok, dropped)
	}
}

// TestTheSecondHalfOfAStepWaitsForRoom: Recheck drops the move of api while cache is on its old node. Recheck keeps
// the move of api once the replacement of cache is on the predicted node.
func TestTheSecondHalfOfAStepWaitsForRoom(t *testing.T) {
	r := newDisplacementCase(t)
	if ok, dropped := r.recheck(t, 2, func(*cluster.Objects) {}); len(ok) != 0 || len(dropped) != 1 ||
		dropped[0].Reason.Code != plan.PremiseChanged {
		t.Errorf("while cache is on its old node: moves %+v, dropped %+v", ok, dropped)
	}
	ok, dropped := r.recheck(t, 2, func(o *cluster.Objects) { *o = *simulation.WithReplacements(o, r.plan.Moves[:1]) })
	if len(ok) != 1 || ok[0].To != "n2" {
		t.Errorf("the cache has moved: %+v, %+v", ok, dropped)
	}
}

// TestAdmissionTakesStepsAsAWhole: if a limit allows only one of the two moves of a step, CheckLimits drops both.
func TestAdmissionTakesStepsAsAWhole(t *testing.T) {
	r := newDisplacementCase(t)
	s := must.Get(cluster.New(r.objects))(t)
	opts := r.conf.PlannerOptions()
	opts.Limits.PerPass = plan.Absolute(1)
	dropped := planner.New(opts).CheckLimits(s, plan.PlannerState{}, r.plan, s.TakenAt)
	if len(dropped) != 2 || dropped[0].Reason.Code != plan.LimitPerPass || dropped[1].Step != 1 ||
		dropped[1].Reason.Message != "its move only helps if shop/api-6c8f-00 also moves, and that pod is not moved: LimitPerPass" {
		t.Errorf("%+v", dropped)
	}
	if dropped := r.planner.CheckLimits(s, plan.PlannerState{}, r.plan, s.TakenAt); len(dropped) != 0 {
		t.Errorf("within the limits: %+v", dropped)
	}
}

// TestExplainSaysForWhomRoomIsMade: the explanation of a displaced pod names the pod that can then move.
func TestExplainSaysForWhomRoomIsMade(t *testing.T) {
	r := newDisplacementCase(t)
	s := must.Get(cluster.New(r.objects))(t)
	x := r.planner.Explain(s, plan.PlannerState{}, controller.Goals(s, r.conf.BuildStrategies(), nil),
		s.TakenAt).Pod(s.PodByKey("shop/cache-6c8f-00").ID)
	got := x.Pods[0]
	if got.Move == nil || got.Move.DisplacedFor == nil || got.Verdict.Code != plan.DisplacedForMove ||
		!strings.Contains(got.Verdict.Message, "shop/api-6c8f-00 can move to n2") {
		t.Errorf("%+v", got.Verdict)
	}
}

// TestAPodThatHasJustComeMakesNoRoom: the planner displaces a pod only if it has run for at least an hour. Therefore,
// a pass never displaces a pod that the last pass moved.
func TestAPodThatHasJustComeMakesNoRoom(t *testing.T) {
	r := newDisplacementCase(t)
	for _, c := range []struct {
		age   time.Duration
		moves int
	}{{time.Hour - time.Second, 0}, {time.Hour, 2}} {
		o := *r.objects
		o.Pods = slices.Clone(o.Pods)
		for i, p := range o.Pods {
			if p.Name == "cache-6c8f-00" {
				p = p.DeepCopy()
				started := metav1.NewTime(o.TakenAt.Add(-c.age))
				p.Status.StartTime = &started
				o.Pods[i] = p
			}
		}
		s := must.Get(cluster.New(&o))(t)
		if p := r.planner.Plan(s, plan.PlannerState{}, controller.Goals(s, r.conf.BuildStrategies(), nil), s.TakenAt); len(p.Moves) != c.moves {
			t.Errorf("the pod of cache has run for %s: %d moves, want %d", c.age, len(p.Moves), c.moves)
		}
	}
}

// TestNoRoomIsMadeAtTheCostOfANodeWithoutAGoal: n3 is excluded and has no goal. The planner displaces small to n3
// only if n3 does not exceed the target of the other nodes.
func TestNoRoomIsMadeAtTheCostOfANodeWithoutAGoal(t *testing.T) {
	excluded := scenario.Read(t, "step-excluded-target")
	for _, c := range []struct {
		uses  int64
		moves int
	}{{7000, 2}, {7001, 0}} {
		s, st, conf := openScenario(t, excluded)
		for i := range s.Objects.Usage.Nodes {
			if n := &s.Objects.Usage.Nodes[i]; n.Name == "n3" {
				n.Used["cpu"] = c.uses
			}
		}
		s = must.Get(cluster.New(s.Objects))(t)
		p := planner.New(conf.PlannerOptions()).Plan(s, st, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
		if len(p.Moves) != c.moves || c.moves > 0 && (p.Moves[0].DisplacedFor == nil || p.Moves[0].To != "n3") {
			t.Errorf("n3 uses %d: %+v", c.uses, p.Moves)
		}
	}
}
