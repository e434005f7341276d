package report

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// explainTable writes explanations.
type explainTable struct{ *table }

func (t explainTable) explain(e plan.Explanation) {
	if e.Subject.Kind == "Pod" && len(e.Pods) == 1 {
		t.explainPod(e.Pods[0], e.Blocks)
		return
	}
	t.line("%s, as of %s.", safe(e.Subject.String()), e.TakenAt.Format(timeLayout))
	t.blocks(e.Blocks)
	t.nodeStatus(e.Node)
	t.goalStatuses(e.Goals, false, "No goal covers it.")
	t.requests(e.Requests)
	t.podLines(e.Pods)
	if t.wide {
		for _, p := range e.Pods {
			t.line("")
			t.explainPod(p, nil) // t.blocks wrote them above
		}
	}
}

// podLines writes one line for each pod.
func (t explainTable) podLines(pods []plan.PodExplanation) {
	if len(pods) == 0 {
		t.line("")
		t.line("It has no pods.")
		return
	}
	g := columns("POD", "NODE", "VERDICT")
	for _, p := range pods {
		g.row(safe(p.Pod.String()), orDash(safe(p.Node)), verdictText(p))
	}
	t.section("Pods", g, t.limit(40))
}

func verdictText(p plan.PodExplanation) string {
	if p.Move != nil {
		return fmt.Sprintf("would be moved to %s: %s", safe(p.Move.To), reasonText(p.Verdict))
	}
	return "stays: " + reasonText(p.Verdict)
}

// explainPod explains one pod: the verdict and the blocks, and then the goals, guards,
// budgets, limits and nodes behind the verdict.
func (t explainTable) explainPod(p plan.PodExplanation, blocks []plan.EvictionBlock) {
	location := "on no node"
	if p.Node != "" {
		location = "on " + safe(p.Node)
	}
	t.line("Pod %s %s, of %s.", safe(p.Pod.String()), location, ownerText(p))
	t.podVerdict(p)
	t.blocks(blocks)
	t.goalStatuses(p.Goals, true, "No goal covers it: no strategy selects it on its node.")
	t.requests(p.Requests)
	t.checks("Guards", "guard", p.Guards)
	t.checks("Budgets", "budget", p.Budgets)
	if len(p.Budgets) == 0 {
		t.line("")
		t.line("No budget covers it.")
	}
	t.checks("Limits, before any move", "limit", p.Limits)
	t.landing(p)
}

// helpfulTargets says where the replacement of a move lands, and how likely that helps.
func helpfulTargets(m *plan.Move) string {
	if m.DisplacedFor != nil {
		return harmlessTargets(m)
	}
	if m.Acceptable.Nodes == 1 {
		return fmt.Sprintf("%s, the only node where it helps, with probability %s.", safe(m.To), percent(m.Confidence))
	}
	return fmt.Sprintf("%s; probability %s that it lands on one of the %d nodes where it helps.", safe(m.To), percent(m.Confidence),
		m.Acceptable.Nodes)
}

// harmlessTargets says where the replacement of a displaced pod lands, and how likely
// that makes no goal worse.
func harmlessTargets(m *plan.Move) string {
	nodes := "the only such node"
	if m.Acceptable.Nodes != 1 {
		nodes = fmt.Sprintf("%d such nodes", m.Acceptable.Nodes)
	}
	return fmt.Sprintf("%s; probability %s that it lands where it makes no goal worse (%s).", safe(m.To), percent(m.Confidence), nodes)
}

// ownerText names the workload of a pod. A bare pod has none.
func ownerText(p plan.PodExplanation) string {
	if p.Owner.Kind == "Pod" {
		return "no workload"
	}
	return safe(p.Owner.String())
}

func (t explainTable) podVerdict(p plan.PodExplanation) {
	if m := p.Move; m != nil {
		t.line("%s", t.paint(green, fmt.Sprintf("It would be moved in step %d, wave %d: %s.", m.Step, m.Wave, reasonText(p.Verdict))))
		t.line("Its replacement is predicted on %s", helpfulTargets(m))
		return
	}
	t.line("%s", t.paint(yellow, "It stays: "+reasonText(p.Verdict)+"."))
	if p.NotNeeded != "" && len(p.Goals) > 0 {
		t.line("No goal needs it to leave: %s.", safe(p.NotNeeded))
	}
	if p.OnlyObstacle {
		t.line("This is the only obstacle: without it the pod would be moved.")
	}
}

// goalStatuses writes goals. For a pod it adds whether evicting the pod helps them.
func (t explainTable) goalStatuses(goals []plan.GoalStatus, ofPod bool, none string) {
	if len(goals) == 0 {
		t.line("")
		t.line("%s", none)
		return
	}
	heads := []string{"GOAL", "STRATEGY", "NOW", "AFTER THE PLAN"}
	if ofPod {
		heads = append(heads, "AN EVICTION")
	}
	g := columns(heads...)
	for _, v := range goals {
		cells := []string{goalText(v.Goal), safe(v.Goal.Strategy), excess(v.Goal, v.Goal.Excess), excess(v.Goal, v.ExcessAfter)}
		if ofPod {
			cells = append(cells, helpText(v))
		}
		g.row(cells...)
	}
	t.section("Goals", g, t.limit(maxLines))
}

func helpText(v plan.GoalStatus) string {
	switch {
	case v.WaitReason != "":
		return "waits: " + safe(v.WaitReason)
	case v.Constraint:
		return "is not tried: the strategy is not due"
	case v.EvictionHelps:
		return "would help"
	case v.Goal.Excess <= tiny:
		return "is not needed"
	}
	return "would not help"
}

func (t explainTable) requests(list []string) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("Requested by annotations and labels")
	for _, r := range list {
		t.line("  %s", safe(r))
	}
}

// checks writes every rule that refuses the eviction, and counts those that allow it.
// The wide form writes all rules.
func (t explainTable) checks(title, noun string, list []plan.RuleResult) {
	if len(list) == 0 {
		return
	}
	allow := []plan.Code{}
	g := columns("ALLOWS", "CODE", "WHY")
	for _, c := range list {
		if c.Allows && !t.wide && c.Message == "" {
			allow = append(allow, c.Code)
			continue
		}
		g.row(yesNo(c.Allows), safe(string(c.Code)), orDash(safe(c.Message)))
	}
	if len(g.rows) > 0 {
		t.section(title, g, 0)
	} else {
		t.line("")
		t.line("%s", title)
	}
	if len(allow) == len(list) {
		t.line("  all %d allow the eviction (-o wide lists them)", len(allow))
	} else if len(allow) > 0 {
		t.line("  %s %s the eviction (-o wide lists them)", count(len(allow), "other "+noun), allowVerb(len(allow)))
	}
}

func allowVerb(n int) string {
	if n == 1 {
		return "allows"
	}
	return "allow"
}

func yesNo(allows bool) string {
	if allows {
		return "yes"
	}
	return "NO"
}

func (t explainTable) landing(p plan.PodExplanation) {
	l := p.Landing
	if l.UnknownReason == "" && len(l.Nodes) == 0 {
		return
	}
	if l.UnknownReason != "" {
		t.line("")
		t.line("The landing of its replacement cannot be predicted: %s.", safe(l.UnknownReason))
		return
	}
	g := columns("NODE", "ZONE", ">PROBABILITY", "HELPS THERE", "WHY")
	for _, n := range l.Nodes {
		helps := "no"
		switch {
		case n.Name == p.Node:
			helps = "no: it is here"
		case n.Acceptable:
			helps = "yes"
		case n.WorsenedGoal != nil:
			helps = "no: " + goalText(n.WorsenedGoal.Goal) + " would be " + excess(n.WorsenedGoal.Goal, n.WorsenedGoal.ExcessAfter)
		}
		g.row(safe(n.Name), orDash(safe(n.Zone)), percent(n.Probability), helps, safe(n.Detail))
	}
	t.section("Where its replacement would land now, before any other move", g, t.limit(12))
	if l.Steer != "" {
		names := make([]string, len(l.HintedNodes))
		for i, n := range l.HintedNodes {
			names[i] = safe(n)
		}
		t.line("  These probabilities assume a %s on %s.", safe(l.Steer), strings.Join(names, ", "))
	}
	if l.PendingProbability > 0 {
		t.line("  Probability that it stays Pending: %s.", percent(l.PendingProbability))
	}
	if l.Verdict.Code != "" {
		t.line("  This landing is not acceptable: %s.", reasonText(l.Verdict))
	}
}

// limit returns n, or 0 (no limit) for the wide form.
func (t explainTable) limit(n int) int {
	if t.wide {
		return 0
	}
	return n
}

// nodeStatus writes whether a node is in scope and takes pods, its usage and its hint.
func (t explainTable) nodeStatus(n *plan.NodeStatus) {
	if n == nil {
		return
	}
	zone, scope, state, color := "in zone "+safe(n.Zone), "in scope", "takes pods", plain
	if n.Zone == "" {
		zone = "in no zone"
	}
	if !n.InScope {
		scope, color = "not in scope (nodeSelector), so its pods stay", yellow
	}
	if len(n.State) > 0 {
		state, color = safe(strings.Join(n.State, ", ")), yellow
	}
	text := "The node is " + zone + ", " + scope + "; it "
	if len(n.State) > 0 {
		text += "is "
	}
	t.line("%s", t.paint(color, text+state+"."))
	var used []string
	for _, r := range sortedKeys(n.Used) {
		used = append(used, percent(n.Used[r])+" of its "+safe(r))
	}
	if len(used) > 0 {
		t.line("The node uses %s.", strings.Join(used, ", "))
	}
	if h := n.Hint; h != nil {
		cause := ""
		if h.Rule != "" {
			cause = " (" + safe(strings.Join(hintRules(*h), ", ")) + "; " + safe(h.Rule) + " at " + number(h.Value) + ")"
		}
		t.line("Pressure hint%s: %s.", cause, hintStateText(*h))
	}
}
