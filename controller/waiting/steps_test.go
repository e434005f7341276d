package waiting

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestMovesThatBelongTogether: a displaced move and the move for which it makes room are approved, discarded and kept
// away together.
func TestMovesThatBelongTogether(t *testing.T) {
	moves := []plan.Move{testMove("zones", "a", "c"), testMove("zones", "b", ""), testMove("zones", "c", "")}
	p, _ := Plans{}.Keep(proposal(0, "zones", moves...))
	for _, step := range []int{1, 3} {
		steps, needed, err := p.Waiting[0].Choose(StepSelection{Steps: []Range{{step, step}}}, true)
		if err != nil || !slices.Equal(steps, []int{1, 3}) || !slices.Equal(needed, []int{4 - step}) {
			t.Errorf("step %d: steps %v, needed %v, %v", step, steps, needed, err)
		}
	}
	p.Discarded = []plan.DiscardedMove{{Strategy: "zones", PodUID: "c", By: "bob", At: noon, Until: noon.Add(valid)}}
	p, _ = p.Keep(proposal(10, "zones", append(moves, testMove("zones", "d", ""))...))
	checkStates(t, p, Discarded, Waiting, Discarded, Waiting)
}

// TestANodeIsEmptiedAsAWhole: the moves that empty a node are approved together, and the waiting plan keeps the goal.
func TestANodeIsEmptiedAsAWhole(t *testing.T) {
	moves := []plan.Move{testMove("pack", "a", ""), testMove("zones", "b", ""), testMove("pack", "c", "")}
	moves[0].Goals, moves[2].Goals = []string{"g1"}, []string{"g1", "g2"}
	n := proposal(0, "pack zones", moves...)
	n.Plan.Goals = []plan.Goal{{ID: "g1", Kind: plan.NodeEmpty}, {ID: "g2", Kind: plan.SkewAtMost}, {ID: "g3", Kind: plan.NodeEmpty}}
	n.Plan.After.Excess = map[string]float64{"g3": 1}
	p, _ := Plans{}.Keep(n)
	steps, needed, err := p.Waiting[0].Choose(StepSelection{Steps: []Range{{3, 3}}}, true)
	if err != nil || !slices.Equal(steps, []int{1, 3}) || !slices.Equal(needed, []int{1}) {
		t.Errorf("steps %v, needed %v, %v; want steps 1 and 3", steps, needed, err)
	}
	if goals := p.Waiting[0].Part(steps).Goals; len(goals) != 1 || goals[0].ID != "g1" {
		t.Errorf("the plan has the goals %v, want g1, which it meets", goals)
	}
}

func TestChoicesThatAreRejected(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones hot", testMove("zones", "a", ""), testMove("hot", "b", ""), testMove("zones", "c", "")))
	w := &p.Waiting[0]
	w.decide([]int{3}, Decision{State: Approved, By: "alice", At: noon})
	for _, c := range []struct {
		choice StepSelection
		want   string
	}{
		{StepSelection{Strategy: "other"}, `has no move of strategy "other"`},
		{StepSelection{Steps: []Range{{2, 9}}}, "has no step 9 (want 1 to 3)"},
		{StepSelection{Strategy: "zones", Steps: []Range{{2, 2}}}, "step 2 belongs to strategy hot, not to zones"},
		{StepSelection{Steps: []Range{{3, 3}}}, "step 3 does not wait: it was approved by alice at 2026-03-01T12:00:00Z"},
	} {
		_, _, err := w.Choose(c.choice, false)
		if r := (Rejection{}); !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v, want %q", c.choice, err, c.want)
		}
	}
	w.decide([]int{1}, Decision{State: Approved, By: "alice", At: noon})
	const repeat = "; if the execution of approved steps was dropped, approve them again by their numbers: --steps 1,3"
	if _, _, err := w.Choose(StepSelection{Strategy: "zones"}, true); err == nil || !strings.HasSuffix(err.Error(), ": 1 waiting, 2 approved"+repeat) {
		t.Errorf("got error %v, want one that ends in %q", err, repeat)
	}
	if steps, _, err := w.Choose(StepSelection{Steps: []Range{{3, 3}}}, true); err != nil || !slices.Equal(steps, []int{3}) {
		t.Errorf("a step that was approved before is not approved again: %v (%v)", steps, err)
	}
	w.decide([]int{1, 2}, Decision{State: Replaced, At: noon})
	if _, _, err := w.Choose(StepSelection{}, true); err == nil || !strings.Contains(err.Error(), "1 approved, 2 replaced") {
		t.Errorf("no step waits: %v", err)
	}
	for id, want := range map[string]string{"x": `no waiting plan has an ID that begins with "x" (the waiting plan: ` + w.ID} {
		if _, err := p.Find(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", id, err)
		}
	}
	p.Waiting = append(p.Waiting, p.Waiting[0])
	if _, err := p.Find(w.ID[:2]); err == nil || !strings.Contains(err.Error(), "several waiting plans") {
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

// TestAPrefixIsNoApproval: people may shorten an ID, but a request must name the whole ID.
func TestAPrefixIsNoApproval(t *testing.T) {
	kept, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", "")))
	part := kept.Waiting[0].Part([]int{1})
	by := plan.Approval{By: "mallory", At: noon.Add(time.Hour), WaitingPlan: kept.Waiting[0].ID[:1]}
	if _, err := kept.Approve(part, by, by.At); !errors.As(err, new(Rejection)) {
		t.Errorf("got error %v, want a rejection", err)
	}
}

// TestOnlyStepsOfAWaitingPlanAreApproved checks what the leader accepts.
func TestOnlyStepsOfAWaitingPlanAreApproved(t *testing.T) {
	kept, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", ""), testMove("zones", "c", "")))
	by := plan.Approval{By: "alice", At: noon.Add(time.Hour), WaitingPlan: kept.Waiting[0].ID}
	discarded := must.Get(kept.Discard("", StepSelection{Steps: []Range{{1, 1}}}, "bob", noon.Add(2*time.Hour)))(t)
	earlier, _ := kept.Discard("", StepSelection{Steps: []Range{{1, 1}}}, "bob", noon)
	forged := kept.Waiting[0].Part([]int{1})
	forged.Moves = []plan.Move{forged.Moves[0]}
	forged.Moves[0].Pod.UID = "other"
	forged.ID = plan.ContentID(forged)
	changed := kept
	changed.Waiting = slices.Clone(kept.Waiting)
	changed.Waiting[0].ConfigHash = "c2"
	for name, c := range map[string]struct {
		plans Plans
		part  plan.Plan
		now   time.Time
		want  string
	}{
		"some steps":                   {kept, kept.Waiting[0].Part([]int{1, 3}), by.At, ""},
		"discarded before":             {earlier.Plans, kept.Waiting[0].Part([]int{1}), by.At, ""},
		"discarded after":              {discarded.Plans, kept.Waiting[0].Part([]int{1}), by.At.Add(2 * time.Hour), "all approved steps of plan " + by.WaitingPlan + " were discarded: step 1 was discarded by bob"},
		"another pod":                  {kept, forged, by.At, "the approved moves are not steps of plan"},
		"a plan that was changed":      {changed, changed.Waiting[0].Part([]int{1}), by.At, "has been changed"},
		"an expired plan":              {kept, kept.Waiting[0].Part([]int{1}), noon.Add(valid), "does not wait any more: it expired"},
		"a plan that never waited":     {Plans{}, forged, by.At, "no plan waits for approval"},
		"a content that is not the ID": {kept, func() plan.Plan { p := kept.Waiting[0].Part([]int{1}); p.TakenAt = noon.Add(1); return p }(), by.At, "are not steps of"},
	} {
		after, err := c.plans.Approve(c.part, by, c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
			continue
		}
		if err == nil {
			if again, err := after.Approve(c.part, by, c.now); err != nil || len(again.Waiting[0].Decisions) != len(after.Waiting[0].Decisions) {
				t.Errorf("%s: the next leader cannot approve again: %v", name, err)
			}
			other := by
			other.By = "mallory"
			if _, err := after.Approve(c.part, other, c.now); err == nil {
				t.Errorf("%s: a step is approved twice", name)
			}
		}
	}
}

// TestAPartKeepsStepsAndHints: the report of an approved part has the step numbers of the waiting plan.
func TestAPartKeepsStepsAndHints(t *testing.T) {
	n := proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", ""), testMove("zones", "c", ""))
	for i := range n.Plan.Moves { // a proposal may continue the numbers of another plan
		n.Plan.Moves[i].Step += 10
		n.Plan.Moves[i].Wave += 10
	}
	n.Plan.Hints = []plan.WaveHints{{Wave: 12, Nodes: []string{"n1"}}, {Wave: 13, Nodes: []string{"n2"}}}
	p, _ := Plans{}.Keep(n)
	part := p.Waiting[0].Part([]int{1, 3})
	if len(part.Moves) != 2 || part.Moves[1].Step != 3 || part.Moves[1].Wave != 3 || len(part.Hints) != 1 || part.Hints[0].Wave != 3 ||
		!part.Expires.Equal(noon.Add(valid)) || part.ID == p.Waiting[0].ID {
		t.Errorf("%+v", part)
	}
}
