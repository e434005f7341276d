package planner_test

import (
	"cmp"
	"slices"
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
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// nodesToEmpty has two nodes with few requests: n1 has three pods, and n2 has one.
const nodesToEmpty = `
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: n1}}
- {kind: Node, metadata: {name: n2}}
- {kind: Node, metadata: {name: n3}}
- {kind: Node, metadata: {name: n4}}
- {kind: DaemonSet, metadata: {name: agent}, requests: {cpu: 100m, memory: 100Mi}, pods: [1 on n1, 1 on n2, 1 on n3, 1 on n4]}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 500m, memory: 512Mi}, pods: [2 on n1]}
- {kind: Deployment, metadata: {name: job}, requests: {cpu: 500m, memory: 512Mi}, pods: [1 on n1, 1 on n4]}
- {kind: Deployment, metadata: {name: api}, requests: {cpu: "1", memory: 1Gi}, pods: [1 on n2, 1 on n4]}
- {kind: Deployment, metadata: {name: db}, requests: {cpu: "2", memory: 2Gi}, pods: [2 on n3]}
- {kind: Deployment, metadata: {name: etl}, requests: {cpu: "5", memory: 5Gi}, pods: [1 on n4]}
`

// emptyingConfig empties nodes below 30 %, with these further settings.
func emptyingConfig(t *testing.T, settings string) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(head+"limits: {perNamespace: unlimited, perOwner: unlimited}\n"+
		"placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}\nstrategies:\n"+
		"  pack: {type: NodeConsolidation, schedule: '@hourly', args: {below: {cpu: 0.3, memory: 0.3}}}\n"+settings)))(t)
	return conf
}

// emptyingCase is a plan that empties n2 by one move and n1 by three.
type emptyingCase struct {
	*planner.Planner
	conf *config.Config
	o    *cluster.Objects
	plan plan.Plan
}

func newEmptyingCase(t *testing.T) *emptyingCase {
	t.Helper()
	conf := emptyingConfig(t, "")
	c := &emptyingCase{planner.New(conf.PlannerOptions()), conf, (&scenario.Scenario{Cluster: []byte(nodesToEmpty)}).Objects(t), plan.Plan{}}
	s := c.snapshot(t, c.o)
	c.plan = c.Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	checkObjects(t, c.plan)
	var from []string
	for _, m := range c.plan.Moves {
		from = append(from, m.From)
	}
	if !slices.Equal(from, []string{"n2", "n1", "n1", "n1"}) || c.plan.Moves[3].Wave < 3 {
		t.Fatalf("the plan is\n%s", formatPlan(c.plan))
	}
	return c
}

func (c *emptyingCase) snapshot(t *testing.T, o *cluster.Objects) *cluster.Snapshot {
	t.Helper()
	s := must.Get(cluster.New(o))(t)
	return s
}

// recheck checks a wave after the moves of earlier waves and a change.
func (c *emptyingCase) recheck(t *testing.T, wave int, change func(o *cluster.Objects)) (ok []plan.Move, dropped []plan.Outcome) {
	t.Helper()
	var done []plan.Move
	left := c.plan
	left.Moves = nil
	for _, m := range c.plan.Moves {
		if m.Wave < wave {
			done = append(done, m)
		} else if m.Wave == wave {
			left.Moves = append(left.Moves, m)
		}
	}
	o := simulation.WithReplacements(c.o, done)
	if change != nil {
		change(o)
	}
	s := c.snapshot(t, o)
	return c.Recheck(s, plan.PlannerState{}, controller.Goals(s, c.conf.BuildStrategies(), nil), left, wave, s.TakenAt)
}

// TestRecheckOfEmptying checks that the moves of a node are executed only if the plan can still empty the node.
func TestRecheckOfEmptying(t *testing.T) {
	c := newEmptyingCase(t)
	last := c.plan.Moves[3].Wave
	second := c.plan.Moves[1].Wave
	moves := func(wave int) (n int) {
		for _, m := range c.plan.Moves {
			if m.Wave == wave {
				n++
			}
		}
		return n
	}
	node := func(o *cluster.Objects, name string) *corev1.Node {
		i := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		o.Nodes = slices.Clone(o.Nodes)
		o.Nodes[i] = o.Nodes[i].DeepCopy()
		return o.Nodes[i]
	}
	pod := func(o *cluster.Objects, name string) *corev1.Pod {
		i := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool { return p.Name == name })
		o.Pods[i] = o.Pods[i].DeepCopy()
		return o.Pods[i]
	}
	for wave := 1; wave <= last; wave++ {
		if ok, dropped := c.recheck(t, wave, nil); len(ok) != moves(wave) || len(dropped) > 0 {
			t.Errorf("wave %d: %d moves, dropped %+v", wave, len(ok), dropped)
		}
	}
	for _, x := range []struct {
		name    string
		wave    int
		change  func(o *cluster.Objects)
		message string
	}{
		{"a pod came to the node", second, func(o *cluster.Objects) {
			p := pod(o, "job-6c8f-01").DeepCopy()
			p.Name, p.UID, p.Spec.NodeName = "job-6c8f-new", "new", "n1"
			o.Pods = append(o.Pods, p)
		}, "shop/job-6c8f-new runs on n1, and the plan does not move it"},
		{"a replacement came back", last, func(o *cluster.Objects) {
			p := pod(o, c.plan.Moves[1].Pod.Name)
			p.Name, p.UID, p.Spec.NodeName = "back", "back", "n1"
		}, "shop/back runs on n1, and the plan does not move it"},
		{"the node is cordoned", last, func(o *cluster.Objects) { node(o, "n1").Spec.Unschedulable = true },
			"strategy pack does not ask for an empty n1 any more"},
		{"a pod may not leave", second, func(o *cluster.Objects) {
			m := c.plan.Moves[1]
			p := pod(o, m.Pod.Name)
			p.Annotations = map[string]string{"evenkeel.io/evict": "never"}
		}, "a node must be emptied completely, but " + c.plan.Moves[1].Pod.String() + " is not moved: EvictNever"},
	} {
		ok, dropped := c.recheck(t, x.wave, x.change)
		if len(ok) > 0 || len(dropped) != moves(x.wave) {
			t.Errorf("%s: %d moves, dropped %+v", x.name, len(ok), dropped)
			continue
		}
		if o := dropped[len(dropped)-1]; o.Reason != (plan.Reason{Code: plan.NodeNotEmptied, Message: x.message}) || o.Outcome != plan.Dropped {
			t.Errorf("%s: %+v", x.name, dropped)
		}
	}
}

// TestRecheckKeepsReplacementsAway checks that no replacement of a later wave may land on a node that the plan empties.
func TestRecheckKeepsReplacementsAway(t *testing.T) {
	c := newEmptyingCase(t)
	for wave := 1; wave <= c.plan.Moves[3].Wave; wave++ {
		ok, _ := c.recheck(t, wave, nil)
		for _, m := range ok {
			if slices.Contains(m.AcceptableNodes, "n1") || slices.Contains(m.AcceptableNodes, "n2") {
				t.Errorf("wave %d: %s may land on %v", wave, m.Pod, m.AcceptableNodes)
			}
		}
	}
}

// TestAdmitEmptiesWholeNodes checks that a saved plan without one move of a node moves no pod of that node.
func TestAdmitEmptiesWholeNodes(t *testing.T) {
	c := newEmptyingCase(t)
	s := c.snapshot(t, c.o)
	if dropped := c.CheckLimits(s, plan.PlannerState{}, c.plan, s.TakenAt); len(dropped) > 0 {
		t.Errorf("the whole plan: %+v", dropped)
	}
	part := c.plan
	part.Moves = slices.Delete(slices.Clone(c.plan.Moves), 2, 3)
	dropped := c.CheckLimits(s, plan.PlannerState{}, part, s.TakenAt)
	want := "n1 must be emptied completely, but " + c.plan.Moves[2].Pod.String() + " is not moved"
	if len(dropped) != 2 || dropped[0].Reason != (plan.Reason{Code: plan.NodeNotEmptied, Message: want}) {
		t.Errorf("a part of the plan: %+v", dropped)
	}
}

// TestReplanEmptiesNoNode checks that the second plan of a pass leaves nodes to the next pass.
func TestReplanEmptiesNoNode(t *testing.T) {
	c := newEmptyingCase(t)
	s := c.snapshot(t, c.o)
	goals := controller.Goals(s, c.conf.BuildStrategies(), nil)
	if p := c.Replan(s, plan.PlannerState{}, goals, nil, s.TakenAt, s.TakenAt); len(p.Moves) > 0 {
		t.Errorf("the second plan is\n%s", formatPlan(p))
	}
}

// TestNoSecondEmptying checks that the next plan finds nothing to do.
func TestNoSecondEmptying(t *testing.T) {
	c := newEmptyingCase(t)
	s := c.snapshot(t, simulation.WithReplacements(c.o, c.plan.Moves))
	p := c.Plan(s, plan.PlannerState{}, controller.Goals(s, c.conf.BuildStrategies(), nil), s.TakenAt)
	if text := formatPlan(p); len(p.Moves)+len(p.Goals) > 0 || strings.Contains(text, "no goal: ") {
		t.Errorf("the next plan is\n%s", text)
	}
}

// TestEmptyNodeTakesNoReplacement adds an empty node to which the default scores would send each
// replacement. Only a node that is not removed may be filled to empty another one.
func TestEmptyNodeTakesNoReplacement(t *testing.T) {
	for annotation, want := range map[string]bool{"": false, "karpenter.sh/do-not-disrupt": true} {
		text := nodesToEmpty + "- {kind: Node, metadata: {name: n5, annotations: {\"" + cmp.Or(annotation, "none") + "\": \"true\"}}}\n"
		conf := must.Get(config.Load("c", []byte(head+"limits: {perNamespace: unlimited, perOwner: unlimited}\nstrategies:\n"+
			"  pack: {type: NodeConsolidation, schedule: '@hourly', args: {below: {cpu: 0.3, memory: 0.3}}}\n")))(t)
		s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(text)}).Objects(t)))(t)
		p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
		if got := slices.ContainsFunc(p.Moves, func(m plan.Move) bool { return m.To == "n5" }); got != want || len(p.Moves) > 0 != want {
			t.Errorf("annotation %q: a move to the empty node: %v, want %v:\n%s", annotation, got, want, formatPlan(p))
		}
	}
}

// TestExplainGoalsThatOnlyLimit checks that the explanation marks a goal as LimitsOnly if its strategy is due, but asks
// no pod to leave for the goal. The targets of NodeConsolidation are such goals.
func TestExplainGoalsThatOnlyLimit(t *testing.T) {
	conf := emptyingConfig(t, "  tight: {type: NodeConsolidation, schedule: '@hourly', args: {below: {cpu: 0.3}, target: {cpu: 0.9, memory: 0.9}}}\n")
	s := (&emptyingCase{}).snapshot(t, (&scenario.Scenario{Cluster: []byte(nodesToEmpty)}).Objects(t))
	for due, want := range map[string]bool{"tight": true, "pack": false} {
		goals := controller.Goals(s, conf.BuildStrategies(), []string{due})
		x := planner.New(conf.PlannerOptions()).Explain(s, plan.PlannerState{}, goals, s.TakenAt).Pod(s.PodByKey("shop/etl-6c8f-00").ID)
		if len(x.Pods[0].Goals) != 2 {
			t.Fatalf("the pod has %d goals, want the targets for CPU and memory", len(x.Pods[0].Goals))
		}
		for _, g := range x.Pods[0].Goals {
			if !g.Constraint || g.LimitsOnly != want {
				t.Errorf("due %s: goal about %s has Constraint %v and LimitsOnly %v, want true and %v", due, g.Goal.Resource, g.Constraint,
					g.LimitsOnly, want)
			}
		}
	}
}
