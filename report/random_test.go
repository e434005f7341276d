package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// maxTableLines is the number of lines on a terminal that docs/reference/report.md promises.
const maxTableLines = 60

// TestTableFitsTheScreen checks random reports: the table never has more than 60 lines on the terminal that shows it,
// starts with the verdict, and shows the moves with the largest benefit with whole names.
func TestTableFitsTheScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t, "p", true)
		width := rapid.SampledFrom([]int{1, 40, 80, 100, 120, 200}).Draw(t, "width")
		var b bytes.Buffer
		if err := report.Plan(&b, report.Table, p, report.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		checkScreen(t, b.String(), width, "Plan: ")
		if width >= 80 { // long names leave no room for ten moves on a smaller terminal
			checkLargestBenefit(t, b.String(), p)
		}
		b.Reset()
		if err := report.Run(&b, report.Table, randomRun(t, p), report.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		checkScreen(t, b.String(), width, "Run: ")
	})
}

func checkScreen(t *rapid.T, text string, width int, first string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shown := len(lines)
	if width >= 40 {
		shown = 0
		for _, l := range lines {
			shown += max(1, (layout.Width(l)+width-1)/width)
		}
	}
	if shown > maxTableLines {
		t.Fatalf("width %d: the terminal shows %d lines, want at most %d:\n%s", width, shown, maxTableLines, text)
	}
	if !strings.Contains(text, "?  "+first) && !strings.Contains(text, "?        "+first) && !strings.Contains(text, "?          "+first) {
		t.Fatalf("the report does not begin with the verdict: %s", lines[0])
	}
}

// checkLargestBenefit checks that no move that is left out has a larger benefit than one that is shown.
func checkLargestBenefit(t *rapid.T, text string, p plan.Plan) {
	t.Helper()
	if len(p.Proposals) > 0 {
		return // their moves have other names, but the same heading
	}
	shown := map[bool][]float64{}
	for _, m := range p.Moves {
		has := strings.Contains(text, " "+m.Pod.String()+" ") || strings.Contains(text, " "+m.Pod.String()+"\n")
		shown[has] = append(shown[has], m.Benefit)
	}
	if len(p.Moves) > 0 && len(shown[true]) < min(10, len(p.Moves)) {
		t.Fatalf("the table shows %d of %d moves:\n%s", len(shown[true]), len(p.Moves), text)
	}
	for _, smallest := range shown[true] {
		for _, hidden := range shown[false] {
			if hidden > smallest {
				t.Fatalf("the table shows a move with benefit %v, but none with %v:\n%s", smallest, hidden, text)
			}
		}
	}
}

var (
	// names are short and long ones, as people write them and as Kubernetes permits.
	names   = rapid.StringMatching(`[a-z]([a-z0-9-]{0,20}|[a-z0-9-]{0,60})`)
	reasons = rapid.SampledFrom([]plan.Code{plan.ZoneSkewed, plan.NodeOverUtilized, plan.WouldReturn, plan.BlockedByPDB, plan.DaemonSetPod,
		plan.NoTargetFits, plan.LimitPerPass, plan.LimitPerNode, plan.PodTooYoung, plan.LocalStorage, plan.BackedOff, plan.EvictNever,
		plan.UncertainLanding, plan.NoReplacement, plan.UsageUnknown, plan.SystemCritical, plan.PlacementUnknown, plan.BenefitTooSmall})
	messages = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(names, 1, 12).Draw(t, "words"), " ")
	})
	shares = rapid.Float64Range(0, 1.2)
	// counts are mostly small, and sometimes those of a large cluster.
	counts = rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 30), rapid.SampledFrom([]int{700, 3000}))
)

func randomReason(t *rapid.T, label string) plan.Reason {
	return plan.Reason{Code: reasons.Draw(t, label+" code"), Message: messages.Draw(t, label+" message")}
}

// randomPlan returns a plan whose lists have any length and whose texts have any of a few forms. The lists repeat what
// was drawn, because thousands of draws would take seconds.
func randomPlan(t *rapid.T, label string, proposals bool) plan.Plan {
	p := newPlan()
	name, message := names.Draw(t, label+" name"), messages.Draw(t, label+" message")
	zones, nodes := counts.Draw(t, label+" zones")%60, counts.Draw(t, label+" nodes")
	strategies := counts.Draw(t, label+" strategies") % 40
	for i := range strategies {
		st := plan.StrategyState{Name: fmt.Sprintf("s%d-%s", i, name), Goals: i, Unmet: i / 2, Due: i%3 > 0}
		if i%4 == 1 {
			st.WaitingNodes, st.WaitReason = i, message
		}
		if i%5 == 2 {
			st.NoData, st.NoPodSelected = message, message
		}
		p.Strategies = append(p.Strategies, st)
	}
	now, after := shares.Draw(t, label+" now"), shares.Draw(t, label+" after")
	for i := range nodes {
		n := nodeState(fmt.Sprintf("node-%d-%s", i, name), "", now, after)
		if zones > 0 {
			n.Zone = fmt.Sprintf("zone-%d", i%zones)
		}
		p.Before.Nodes = append(p.Before.Nodes, n)
		n.Requested = map[string]float64{"cpu": after * float64(i%3), "memory": now}
		p.After.Nodes = append(p.After.Nodes, n)
	}
	randomGoals(t, label, &p, name, message)
	for i := range counts.Draw(t, label+" moves") {
		m := newMove(i+1, fmt.Sprintf("pod-%d-%s", i, name), fmt.Sprintf("node-%d-%s", i, name), fmt.Sprintf("node-%d", i/2))
		m.Benefit, m.Reason.Message = float64((i*7919)%1009)/1009, message
		p.Moves = append(p.Moves, m)
	}
	p.Rejections.Counts = map[plan.Code]int{}
	for i := range counts.Draw(t, label+" codes") % 60 {
		r := randomReason(t, label)
		p.Rejections.Counts[r.Code+plan.Code(fmt.Sprint(i))] = i
		p.Rejections.Samples = append(p.Rejections.Samples, plan.Rejection{Pod: plan.PodRef{Namespace: "shop", Name: name}, Reason: r})
	}
	randomNotes(t, label, &p, message)
	if proposals {
		for i := range rapid.IntRange(0, 2).Draw(t, "proposals") {
			sub := randomPlan(t, fmt.Sprint("proposal ", i), false)
			p.Proposals = append(p.Proposals, plan.Proposal{Mode: []plan.StrategyMode{plan.Approve, plan.ShowOnly}[i], Plan: sub})
		}
	}
	return p
}

// randomGoals adds goals, the workloads that they are about, and why they stay unmet.
func randomGoals(t *rapid.T, label string, p *plan.Plan, name, message string) {
	p.Before.Excess, p.After.Excess = map[string]float64{}, map[string]float64{}
	for i := range counts.Draw(t, label+" goals") {
		g := plan.Goal{ID: fmt.Sprintf("g%d", i), Strategy: fmt.Sprintf("s%d-%s", i%5, name), Kind: plan.SkewAtMost, Limit: 1, Excess: float64(i%7 + 1),
			TopologyKey: "topology.kubernetes.io/zone", Subject: plan.ObjectRef{Kind: "Deployment", Namespace: "shop", Name: fmt.Sprint(name, i)}}
		if i%2 == 0 {
			g.Kind, g.Resource, g.Limit, g.Excess = plan.NodeBelow, "cpu", 0.8, 0.1
			g.Subject = plan.ObjectRef{Kind: "Node", Name: fmt.Sprintf("node-%d-%s", i, name)}
		}
		p.Goals = append(p.Goals, g)
		p.After.Excess[g.ID] = g.Excess * float64(i%3) / 2
		if i%3 == 1 {
			p.Bound.UnmetGoals = append(p.Bound.UnmetGoals, plan.UnmetGoal{Goal: g.ID, Reason: []plan.UnmetReason{plan.UnmetByScheduler,
				plan.UnmetNoTarget, plan.UnmetBenefitTooSmall, plan.UnmetByGuards}[i%4], Detail: message})
			p.Bound.BlockedBy = append(p.Bound.BlockedBy, plan.Blocker{Code: plan.BlockedByPDB, Detail: message})
		}
		w := workloadState("Deployment", fmt.Sprint(name, i), i%4+1, i%3, i%2, i)
		p.Before.Workloads = append(p.Before.Workloads, w)
		w.FailureCategory, w.CategoryCertain = i%3+1, true
		p.After.Workloads = append(p.After.Workloads, w)
	}
}

// randomNotes adds everything that a plan warns about.
func randomNotes(t *rapid.T, label string, p *plan.Plan, message string) {
	n := func(what string) int { return counts.Draw(t, label+" "+what) % 100 }
	for range n("inputs") {
		p.Inputs = append(p.Inputs, plan.Input{Source: "prometheus", Age: "5s", Coverage: 0.5, Problems: []string{message, message}})
	}
	for range n("blocks") {
		p.Blocks = append(p.Blocks, plan.EvictionBlock{Reason: plan.Reason{Code: plan.Paused, Message: message}, Since: taken.Add(-time.Hour)})
	}
	for range n("others") {
		p.OtherDeschedulers = append(p.OtherDeschedulers, plan.OtherDescheduler{Program: "descheduler", Kind: "Deployment", Name: message})
	}
	for i := range n("pressure") {
		p.Pressure = append(p.Pressure, plan.PressureHint{Node: fmt.Sprint("node-", i), Rule: "hot", State: plan.HintPresent, Predicted: true})
	}
	for i := range n("schedulers") {
		p.Schedulers = append(p.Schedulers, plan.SchedulerState{Name: fmt.Sprint("s", i), Reason: message, Planned: i%2 == 0})
	}
	for i := range n("waves") {
		p.Hints = append(p.Hints, plan.WaveHints{Wave: i, Kind: "taint", Nodes: strings.Fields(message)})
	}
	if rapid.Bool().Draw(t, label+" limit") {
		p.SearchLimitReached, p.WindowLimits = message, strings.Fields(message)
	}
}

// randomRun returns a report about a run of the plan.
func randomRun(t *rapid.T, p plan.Plan) plan.RunReport {
	r := newRun(rapid.SampledFrom([]plan.Mode{plan.DryRun, plan.Live}).Draw(t, "mode"), p)
	for i, m := range p.Moves {
		kind := []plan.OutcomeKind{plan.Evicted, plan.WouldEvict, plan.Blocked, plan.Dropped}[i%4]
		r.Outcomes = append(r.Outcomes, newOutcome(m.Step, m.Pod.Name, kind, m.To, i%3 == 0))
	}
	if rapid.Bool().Draw(t, "stopped") {
		stopped := randomReason(t, "stopped")
		r.Stopped = &stopped
	}
	if rapid.Bool().Draw(t, "replan") {
		second := randomPlan(t, "replan", false)
		r.Replan = &second
	}
	for range counts.Draw(t, "changed files") % 100 {
		r.Inputs = append(r.Inputs, plan.Input{Source: "config", Age: "5s", Problems: []string{messages.Draw(t, "problem")}})
	}
	return r
}
