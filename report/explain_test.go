package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// fullExplanation returns an explanation with a value in every field.
func fullExplanation() plan.Explanation {
	m := newMove(1, "d-6f9c-x1", "n3", "n1")
	goal := plan.GoalStatus{Goal: threeZonesPlan().Goals[0], EvictionHelps: true}
	pod := plan.PodExplanation{
		Pod: m.Pod, Node: "n3", Owner: m.Owner, Verdict: m.Reason, Move: &m, Goals: []plan.GoalStatus{goal},
		Requests: []string{"prefers to be evicted"},
		Guards:   []plan.RuleResult{{Code: plan.BarePod, Allows: true}, {Code: plan.PodTooYoung, Message: "the pod started 3m0s ago"}},
		Budgets:  []plan.RuleResult{{Code: plan.BlockedByPDB, Allows: true, Message: "pdb shop/d allows 1 more"}},
		Limits:   []plan.RuleResult{{Code: plan.LimitPerPass, Allows: true, Message: "limits.perPass allows 50 evictions"}},
		Landing: plan.Landing{Confidence: 0.9, PendingProbability: 0.1, Verdict: plan.Reason{Code: plan.WouldReturn,
			Message: "half of them come back"},
			Nodes: []plan.TargetNode{{Name: "n1", Zone: "z1", Probability: 0.9, Acceptable: true, Detail: "scores 210, the best"},
				{Name: "n3", Zone: "z3", Detail: "scores 150, the best 210"}}},
	}
	stays := pod
	stays.Landing.Steer, stays.Landing.HintedNodes = "taint", []string{"n3", "n4"}
	stays.Move, stays.OnlyObstacle, stays.Verdict = nil, true, plan.Reason{Code: plan.PodTooYoung, Message: "the pod started 3m0s ago"}
	return plan.Explanation{APIVersion: plan.APIVersion, Kind: "Explanation", TakenAt: taken,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Node", Name: "n3", UID: "u-n3"},
		Goals:   []plan.GoalStatus{goal}, Requests: []string{"evenkeel.io/drain-first on node n3"}, Pods: []plan.PodExplanation{pod, stays}}
}

// TestExplainGoalsThatAreNotTried: the text tells a goal that only limits landings from one whose strategy is not due.
func TestExplainGoalsThatAreNotTried(t *testing.T) {
	for limitsOnly, want := range map[bool]string{false: "is not tried: the strategy is not due", true: "is not asked for: the goal only limits landings"} {
		e := explanationOfPod(1)
		e.Pods[0].Goals = []plan.GoalStatus{{Goal: threeZonesPlan().Goals[0], Constraint: true, LimitsOnly: limitsOnly}}
		var b bytes.Buffer
		if err := report.Explain(&b, report.Table, e); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("LimitsOnly %v: error %v, want %q in\n%s", limitsOnly, err, want, b.String())
		}
	}
}

// TestExplainMetGoalOfWaitingStrategy: a goal that is met needs no eviction, although its strategy waits.
func TestExplainMetGoalOfWaitingStrategy(t *testing.T) {
	for excess, want := range map[float64]string{0: "is not needed", 0.1: "waits: no node is under-utilized"} {
		g := threeZonesPlan().Goals[0]
		g.Excess = excess
		s := plan.GoalStatus{Goal: g, Constraint: true, WaitReason: "no node is under-utilized"}
		e := explanationOfPod(1)
		e.Pods[0].Goals = []plan.GoalStatus{s}
		var b bytes.Buffer
		if err := report.Explain(&b, report.Table, e); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("excess %v: error %v, want %q in\n%s", excess, err, want, b.String())
		}
	}
}

// TestExplainLandingOnOwnNode: the node of the pod helps only if the goal is about the pod.
func TestExplainLandingOnOwnNode(t *testing.T) {
	for helps, want := range map[bool]string{true: "yes: the goal is about the pod, not about its node", false: "no: it is here"} {
		e := explanationOfPod(1)
		own := &e.Pods[0].Landing.Nodes[1]
		if own.Acceptable = helps; own.Name != e.Pods[0].Node {
			t.Fatalf("%s is not the node of the pod", own.Name)
		}
		var b bytes.Buffer
		if err := report.Explain(&b, report.Table, e); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("helps %v: error %v, want %q in\n%s", helps, err, want, b.String())
		}
	}
}

// explanationOfPod returns the explanation of pod i alone.
func explanationOfPod(i int) plan.Explanation {
	e := fullExplanation()
	e.Pods = e.Pods[i : i+1]
	e.Subject = plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: e.Pods[0].Pod.Name}
	return e
}

func TestExplainGolden(t *testing.T) {
	for name, e := range map[string]plan.Explanation{"explain-node": fullExplanation(), "explain-moved": explanationOfPod(0), "explain-stays": explanationOfPod(1)} {
		for _, f := range []report.Format{report.Table, report.Wide} {
			compareWithGolden(t, name+"."+string(f), written(t, report.Explain, f, e))
		}
	}
}

// TestExplanationsEscapeControlCharacters adds control characters to every string of an
// explanation. No control character may reach the output.
func TestExplanationsEscapeControlCharacters(t *testing.T) {
	for _, e := range []plan.Explanation{fullExplanation(), explanationOfPod(0), explanationOfPod(1)} {
		kind := e.Subject.Kind
		addControlCharacters(reflect.ValueOf(&e).Elem())
		e.Subject.Kind = kind
		for _, f := range []report.Format{report.Table, report.Wide} {
			text := written(t, report.Explain, f, e)
			if strings.ContainsAny(text, "\x1b\u202e\u009b\x07") {
				t.Errorf("%s, %s: the output has a control character:\n%q", kind, f, text)
			}
		}
	}
}

// addControlCharacters appends control characters to every string below v.
func addControlCharacters(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + "\x1b[2J\u202e\u009b\x07")
		}
	case reflect.Pointer:
		if !v.IsNil() {
			addControlCharacters(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			addControlCharacters(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeOf(taken) {
				addControlCharacters(v.Field(i))
			}
		}
	}
}

// TestExplanationShowsThePause checks that the head of the explanation says that evictions are paused.
func TestExplanationShowsThePause(t *testing.T) {
	for _, e := range []plan.Explanation{fullExplanation(), explanationOfPod(0), explanationOfPod(1)} {
		e.Blocks = []plan.EvictionBlock{(&plan.Pause{By: "alice", Reason: "release 42"}).Block()}
		for _, f := range []report.Format{report.Table, report.Wide} {
			text := written(t, report.Explain, f, e)
			head, _, _ := strings.Cut(text, "\n\n")
			if want := "\nNothing is evicted now: evictions are paused by alice: release 42 (Paused)."; !strings.Contains(head, want) ||
				strings.Count(text, want) != 1 {
				t.Errorf("%s, %s: want this line once, in the head:%s\n%s", e.Subject.Kind, f, want, text)
			}
		}
	}
}

// TestExplanationShowsStrategies: each strategy with rules of its own has a line that says whether they allow the move.
func TestExplanationShowsStrategies(t *testing.T) {
	e := explanationOfPod(1)
	e.Pods[0].Strategies = []plan.StrategyResult{
		{Strategy: "hot", Reason: plan.Reason{Code: plan.PodTooYoung, Message: "strategy hot: the pod started 3m0s ago"}},
		{Strategy: "zones", Allows: true, Soft: true, Limits: []plan.RuleResult{{Code: plan.LimitPerPass, UsedUp: true,
			Message: "strategy zones: limits.perPass allows 1 eviction; the plan uses 1"}}},
	}
	text := written(t, report.Explain, report.Table, e)
	got := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"Strategies with rules of their own", "hot the pod started 3m0s ago (PodTooYoung)",
		"zones allow the move; limits.perPass allows 1 eviction; the plan uses 1 (LimitPerPass); soft"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// TestExplainNamesWhoDecides: a proposed move waits for a person or is only shown, and the text does not say first that
// the pod stays. Without a proposed move, nothing waits for approval although the eviction would help.
func TestExplainNamesWhoDecides(t *testing.T) {
	m := newMove(1, "d-6f9c-x1", "n3", "n1")
	for _, c := range []struct {
		mode     plan.StrategyMode
		proposed bool
		want     []string
		not      string
	}{
		{plan.Approve, true, []string{"It would be moved to n1 in step 1, wave 1, if a person approves: ", "would help (waits for approval)"}, "It stays"},
		{plan.ShowOnly, true, []string{"It would be moved to n1 in step 1, wave 1, for a strategy in mode dryRun, which only shows its moves: ",
			"would help (only shown)"}, "It stays"},
		{plan.Approve, false, []string{"It stays: ", "would help"}, "would help (waits for approval)"},
		{plan.ShowOnly, false, []string{"It stays: ", "would help"}, "would help (only shown)"},
	} {
		e := explanationOfPod(1)
		p := &e.Pods[0]
		p.Goals[0].Mode, p.Proposed = c.mode, nil
		if c.proposed {
			p.Proposed = []plan.ProposedMove{{Mode: c.mode, Move: m}}
		}
		var b bytes.Buffer
		if err := report.Explain(&b, report.Table, e); err != nil || strings.Contains(b.String(), c.not) {
			t.Errorf("%s, proposed %t: error %v, unwanted %q in\n%s", c.mode, c.proposed, err, c.not, b.String())
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s, proposed %t: want %q in\n%s", c.mode, c.proposed, want, b.String())
			}
		}
	}
}
