package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// Explainer answers why pods are moved or stay: by the plan that would be made,
// and by every rule asked again from the cluster as it is.
type Explainer struct {
	start *search
	done  *search
	moves map[cluster.PodID]plan.Move
}

// Explain makes the plan once, so that many pods can be asked about.
func (p *Planner) Explain(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Explainer {
	goals = p.asked(s, st, goals, now)
	e := &Explainer{start: p.newSearch(s, st, goals, now), done: p.newSearch(s, st, goals, now), moves: map[cluster.PodID]plan.Move{}}
	e.done.run()
	for i, st := range e.done.moves {
		m := e.done.move(st)
		m.Step = i + 1
		e.moves[st.pod] = m
	}
	return e
}

// Pod explains one pod.
func (e *Explainer) Pod(id cluster.PodID) plan.Explanation {
	p := &e.start.s.Pods[id]
	x := e.about(plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)})
	x.Pods = append(x.Pods, e.pod(id))
	return x
}

// Node explains a node: the goals about it, and each of its pods.
func (e *Explainer) Node(id cluster.NodeID) plan.Explanation {
	s := e.start.s
	n := &s.Nodes[id]
	x := e.about(plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)})
	x.Node = e.standing(n)
	for g, goal := range e.start.goals.list {
		if (goal.Kind == plan.NodeBelow || goal.Kind == plan.NodeEmpty) && goal.Node == id {
			x.Goals = append(x.Goals, e.goal(g, false))
		}
	}
	x.Requests = append(x.Requests, annotation.DescribeNode(n)...)
	for _, pod := range n.Pods {
		x.Pods = append(x.Pods, e.pod(pod))
	}
	return x
}

// Workload explains a workload: the goals that any of its pods is part of, and
// each pod.
func (e *Explainer) Workload(id cluster.WorkloadID) plan.Explanation {
	s := e.start.s
	w := &s.Workloads[id]
	x := e.about(plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID})
	for g, goal := range e.start.goals.list {
		if goal.Kind == plan.SkewAtMost && slices.ContainsFunc(goal.Pods, func(p cluster.PodID) bool { return s.Pods[p].Workload == id }) {
			x.Goals = append(x.Goals, e.goal(g, false))
		}
	}
	for _, pod := range w.Pods {
		x.Pods = append(x.Pods, e.pod(pod))
	}
	if len(x.Pods) > 0 {
		x.Requests = append(x.Requests, x.Pods[0].Requests...)
	}
	return x
}

func (e *Explainer) about(subject plan.ObjectRef) plan.Explanation {
	return plan.Explanation{APIVersion: plan.APIVersion, Kind: "Explanation", TakenAt: e.start.s.TakenAt.UTC(), Subject: subject, Blocks: e.start.holds(),
		Goals: []plan.GoalStatus{}, Requests: []string{}, Pods: []plan.PodExplanation{}}
}

func (e *Explainer) goal(g int, serves bool) plan.GoalStatus {
	goal := e.start.goals.list[g]
	goal.Excess = e.start.goals.reported(g)
	return plan.GoalStatus{Goal: goal, EvictionHelps: serves, Constraint: goal.Constraint, WaitReason: goal.WaitReason, ExcessAfter: e.done.goals.reported(g)}
}

func (e *Explainer) pod(id cluster.PodID) plan.PodExplanation {
	s := e.start.s
	p := &s.Pods[id]
	x := plan.PodExplanation{Pod: podRef(p), Owner: ownerRef(s, p), Requests: append([]string{}, annotation.DescribePod(s, p, e.start.p.opts.Guards.TimeZone)...)}
	x.Guards, x.Budgets = e.guards(p), e.budgets(p)
	x.Goals, x.Limits, x.Landing = []plan.GoalStatus{}, []plan.RuleResult{}, plan.Landing{Nodes: []plan.TargetNode{}}
	x.Node = p.Object.Spec.NodeName
	if p.Node != cluster.NoNode && !p.Terminal {
		x.Goals, x.Limits = e.goals(p), e.limits(p)
		x.Landing = e.landing(p)
	}
	e.judge(p, &x)
	return x
}

// judge says what becomes of the pod, whether one thing alone keeps it, and
// whether anything asks for it to leave.
func (e *Explainer) judge(p *cluster.Pod, x *plan.PodExplanation) {
	if m, moved := e.moves[p.ID]; moved {
		x.Move, x.Verdict = &m, m.Reason
		return
	}
	wanted := slices.ContainsFunc(x.Goals, func(g plan.GoalStatus) bool { return g.EvictionHelps })
	if !wanted {
		x.Landing.Verdict = plan.Reason{} // no place helps where no help is wanted
	}
	r, refused := e.done.refused.of(p.ID)
	guarded := slices.IndexFunc(x.Guards, func(c plan.RuleResult) bool { return !c.Allows })
	switch {
	case refused:
		x.Verdict = r.reason
	case guarded >= 0:
		x.Verdict = plan.Reason{Code: x.Guards[guarded].Code, Message: x.Guards[guarded].Message}
		x.NotNeeded = notNeeded(wanted)
	case !wanted && e.awaited(p) != "":
		x.Verdict = plan.Reason{Code: plan.WaitsForSamples, Message: e.awaited(p)}
	default:
		x.Verdict = plan.Reason{Code: plan.NotNeeded, Message: notNeeded(wanted)}
	}
	inTheWay := obstacles(x)
	x.OnlyObstacle = refused && len(inTheWay) == 1 && inTheWay[0].Code == x.Verdict.Code && x.Landing.Verdict.Code == ""
}

// awaited names a goal that the pod's leaving would serve and that is not asked for
// yet; empty when there is none.
func (e *Explainer) awaited(p *cluster.Pod) (why string) {
	if p.Node == cluster.NoNode || p.Terminal {
		return ""
	}
	t := e.start.goals
	t.each(p.ID, p.Node, cluster.NoNode, func(g int) bool {
		if waits := t.list[g].WaitReason; waits != "" && t.excess(g) > 0 && t.couldServe(g, p.ID, p.Node) {
			why = fmt.Sprintf("its leaving would help, and is not asked for yet: %s is %s (%s)", t.list[g].Subject.Name, waits, t.list[g].Resource)
		}
		return why == ""
	})
	return why
}

func notNeeded(wanted bool) string {
	if wanted {
		return "other pods serve the goals with fewer or cheaper evictions"
	}
	return "no goal that is not met would be served by its leaving"
}

// obstacles are all refusals from the cluster as it is.
func obstacles(x *plan.PodExplanation) []plan.Reason {
	var out []plan.Reason
	for _, list := range [...][]plan.RuleResult{x.Guards, x.Budgets, x.Limits} {
		for _, c := range list {
			if !c.Allows {
				out = append(out, plan.Reason{Code: c.Code, Message: c.Message})
			}
		}
	}
	if x.Landing.Verdict.Code != "" {
		out = append(out, x.Landing.Verdict)
	}
	return out
}

// goals that the pod is part of, with excess or without.
func (e *Explainer) goals(p *cluster.Pod) []plan.GoalStatus {
	out := []plan.GoalStatus{}
	t := e.start.goals
	t.each(p.ID, p.Node, cluster.NoNode, func(g int) bool {
		serves := !t.list[g].Constraint && t.excess(g) > 0 && t.couldServe(g, p.ID, p.Node)
		out = append(out, e.goal(g, serves))
		return true
	})
	return out
}

func (e *Explainer) guards(p *cluster.Pod) []plan.RuleResult {
	refused := map[plan.Code]string{}
	for _, r := range guard.All(e.start.verdict.input(p)) {
		refused[r.Code] = r.Message
	}
	out := []plan.RuleResult{}
	for _, r := range guard.Rules {
		msg, no := refused[r.Code]
		out = append(out, plan.RuleResult{Code: r.Code, Allows: !no, Message: msg})
		if no && r.Code == plan.PodNotBound {
			break // the others look at the node
		}
	}
	return out
}

// budgets are what others have to say on the pod: its workload's rest, and the
// budget that covers it.
func (e *Explainer) budgets(p *cluster.Pod) []plan.RuleResult {
	out := []plan.RuleResult{}
	if r, rests := e.start.verdict.resting(p); rests {
		out = append(out, plan.RuleResult{Code: r.Code, Message: r.Message})
	}
	if len(p.Budgets) == 0 {
		r, allowed := e.start.verdict.withoutPDB(p)
		if r.Code != "" {
			out = append(out, plan.RuleResult{Code: r.Code, Allows: allowed > 0, Message: r.Message})
		}
		return out
	}
	if len(p.Budgets) > 1 {
		r, _ := e.start.verdict.book.Allows(p, budget.Charges{})
		return append(out, plan.RuleResult{Code: r.Code, Message: r.Message})
	}
	r, ok := e.start.verdict.book.Allows(p, budget.Charges{})
	if ok {
		r = plan.Reason{Code: plan.BlockedByPDB, Message: e.start.verdict.book.Describe(p.Budgets[0])}
	}
	return append(out, plan.RuleResult{Code: r.Code, Allows: ok, Message: r.Message})
}

// limits as they stand before the pass, and what the plan uses of each.
func (e *Explainer) limits(p *cluster.Pod) []plan.RuleResult {
	out := []plan.RuleResult{}
	used := e.done.limits.allowances(p.ID)
	for i, a := range e.start.limits.allowances(p.ID) {
		out = append(out, plan.RuleResult{Code: a.code, Allows: a.left() > 0, Message: fmt.Sprintf("%s allows %s%s; the plan uses %d", a.what(), a.allows(), a.took(), used[i].planned)})
	}
	return out
}
