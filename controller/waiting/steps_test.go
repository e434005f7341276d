package waiting

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestMovesThatBelongTogether: a displaced move and the move for which it makes room are approved, discarded and kept
// away together.
func TestMovesThatBelongTogether(t *testing.T) {
	moves := []plan.Move{testMove("zones", "a", "c"), testMove("zones", "b", ""), testMove("zones", "c", "")}
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", moves...))
	for _, step := range []int{1, 3} {
		steps, needed, err := k.plans.Waiting[0].Choose(StepSelection{Steps: []Range{{step, step}}}, ToApprove)
		if err != nil || !slices.Equal(steps, []int{1, 3}) || !slices.Equal(needed, []int{4 - step}) {
			t.Errorf("step %d: steps %v, needed %v, %v", step, steps, needed, err)
		}
	}
	k.decide(ToDiscard, "bob", 3)
	k.keep(proposal(10, "zones", append(moves, testMove("zones", "d", ""))...))
	k.checkStates(Discarded, Waiting, Discarded, Waiting)
}

// TestANodeIsEmptiedAsAWhole: the moves that empty a node are approved together, and the waiting plan keeps the goal.
func TestANodeIsEmptiedAsAWhole(t *testing.T) {
	moves := []plan.Move{testMove("pack", "a", ""), testMove("zones", "b", ""), testMove("pack", "c", "")}
	moves[0].Goals, moves[2].Goals = []string{"g1"}, []string{"g1", "g2"}
	n := proposal(0, "pack zones", moves...)
	n.Plan.Goals = []plan.Goal{{ID: "g1", Kind: plan.NodeEmpty}, {ID: "g2", Kind: plan.SkewAtMost}, {ID: "g3", Kind: plan.NodeEmpty}}
	n.Plan.After.Excess = map[string]float64{"g3": 1}
	k := newLeaderTest(t)
	k.keep(n)
	w := k.plans.Waiting[0]
	steps, needed, err := w.Choose(StepSelection{Steps: []Range{{3, 3}}}, ToApprove)
	if err != nil || !slices.Equal(steps, []int{1, 3}) || !slices.Equal(needed, []int{1}) {
		t.Errorf("steps %v, needed %v, %v; want steps 1 and 3", steps, needed, err)
	}
	if goals := w.part(steps).Goals; len(goals) != 1 || goals[0].ID != "g1" {
		t.Errorf("the plan has the goals %v, want g1, which it meets", goals)
	}
}

func TestChoicesThatAreRejected(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones hot", testMove("zones", "a", ""), testMove("hot", "b", ""), testMove("zones", "c", "")))
	k.decide(ToApprove, "alice", 3)
	for _, c := range []struct {
		verb   Verb
		choice StepSelection
		want   string
	}{
		{ToApprove, StepSelection{Strategy: "other"}, `has no move of strategy "other"`},
		{ToApprove, StepSelection{Steps: []Range{{2, 9}}}, "has no step 9 (want 1 to 3)"},
		{ToApprove, StepSelection{Strategy: "zones", Steps: []Range{{2, 2}}}, "step 2 belongs to strategy hot, not to zones"},
		{ToUndo, StepSelection{Steps: []Range{{1, 1}}}, "step 1 cannot be chosen: it waits"},
		{ToUndo, StepSelection{}, "has no step to undo in the choice: 2 waiting, 1 approved"},
	} {
		_, err := k.store.Decide(t.Context(), k.plans.Waiting[0].Name, c.verb, c.choice, "bob", noon)
		if r := (Rejection{}); !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: got error %v, want %q", c.verb, c.choice, err, c.want)
		}
	}
	k.decide(ToApprove, "alice", 1)
	if _, _, err := k.plans.Waiting[0].Choose(StepSelection{Strategy: "zones"}, ToApprove); err == nil || !strings.HasSuffix(err.Error(), ": 1 waiting, 2 approved") {
		t.Errorf("no step of the strategy waits: %v", err)
	}
	if _, err := k.plans.Find("x"); err == nil || !strings.Contains(err.Error(), `begins with "x" (the waiting plan: `+k.plans.Waiting[0].Name) {
		t.Error(err)
	}
	k.keep(proposal(1, "other", testMove("other", "d", "")))
	if _, err := k.plans.Find("p"); err == nil || !strings.Contains(err.Error(), "several plans") {
		t.Error(err)
	}
}

func TestParseSteps(t *testing.T) {
	got, err := ParseSteps("1, 4-7")
	if err != nil || !slices.Equal(got, []Range{{1, 1}, {4, 7}}) {
		t.Errorf("%v (%v)", got, err)
	}
	for _, bad := range []string{"", "a", "0", "3-1", "1,,2", "-1", "1-", "99999999999999999999", "2000000", strings.Repeat("1,", 2000) + "1"} {
		if _, err := ParseSteps(bad); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
	if got := FormatSteps([]int{1, 4, 5, 6, 9}); got != "1,4-6,9" {
		t.Error(got)
	}
}

// TestARequestKeepsStepsAndHints: the report of approved steps has the step numbers of the waiting plan.
func TestARequestKeepsStepsAndHints(t *testing.T) {
	n := proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", ""), testMove("zones", "c", ""))
	for i := range n.Plan.Moves { // a proposal may continue the numbers of another plan
		n.Plan.Moves[i].Step += 10
		n.Plan.Moves[i].Wave += 10
	}
	n.Plan.Hints = []plan.WaveHints{{Wave: 12, Nodes: []string{"n1"}}, {Wave: 13, Nodes: []string{"n2"}}}
	k := newLeaderTest(t)
	k.keep(n)
	k.decide(ToApprove, "alice", 1, 3)
	all := k.plans.Requests()
	if len(all) != 1 || all[0].ApprovedBy != "alice" || !all[0].ApprovedAt.Equal(noon) {
		t.Fatalf("requests %+v", all)
	}
	if p := all[0].Plan; len(p.Moves) != 2 || p.Moves[1].Step != 3 || p.Moves[1].Wave != 3 || len(p.Hints) != 1 || p.Hints[0].Wave != 3 ||
		!p.Expires.Equal(noon.Add(valid)) {
		t.Errorf("%+v", p)
	}
}
