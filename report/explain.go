package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Explain writes e to w, as Plan does. Wide shows every rule and every node, and
// each pod of a node or workload in full.
func Explain(w io.Writer, format Format, e plan.Explanation, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := newTable(format, opts)
		t.explain(e)
		return t.flush(w)
	case JSON:
		return writeJSON(w, e, "  ")
	case YAML:
		return writeYAML(w, e)
	}
	_, err := ParseFormat(string(format))
	return err
}

func (t *table) explain(e plan.Explanation) {
	if e.Subject.Kind == "Pod" && len(e.Pods) == 1 {
		t.explainPod(e.Pods[0], e.Blocks)
		return
	}
	t.line("%s, as of %s.", safe(e.Subject.String()), e.TakenAt.Format(timeLayout))
	t.holds(e.Blocks)
	t.standing(e.Node)
	t.goalViews(e.Goals, false, "No goal is about it.")
	t.requests(e.Requests)
	t.podVerdicts(e.Pods)
	if t.wide {
		for _, p := range e.Pods {
			t.line("")
			t.explainPod(p, nil) // said above, once for all
		}
	}
}

// podVerdicts is one line for each pod.
func (t *table) podVerdicts(pods []plan.PodExplanation) {
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

// explainPod answers for one pod: the verdict and what keeps it from being acted on,
// then every goal, rule, budget, limit and node behind it.
func (t *table) explainPod(p plan.PodExplanation, holds []plan.EvictionBlock) {
	at := "on no node"
	if p.Node != "" {
		at = "on " + safe(p.Node)
	}
	t.line("Pod %s %s, of %s.", safe(p.Pod.String()), at, ownerText(p))
	t.podVerdict(p)
	t.holds(holds)
	t.goalViews(p.Goals, true, "It is part of no goal: no strategy looks at it where it is.")
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

// helpfulPlaces says where a move's replacement goes, and how surely that helps.
func helpfulPlaces(m *plan.Move) string {
	if m.DisplacedFor != nil {
		return harmlessPlaces(m)
	}
	if m.Acceptable.Nodes == 1 {
		return fmt.Sprintf("%s, the one node where it helps, with %s.", safe(m.To), percent(m.Confidence))
	}
	return fmt.Sprintf("%s; it lands on one of the %d nodes where it helps with %s.", safe(m.To), m.Acceptable.Nodes, percent(m.Confidence))
}

// ownerText names the workload; a bare pod is its own.
func ownerText(p plan.PodExplanation) string {
	if p.Owner.Kind == "Pod" {
		return "no workload"
	}
	return safe(p.Owner.String())
}

func (t *table) podVerdict(p plan.PodExplanation) {
	if m := p.Move; m != nil {
		t.line("%s", t.paint(green, fmt.Sprintf("It would be moved in step %d, wave %d: %s.", m.Step, m.Wave, reasonText(p.Verdict))))
		t.line("Its replacement is predicted on %s", helpfulPlaces(m))
		return
	}
	t.line("%s", t.paint(yellow, "It stays: "+reasonText(p.Verdict)+"."))
	if p.NotNeeded != "" && len(p.Goals) > 0 {
		t.line("Nothing asks for it to leave either: %s.", safe(p.NotNeeded))
	}
	if p.OnlyObstacle {
		t.line("Nothing else is in its way: without that it could be moved.")
	}
}

// goalViews shows goals; for a pod also whether its leaving would help them.
func (t *table) goalViews(goals []plan.GoalStatus, ofPod bool, none string) {
	if len(goals) == 0 {
		t.line("")
		t.line("%s", none)
		return
	}
	heads := []string{"GOAL", "STRATEGY", "NOW", "AFTER THE PLAN"}
	if ofPod {
		heads = append(heads, "ITS LEAVING")
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
		return "not asked for yet: " + safe(v.WaitReason)
	case v.Constraint:
		return "not asked for: the strategy is not due"
	case v.EvictionHelps:
		return "would help"
	case v.Goal.Excess <= tiny:
		return "is not needed"
	}
	return "would not help"
}

func (t *table) requests(list []string) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("Asked for by people")
	for _, r := range list {
		t.line("  %s", safe(r))
	}
}

// checks shows what refuses in full, and names what allows; wide shows all.
func (t *table) checks(title, noun string, list []plan.RuleResult) {
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
		g.row(answer(c.Allows), safe(string(c.Code)), orDash(safe(c.Message)))
	}
	if len(g.rows) > 0 {
		t.section(title, g, 0)
	} else {
		t.line("")
		t.line("%s", title)
	}
	if len(allow) == len(list) {
		t.line("  all %d let it go (-o wide names them)", len(allow))
	} else if len(allow) > 0 {
		t.line("  %s %s it go (-o wide names them)", count(len(allow), "other "+noun), lets(len(allow)))
	}
}

func lets(n int) string {
	if n == 1 {
		return "lets"
	}
	return "let"
}

func answer(allows bool) string {
	if allows {
		return "yes"
	}
	return "NO"
}

func (t *table) landing(p plan.PodExplanation) {
	l := p.Landing
	if l.UnknownReason == "" && len(l.Nodes) == 0 {
		return
	}
	if l.UnknownReason != "" {
		t.line("")
		t.line("Where its replacement would land cannot be foretold: %s.", safe(l.UnknownReason))
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
			helps = "no: " + goalText(n.WorsenedGoal.Goal) + " would be missed by " + excess(n.WorsenedGoal.Goal, n.WorsenedGoal.ExcessAfter)
		}
		g.row(safe(n.Name), orDash(safe(n.Zone)), percent(n.Probability), helps, safe(n.Detail))
	}
	t.section("Where its replacement would land now, before any other move", g, t.limit(12))
	if l.Steer != "" {
		names := make([]string, len(l.HintedNodes))
		for i, n := range l.HintedNodes {
			names[i] = safe(n)
		}
		t.line("  Steered by a %s on %s: this is where it would land with that.", safe(l.Steer), strings.Join(names, ", "))
	}
	if l.PendingProbability > 0 {
		t.line("  It would stay Pending with a probability of %s.", percent(l.PendingProbability))
	}
	if l.Verdict.Code != "" {
		t.line("  Not good enough: %s.", reasonText(l.Verdict))
	}
}

// limit is how many lines a section shows; 0 is all.
func (t *table) limit(n int) int {
	if t.wide {
		return 0
	}
	return n
}
