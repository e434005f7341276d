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
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Explainer explains why pods move or stay. Explanations contain the moves of the plan that the planner makes now,
// and the result of every rule for the current cluster.
type Explainer struct {
	automatic explainedMode
	// stated holds the goals of all strategies in the snapshot, and after the same goals after the plan.
	stated, after *goal.Tracker
	proposals     []explainedMode
}

// Explain makes the plan once. The Explainer can then explain many pods.
func (p *Planner) Explain(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Explainer {
	e := &Explainer{automatic: explainMode(plan.Automatic, automaticProblem(&p.opts, s, st, goals, now))}
	e.stated, e.after = e.automatic.start.End.Goals, e.automatic.done.End.Goals
	if hasOtherModes(goals) {
		p.explainModes(e, goals)
	}
	return e
}

// Pod explains one pod.
func (e *Explainer) Pod(id cluster.PodID) plan.Explanation {
	p := &e.automatic.start.Snapshot.Pods[id]
	x := e.explanation(plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: p.Object.Namespace, Name: p.Object.Name,
		UID: string(p.Object.UID)})
	x.Pods = append(x.Pods, e.pod(id))
	return x
}

// Node explains a node: the goals about it, and each of its pods.
func (e *Explainer) Node(id cluster.NodeID) plan.Explanation {
	s := e.automatic.start.Snapshot
	n := &s.Nodes[id]
	x := e.explanation(plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: string(n.Object.UID)})
	x.Node = describeNode(e.automatic.start, n)
	for g, goal := range e.stated.Goals {
		if (goal.Kind == plan.NodeBelow || goal.Kind == plan.NodeEmpty) && goal.Node == id {
			x.Goals = append(x.Goals, e.goal(g, false))
		}
	}
	x.Requests = append(x.Requests, annotation.DescribeNode(n)...)
	if p, _ := annotation.KeepsNode(s, n); p != nil {
		x.Requests = append(x.Requests, fmt.Sprintf("pod %s/%s: %s (Karpenter keeps the node, so NodeConsolidation does not empty it)",
			p.Object.Namespace, p.Object.Name, annotation.KarpenterNoDisrupt))
	}
	for _, pod := range n.Pods {
		x.Pods = append(x.Pods, e.pod(pod))
	}
	return x
}

// Workload explains a workload: the goals that contain any of its pods, and each pod.
func (e *Explainer) Workload(id cluster.WorkloadID) plan.Explanation {
	s := e.automatic.start.Snapshot
	w := &s.Workloads[id]
	x := e.WorkloadWithoutPods(w)
	for g, goal := range e.stated.Goals {
		if (goal.Kind == plan.SkewAtMost || goal.Kind == plan.CountAtMost) && slices.ContainsFunc(goal.Pods, func(p cluster.PodID) bool { return s.Pods[p].Workload == id }) {
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

// WorkloadWithoutPods explains a workload that has no pods, so that no goal contains it.
func (e *Explainer) WorkloadWithoutPods(w *cluster.Workload) plan.Explanation {
	return e.explanation(plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID})
}

func (e *Explainer) explanation(subject plan.ObjectRef) plan.Explanation {
	return plan.Explanation{APIVersion: plan.APIVersion, Kind: "Explanation", TakenAt: e.automatic.start.Snapshot.TakenAt.UTC(),
		Subject: subject, Blocks: summary.Blocks(e.automatic.start),
		Goals: []plan.GoalStatus{}, Requests: []string{}, Pods: []plan.PodExplanation{}}
}

func (e *Explainer) goal(g int, evictionHelps bool) plan.GoalStatus {
	goal := e.stated.Goals[g]
	goal.Excess = e.stated.ReportedExcess(g)
	out := plan.GoalStatus{Goal: goal, EvictionHelps: evictionHelps, Constraint: goal.Constraint,
		WaitReason: goal.Wait.Message, ExcessAfter: e.after.ReportedExcess(g), LimitsOnly: e.limitsOnly(&goal)}
	if goal.Mode != plan.Automatic {
		out.Mode = goal.Mode
	}
	return out
}

func (e *Explainer) pod(id cluster.PodID) plan.PodExplanation {
	s := e.automatic.start.Snapshot
	p := &s.Pods[id]
	x := plan.PodExplanation{Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(s, p),
		Requests: append([]string{}, annotation.DescribePod(s, p, e.automatic.start.Options.Guards.TimeZone)...)}
	x.Guards, x.Budgets = e.guards(p), e.budgets(p)
	x.Goals, x.Limits, x.Landing = []plan.GoalStatus{}, []plan.RuleResult{}, plan.Landing{Nodes: []plan.TargetNode{}}
	x.Node = p.Object.Spec.NodeName
	if p.Node != cluster.NoNode && !p.Terminal {
		x.Goals, x.Strategies = e.goals(p), e.strategies(p)
		of := e.judge(p.ID, x.Goals)
		if of.mode != plan.Automatic {
			x.JudgedFor = of.mode
		}
		x.Limits, x.Landing = e.limits(p, of), of.landing(p)
	}
	if p.Terminal {
		x.Budgets = []plan.RuleResult{} // budgets do not count it
	}
	if p.Node != cluster.NoNode && p.Terminal {
		if x.Goals = e.goalsAboutEndedPod(p); len(x.Goals) > 0 {
			of := e.judge(p.ID, x.Goals)
			x.Limits, x.Strategies = e.limits(p, of), e.strategies(p)
		}
	}
	e.setVerdict(p, &x)
	x.Proposed = e.proposedMoves(id)
	return x
}

// setVerdict sets what happens to the pod, whether a single obstacle prevents its move, and whether a goal needs its
// eviction.
func (e *Explainer) setVerdict(p *cluster.Pod, x *plan.PodExplanation) {
	if m, moved := e.automatic.moves[p.ID]; moved {
		x.Move, x.Verdict = &m, m.Reason
		return
	}
	if !slices.ContainsFunc(x.Goals, func(g plan.GoalStatus) bool { return g.EvictionHelps }) {
		x.Landing.Verdict = plan.Reason{} // no goal needs the pod to leave, so no target can help
	}
	reason, refused := e.rejection(p.ID)
	guarded := slices.IndexFunc(x.Guards, func(c plan.RuleResult) bool { return !c.Allows })
	switch {
	case refused:
		x.Verdict = reason
	case guarded >= 0:
		x.Verdict = plan.Reason{Code: x.Guards[guarded].Code, Message: x.Guards[guarded].Message}
		x.NotNeeded = e.notNeededMessage(p.ID, x.Goals)
	case len(helpedGoals(x.Goals, "")) == 0 && e.waitOf(p).Code != "":
		x.Verdict = e.waitOf(p)
	default:
		x.Verdict = plan.Reason{Code: plan.NotNeeded, Message: e.notNeededMessage(p.ID, x.Goals)}
	}
	inTheWay := currentRejections(x)
	x.OnlyObstacle = refused && len(inTheWay) == 1 && inTheWay[0].Code == x.Verdict.Code && x.Landing.Verdict.Code == ""
}

// waitOf describes a goal that the eviction would improve but that still waits, or returns the zero value.
func (e *Explainer) waitOf(p *cluster.Pod) (why plan.Reason) {
	if p.Node == cluster.NoNode || p.Terminal {
		return plan.Reason{}
	}
	t := e.stated
	t.EachAffected(p.ID, p.Node, cluster.NoNode, func(g int) bool {
		if wait := t.Goals[g].Wait; wait.Code != "" && t.Excess(g) > 0 && t.CouldImprove(g, p.ID, p.Node) {
			why = plan.Reason{Code: wait.Code, Message: fmt.Sprintf("evicting the pod would help, but its strategy does not request it yet: %s is %s (%s)",
				t.Goals[g].Subject.Name, wait.Message, t.Goals[g].Resource)}
		}
		return why.Code == ""
	})
	return why
}

// currentRejections returns the reasons of all rules that reject the pod now.
func currentRejections(x *plan.PodExplanation) []plan.Reason {
	var out []plan.Reason
	for _, c := range slices.Concat(x.Guards, x.Budgets, x.Limits) {
		if !c.Allows {
			out = append(out, plan.Reason{Code: c.Code, Message: c.Message})
		}
	}
	if x.Landing.Verdict.Code != "" {
		out = append(out, x.Landing.Verdict)
	}
	return out
}

// goals returns the status of the goals that the pod can affect, with or without excess.
func (e *Explainer) goals(p *cluster.Pod) []plan.GoalStatus {
	out := []plan.GoalStatus{}
	t := e.stated
	t.EachAffected(p.ID, p.Node, cluster.NoNode, func(g int) bool {
		if t.Goals[g].Kind == plan.NoLowerRank {
			return true // worsenedGoal names it
		}
		helps := t.Asks(g, p.ID) && t.Excess(g) > 0 && t.CouldImprove(g, p.ID, p.Node)
		out = append(out, e.goal(g, helps))
		return true
	})
	return out
}

// goalsAboutEndedPod returns the status of the goals that a pod that has ended is removed.
func (e *Explainer) goalsAboutEndedPod(p *cluster.Pod) []plan.GoalStatus {
	out := []plan.GoalStatus{}
	t := e.stated
	t.EachAffected(p.ID, cluster.NoNode, cluster.NoNode, func(g int) bool {
		if t.Goals[g].Removal != "" {
			out = append(out, e.goal(g, t.Asks(g, p.ID) && t.Excess(g) > 0))
		}
		return true
	})
	return out
}

func (e *Explainer) guards(p *cluster.Pod) []plan.RuleResult {
	in := e.automatic.start.Account.Eligibility.GuardInput(p)
	if !p.Terminal || in.RemovesEnded {
		return guard.CheckAll(in)
	}
	// Guards for running pods say nothing about a pod that has ended. The others would hold if a strategy removed it.
	isTerminal := func(r plan.RuleResult) bool { return r.Code == plan.PodTerminal }
	ended := slices.DeleteFunc(guard.CheckAll(in), func(r plan.RuleResult) bool { return !isTerminal(r) })
	in.RemovesEnded = true
	return append(ended, slices.DeleteFunc(guard.CheckAll(in), isTerminal)...)
}

// budgets returns the results of two rules: the back-off of the pod's workload, and the budget that covers the pod.
func (e *Explainer) budgets(p *cluster.Pod) []plan.RuleResult {
	out := []plan.RuleResult{}
	if r, rests := e.automatic.start.Account.Eligibility.BackedOff(p); rests {
		out = append(out, plan.RuleResult{Code: r.Code, Message: r.Message})
	}
	if len(p.Budgets) == 0 {
		r, allowed := e.automatic.start.Account.Eligibility.AllowanceWithoutPDB(p)
		if r.Code != "" {
			out = append(out, plan.RuleResult{Code: r.Code, Allows: allowed > 0, Message: r.Message})
		}
		return out
	}
	r, ok := e.automatic.start.Account.Eligibility.Budgets.Allows(p, budget.Charges{})
	if ok {
		r = plan.Reason{Code: plan.BlockedByPDB, Message: e.automatic.start.Account.Eligibility.Budgets.Describe(p.Budgets[0])}
		if e.automatic.start.Account.Eligibility.RequestOnly(p) != "" {
			r.Message += "; the operator of the pod moves it when it sees the request, so the request may be sent in spite of the budget"
		}
	}
	return append(out, plan.RuleResult{Code: r.Code, Allows: ok, Message: r.Message})
}

// limits returns the state of the limits before the moves of a search, and how much of each they use.
func (e *Explainer) limits(p *cluster.Pod, of explainedMode) []plan.RuleResult {
	_, moved := of.moves[p.ID]
	return compareLimits(p, of.start.Account.Limits, of.done.Account.Limits, moved, of.mode)
}

// compareLimits returns the state of the limits of one counter, and how much of each the moves of the mode use. The
// parameter moved says whether they include the pod.
func compareLimits(p *cluster.Pod, start, done *limits.Counter, moved bool, mode plan.StrategyMode) []plan.RuleResult {
	out := []plan.RuleResult{}
	used := done.Allowances(p.ID)
	for i, a := range start.Allowances(p.ID) {
		uses := fmt.Sprintf("the plan uses %d", used[i].Planned)
		if mode != plan.Automatic {
			uses = fmt.Sprintf("the automatic moves use %d, those of mode %s %d", a.Planned, mode, used[i].Planned-a.Planned)
		}
		out = append(out, plan.RuleResult{Code: a.Code, Allows: a.Left() > 0,
			UsedUp:  !moved && a.Left() > 0 && used[i].Left() <= 0,
			Message: fmt.Sprintf("%s %s%s; %s", a.Name(), a.Description(), a.LastHour(), uses)})
	}
	return out
}

// describeNode returns the state of the node itself, without its pods.
func describeNode(c *search.Result, n *cluster.Node) *plan.NodeStatus {
	return &plan.NodeStatus{
		Zone: c.Account.Limits.Zones[n.ID], InScope: c.Options.Guards.Scope.HasNode(n), State: c.End.Targets.State(n),
		Used: summary.UsageOf(c, n), Hint: summary.HintOf(c, n.Name),
	}
}
