package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// explainTable writes explanations.
type explainTable struct {
	out *table
	// landingNodes is the number of nodes that are listed for a replacement; 0 means all in the wide form.
	landingNodes int
}

func (t explainTable) writeExplanation(e plan.Explanation) {
	if e.Subject.Kind == "Pod" && len(e.Pods) == 1 {
		t.writePodExplanation(e.Pods[0], e.Blocks, e.TakenAt)
		return
	}
	t.out.addLine("%s, as of %s.", escape(e.Subject.String()), e.TakenAt.Format(timeLayout))
	t.out.writeBlocks(e.Blocks, e.TakenAt)
	t.writeNodeStatus(e.Node)
	t.writeGoalStatuses(e.Goals, nil, "No goal covers it.")
	t.writeRequests(e.Requests)
	t.writePodLines(e.Pods)
	if t.out.wide {
		for _, p := range e.Pods {
			t.out.addLine("")
			t.writePodExplanation(p, nil, e.TakenAt) // t.blocks wrote them above
		}
	}
}

// writePodLines writes one line for each pod.
func (t explainTable) writePodLines(pods []plan.PodExplanation) {
	if len(pods) == 0 {
		t.out.addLine("")
		t.out.addLine("It has no pods.")
		return
	}
	g, leaving := layout.NewGrid("POD", "NODE", "~VERDICT"), []bool{}
	for _, p := range pods {
		g.Add(escape(p.Pod.String()), orDash(escape(p.Node)), verdictText(p))
		leaving = append(leaving, p.Move != nil)
	}
	t.out.addSection(moveRank, layout.Section{Title: "Pods", Grid: g, Keep: maxShortMoves,
		Order: orderBy(g.Len(), func(a, b int) int { return compareBool(leaving[b], leaving[a]) })})
}

func verdictText(p plan.PodExplanation) string {
	if p.Move != nil && p.Move.Removal != "" {
		return fmt.Sprintf("has ended and would be removed by %s: %s", escape(string(p.Move.Removal)), reasonText(p.Verdict))
	}
	if p.Move != nil && p.Move.WithoutPlace() {
		return fmt.Sprintf("would be moved without a predicted place: %s", reasonText(p.Verdict))
	}
	if p.Move == nil && len(p.Proposed) > 0 {
		return proposedMoveText(p.Proposed[0])
	}
	if p.Move != nil {
		return fmt.Sprintf("would be moved to %s: %s", escape(p.Move.To), reasonText(p.Verdict))
	}
	return "stays: " + reasonText(p.Verdict)
}

// writePodExplanation explains one pod: the verdict and the blocks, and then the goals, guards,
// budgets, limits and nodes behind the verdict.
func (t explainTable) writePodExplanation(p plan.PodExplanation, blocks []plan.EvictionBlock, at time.Time) {
	location := "on no node"
	if p.Node != "" {
		location = "on " + escape(p.Node)
	}
	t.out.addLine("Pod %s %s, of %s.", escape(p.Pod.String()), location, ownerText(p))
	t.writePodVerdict(p)
	t.writeProposedMoves(p.Proposed)
	t.out.writeBlocks(blocks, at)
	t.writeGoalStatuses(p.Goals, &p, noGoalText(p))
	t.writeNoGoal(p)
	t.writeRequests(p.Requests)
	t.writeRules("Guards", "guard", p.Guards)
	t.writeRules("Budgets", "budget", p.Budgets)
	switch {
	case len(p.Budgets) > 0:
	case hasEnded(p):
		t.out.addLine("")
		t.out.addLine("Budgets do not count it, because it has ended.")
	default:
		t.out.addLine("")
		t.out.addLine("No budget covers it.")
	}
	t.writeRules("Limits"+judgedForText(p), "limit", p.Limits)
	t.writeStrategyResults(p.Strategies)
	t.writeLanding(p)
}

// hasEnded reports whether the pod has ended and no strategy removes it.
func hasEnded(p plan.PodExplanation) bool {
	return slices.ContainsFunc(p.Guards, func(r plan.RuleResult) bool { return r.Code == plan.PodTerminal && !r.Allows })
}

// noGoalText says why no goal covers a pod.
func noGoalText(p plan.PodExplanation) string {
	switch {
	case !hasEnded(p) && len(p.NoGoal) > 0:
		return "No goal covers it: what a strategy needs to know is unknown (below)."
	case !hasEnded(p):
		return "No goal covers it: no strategy selects it on its node."
	case len(p.NoGoal) > 0:
		return "No goal covers it: it has ended, and no strategy removes it."
	}
	return "No goal covers it: it has ended, and no strategy FailedPods or Lifetime is configured, which could remove it."
}

// writeNoGoal writes one line for each strategy that could remove a pod that has ended, but does not, or that knows too
// little about the node of another pod.
func (t explainTable) writeNoGoal(p plan.PodExplanation) {
	if len(p.NoGoal) == 0 {
		return
	}
	title, why := "Strategies without data", "~WHAT IS UNKNOWN"
	if hasEnded(p) {
		title, why = "Strategies that remove pods that have ended", "~WHY IT DOES NOT REMOVE THE POD"
	}
	g := layout.NewGrid("STRATEGY", why)
	for _, m := range p.NoGoal {
		g.Add(escape(m.Strategy), escape(m.Message))
	}
	t.out.addSection(strategyRank, layout.Section{Title: title, Grid: g})
}

// judgedForText names the mode of the strategies for which limits and landing are judged. It returns "" for automatic
// ones.
func judgedForText(p plan.PodExplanation) string {
	if p.JudgedFor == "" {
		return ""
	}
	return " for strategies in mode " + escape(string(p.JudgedFor))
}

// writeStrategyResults writes one line for each strategy with rules of its own.
func (t explainTable) writeStrategyResults(results []plan.StrategyResult) {
	if len(results) == 0 {
		return
	}
	g := layout.NewGrid("STRATEGY", "~ITS OWN RULES")
	for _, r := range results {
		var says []string
		if r.Allows {
			says = append(says, "allow the move")
		} else {
			says = append(says, reasonText(plan.Reason{Code: r.Reason.Code,
				Message: strings.TrimPrefix(r.Reason.Message, "strategy "+r.Strategy+": ")}))
		}
		for _, l := range r.Limits {
			says = append(says, reasonText(plan.Reason{Code: l.Code, Message: strings.TrimPrefix(l.Message, "strategy "+r.Strategy+": ")}))
		}
		if r.Soft {
			says = append(says, "soft")
		}
		g.Add(escape(r.Strategy), strings.Join(says, "; "))
	}
	t.out.addSection(strategyRank, layout.Section{Title: "Strategies with rules of their own", Grid: g})
}

// targetsText describes the predicted nodes of a replacement and the confidence. The replacement of a displaced pod
// need not help any goal; it must not make one worse.
func targetsText(m *plan.Move) string {
	to, confidence, nodes := escape(m.To), percent.Of(m.Confidence), m.Acceptable.Nodes
	switch {
	case m.DisplacedFor != nil && nodes == 1:
		return fmt.Sprintf("%s; probability %s that it lands where it makes no goal worse (the only such node).", to, confidence)
	case m.DisplacedFor != nil:
		return fmt.Sprintf("%s; probability %s that it lands where it makes no goal worse (%d such nodes).", to, confidence, nodes)
	case nodes == 1:
		return fmt.Sprintf("%s, the only node where it helps, with probability %s.", to, confidence)
	}
	return fmt.Sprintf("%s; probability %s that it lands on one of the %d nodes where it helps.", to, confidence, nodes)
}

// ownerText names the workload of a pod. A bare pod has none.
func ownerText(p plan.PodExplanation) string {
	if p.Owner.Kind == "Pod" {
		return "no workload"
	}
	return escape(p.Owner.String())
}

func (t explainTable) writePodVerdict(p plan.PodExplanation) {
	if m := p.Move; m != nil && m.Removal != "" {
		t.out.addText(green, fmt.Sprintf("It has ended and would be removed by %s in step %d, wave %d: %s.",
			escape(string(m.Removal)), m.Step, m.Wave, reasonText(p.Verdict)))
		return
	}
	if m := p.Move; m != nil {
		t.out.addText(green, fmt.Sprintf("It would be moved in step %d, wave %d: %s.", m.Step, m.Wave, reasonText(p.Verdict)))
		if m.WithoutPlace() {
			t.out.addLine("No place is predicted for its replacement, which may stay Pending (probability %s). The strategy accepts that (landing: notRequired).",
				percent.Of(m.PendingProbability))
			return
		}
		t.out.addLine("Its replacement is predicted on %s", targetsText(m))
		return
	}
	if len(p.Proposed) > 0 {
		return // writeProposedMoves says who decides
	}
	t.out.addText(yellow, "It stays: "+reasonText(p.Verdict)+".")
	if p.NotNeeded != "" && len(p.Goals) > 0 {
		t.out.addLine("Without this rule, it would stay too: %s.", escape(p.NotNeeded))
	}
	if p.OnlyObstacle {
		t.out.addLine("No other rule keeps the pod here. Without this one, a new plan may move it, or other pods instead.")
	}
}

// writeGoalStatuses writes goals. For a pod it adds whether evicting the pod helps each goal.
func (t explainTable) writeGoalStatuses(goals []plan.GoalStatus, pod *plan.PodExplanation, none string) {
	if len(goals) == 0 {
		t.out.addLine("")
		t.out.addLine("%s", none)
		return
	}
	heads := []string{"=GOAL", "STRATEGY", "NOW", "AFTER THE PLAN"}
	if pod != nil {
		heads = append(heads, "~AN EVICTION")
	}
	g := layout.NewGrid(heads...)
	for _, v := range goals {
		cells := []string{goalText(v.Goal), strategyText(v), excessText(v.Goal, v.Goal.Excess), excessText(v.Goal, v.ExcessAfter)}
		if pod != nil {
			cells = append(cells, helpText(v, pod.Proposed))
		}
		g.Add(cells...)
	}
	t.out.addSection(goalRank, layout.Section{Title: "Goals", Grid: g, Keep: 3})
}

// helpText says whether the goal needs the eviction of a pod. A person can approve it, or see it, only if it is
// proposed.
func helpText(v plan.GoalStatus, proposed []plan.ProposedMove) string {
	isProposed := v.EvictionHelps && slices.ContainsFunc(proposed, func(m plan.ProposedMove) bool { return m.Mode == v.Mode })
	switch {
	case v.Mode == plan.ShowOnly && isProposed:
		return "would help (only shown)"
	case v.Mode == plan.Approve && isProposed:
		return "would help (waits for approval)"
	case v.WaitReason != "" && v.Goal.Excess <= tiny:
		return "is not needed"
	case v.WaitReason != "":
		return "waits: " + escape(v.WaitReason)
	case v.LimitsOnly:
		return "is not asked for: the goal only limits landings"
	case v.Constraint:
		return "is not tried: the strategy is not due"
	case v.EvictionHelps:
		return "would help"
	case v.Goal.Excess <= tiny:
		return "is not needed"
	}
	return "would not help"
}

func (t explainTable) writeRequests(list []string) {
	g := layout.NewGrid("~")
	for _, r := range list {
		g.Add(escape(r))
	}
	t.out.addSection(pressureRank, layout.Section{Title: "Requested by annotations and labels", Grid: g})
}

// writeRules writes every rule that refuses the eviction, and the number of rules that allow it. The wide form writes
// all rules.
func (t explainTable) writeRules(title, noun string, list []plan.RuleResult) {
	if len(list) == 0 {
		return
	}
	hidden := 0
	g, allows := layout.NewGrid("ALLOWS", "CODE", "~WHY"), []bool{}
	for _, c := range list {
		if c.Allows && !t.out.wide && c.Message == "" {
			hidden++
			continue
		}
		answer := "NO"
		switch {
		case c.UsedUp:
			answer = "used up"
		case c.Allows:
			answer = "yes"
		}
		allows = append(allows, c.Allows)
		g.Add(answer, escape(string(c.Code)), orDash(escape(c.Message)))
	}
	s := layout.Section{Title: title, Grid: g, Keep: 4,
		Order: orderBy(g.Len(), func(a, b int) int { return compareBool(allows[a], allows[b]) })}
	if hidden == len(list) {
		s.Grid, s.Order = layout.NewGrid("~"), nil
		s.Grid.Add(fmt.Sprintf("all %d allow the eviction (-o wide lists them)", hidden))
	} else if hidden > 0 {
		s.Notes = []string{fmt.Sprintf("%s %s the eviction (-o wide lists them)", plural.Count(hidden, "other "+noun), plural.Choose(hidden, "allows", "allow"))}
	}
	t.out.addSection(rejectionRank, s)
}

// maxLandingNodes is the number of nodes that the short form shows for a replacement. The likeliest come first.
const maxLandingNodes = 12

func (t explainTable) writeLanding(p plan.PodExplanation) {
	l := p.Landing
	if l.UnknownReason != "" {
		t.out.addLine("")
		t.out.addLine("The landing of its replacement cannot be predicted: %s.", escape(l.UnknownReason))
		return
	}
	if len(l.Nodes) == 0 {
		return
	}
	g := layout.NewGrid("NODE", "ZONE", ">PROBABILITY", "~HELPS THERE", "~WHY")
	for _, n := range l.Nodes {
		helps := "no"
		switch {
		case n.Name == p.Node && n.Acceptable:
			helps = "yes: the goal is about the pod, not about its node"
		case n.Name == p.Node:
			helps = "no: it is here"
		case n.Acceptable:
			helps = "yes"
		case n.WorsenedGoal != nil && n.WorsenedGoal.Goal.Kind == plan.NoLowerRank:
			helps = "no: strategy " + escape(n.WorsenedGoal.Goal.Strategy) + " would move it back"
		case n.WorsenedGoal != nil:
			helps = "no: " + goalText(n.WorsenedGoal.Goal) + " would be " + excessText(n.WorsenedGoal.Goal, n.WorsenedGoal.ExcessAfter)
		}
		g.Add(escape(n.Name), orDash(escape(n.Zone)), percent.Of(n.Probability), helps, escape(n.Detail))
	}
	before := ", before any other move"
	if p.JudgedFor != "" {
		before = judgedForText(p) + ", after the moves of automatic strategies"
	}
	s := layout.Section{Title: "Where its replacement would land now" + before, Grid: g, Keep: 3}
	if most := t.landingNodes; most > 0 || !t.out.wide {
		most = cmp.Or(most, maxLandingNodes)
		s.Hidden = max(0, g.Len()-most)
		g.Cut(most)
	}
	if l.Steer != "" {
		s.Notes = append(s.Notes, fmt.Sprintf("These probabilities assume a %s on %s.", escape(l.Steer), escape(strings.Join(l.HintedNodes, ", "))))
	}
	if l.PendingProbability > 0 {
		s.Notes = append(s.Notes, "Probability that it stays Pending: "+percent.Of(l.PendingProbability)+".")
	}
	if l.Rule == plan.LandingNotRequired {
		s.Notes = append(s.Notes, "No place is predicted, and a strategy needs none (landing: notRequired).")
	}
	if l.Verdict.Code != "" {
		s.Notes = append(s.Notes, "This landing is not acceptable: "+reasonText(l.Verdict)+".")
	}
	t.out.addSection(outcomeRank, s)
}

// writeNodeStatus writes whether a node is in scope and takes pods, its usage and its hint.
func (t explainTable) writeNodeStatus(n *plan.NodeStatus) {
	if n == nil {
		return
	}
	zone, scope, state, color := "in zone "+escape(n.Zone), "in scope", "takes pods", plain
	if n.Zone == "" {
		zone = "in no zone"
	}
	if !n.InScope {
		scope, color = "not in scope (nodeSelector), so its pods stay", yellow
	}
	if len(n.State) > 0 {
		state, color = "is "+escape(strings.Join(n.State, ", ")), yellow
	}
	t.out.addText(color, "The node is "+zone+", "+scope+"; it "+state+".")
	var used []string
	for _, r := range sortedKeys(n.Used) {
		used = append(used, percent.Of(n.Used[r])+" of its "+escape(r))
	}
	if len(used) > 0 {
		t.out.addLine("The node uses %s.", strings.Join(used, ", "))
	}
	if h := n.Hint; h != nil {
		cause := ""
		if h.Rule != "" {
			cause = " (" + escape(strings.Join(hintRules(*h), ", ")) + "; " + escape(h.Rule) + " at " + number(h.Value) + ")"
		}
		t.out.addLine("Pressure hint%s: %s.", cause, hintStateText(*h))
	}
}
