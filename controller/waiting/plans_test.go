package waiting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/plan"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const valid = 24 * time.Hour

// testMove returns the move of the pod with this UID. If displacedFor is not empty, it makes room for that pod.
func testMove(strategy, uid, displacedFor string) plan.Move {
	m := plan.Move{Strategy: strategy, From: "n1", To: "n2", Pod: plan.PodRef{Namespace: "shop", Name: "pod-" + uid, UID: uid}}
	if displacedFor != "" {
		m.DisplacedFor = &plan.PodRef{Namespace: "shop", Name: "pod-" + displacedFor, UID: displacedFor}
	}
	return m
}

// proposal returns the result of a pass after some minutes, with one move per wave.
func proposal(minutes int, strategies string, moves ...plan.Move) Proposal {
	n := Proposal{Strategies: strings.Fields(strategies), ConfigHash: "c1", Now: noon.Add(time.Duration(minutes) * time.Minute), ValidFor: valid}
	if len(moves) > 0 {
		p := plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: n.Now, Expires: n.Now.Add(15 * time.Minute), ConfigHash: "c1"}
		for i, m := range moves {
			m.Step, m.Wave = i+1, i+1
			p.Moves = append(p.Moves, m)
		}
		n.Plan = &p
	}
	return n
}

// states returns the states of all steps of the last plan.
func (p Plans) states() (out []State) {
	w := &p.Waiting[len(p.Waiting)-1]
	for _, m := range w.Moves {
		out = append(out, w.StateOf(m.Step).State)
	}
	return out
}

func checkStates(t *testing.T, p Plans, want ...State) {
	t.Helper()
	if got := p.states(); !slices.Equal(got, want) {
		t.Errorf("states %q, want %q", got, want)
	}
}

func TestAProposalReplacesAPlanOnlyIfItsMovesDiffer(t *testing.T) {
	a, b, c := testMove("zones", "a", ""), testMove("zones", "b", ""), testMove("zones", "c", "")
	p, announced := Plans{}.Keep(proposal(0, "zones", a, b))
	if announced == nil || len(p.Waiting) != 1 {
		t.Fatalf("plans %+v, announced %+v", p, announced)
	}
	first := p.Waiting[0]
	if !first.Expires.Equal(noon.Add(valid)) || first.ID != plan.ContentID(first.Plan) {
		t.Errorf("plan %s expires at %s", first.ID, first.Expires)
	}
	a.Confidence, b.To = 0.5, "n3"
	p, announced = p.Keep(proposal(10, "zones", b, a))
	if announced != nil || p.Waiting[0].ID != first.ID {
		t.Errorf("the same pods replace plan %s by %s, or are announced again", first.ID, p.Waiting[0].ID)
	}
	again := proposal(15, "zones", b, a)
	again.Plan.ID = "proposal-2"
	p, _ = p.Keep(again)
	if w, err := p.Find("proposal-2"); err != nil || w.ID != first.ID {
		t.Errorf("the ID of a proposal with the same moves does not find the plan: %v", err)
	}
	p, announced = p.Keep(proposal(20, "zones", a))
	if announced != nil || len(p.Waiting) != 1 || p.Waiting[0].ID == first.ID {
		t.Errorf("fewer moves must replace the plan, and must not be announced: %+v", announced)
	}
	if _, err := p.Find(first.ID); err == nil || !strings.Contains(err.Error(), "does not wait any more: plan "+p.Waiting[0].ID+" replaced it") {
		t.Errorf("the replaced plan: %v", err)
	}
	p, announced = p.Keep(proposal(30, "zones", a, c))
	if announced == nil {
		t.Error("a new move is not announced")
	}
	p, _ = p.Keep(proposal(40, "zones"))
	if len(p.Waiting) != 0 {
		t.Errorf("after an empty proposal: %+v", p.Waiting)
	}
	if _, announced = p.Keep(proposal(50, "zones", a)); announced != nil {
		t.Error("a move that was announced within validFor is announced again")
	}
	if _, announced = p.Keep(proposal(24*60+30, "zones", a)); announced == nil {
		t.Error("a move is not announced again after validFor")
	}
}

func TestOtherStrategiesKeepTheirPlans(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", "")))
	p, _ = p.Keep(proposal(10, "hot", testMove("hot", "b", "")))
	p, _ = p.Keep(proposal(20, ""))
	if len(p.Waiting) != 2 {
		t.Fatalf("%d plans, want one for each strategy", len(p.Waiting))
	}
	p, _ = p.Keep(proposal(30, "hot"))
	if len(p.Waiting) != 1 || p.Waiting[0].Moves[0].Strategy != "zones" {
		t.Errorf("hot needs no moves any more: %+v", p.Waiting)
	}
	n := proposal(40, "")
	n.ConfigHash = "c2"
	if p, _ = p.Keep(n); len(p.Waiting) != 0 {
		t.Error("a plan of another configuration still waits")
	}
}

func TestAPlanExpires(t *testing.T) {
	a := testMove("zones", "a", "")
	p, _ := Plans{}.Keep(proposal(0, "zones", a))
	id := p.Waiting[0].ID
	p, announced := p.Keep(proposal(24*60, "zones", a))
	if announced == nil || p.Waiting[0].ID == id {
		t.Error("the same moves do not wait again after the plan has expired")
	}
	if _, err := p.Find(id); err == nil || !strings.Contains(err.Error(), "it expired at 2026-03-02T12:00:00Z") {
		t.Errorf("the expired plan: %v", err)
	}
}

func TestDiscardedMovesStayAway(t *testing.T) {
	a, b := testMove("zones", "a", ""), testMove("zones", "b", "")
	p, _ := Plans{}.Keep(proposal(0, "zones", a, b))
	id := p.Waiting[0].ID
	done, err := p.Discard(id[:4], Choice{Steps: []Range{{2, 2}}}, "bob", noon.Add(time.Minute))
	if err != nil || done.ID != id || !slices.Equal(done.Steps, []int{2}) || len(done.Needed) > 0 {
		t.Fatalf("%v, %+v", err, done)
	}
	p, announced := done.Plans.Keep(proposal(10, "zones", a, b))
	if announced != nil || p.Waiting[0].ID != id {
		t.Error("the same moves, one of them discarded, replace the plan")
	}
	p, announced = p.Keep(proposal(20, "zones", testMove("zones", "c", ""), b))
	checkStates(t, p, Waiting, Discarded)
	if announced == nil {
		t.Error("a new move is not announced")
	}
	if steps, _, err := p.Waiting[0].Choose(Choice{}, true); err != nil || !slices.Equal(steps, []int{1}) {
		t.Errorf("without --steps, a discarded step is chosen: %v (%v)", steps, err)
	}
	if steps, _, err := p.Waiting[0].Choose(Choice{Steps: []Range{{1, 2}}}, true); err != nil || !slices.Equal(steps, []int{1, 2}) {
		t.Errorf("with --steps, a discarded step is not chosen: %v (%v)", steps, err)
	}
	if p, announced = p.Keep(proposal(30, "zones", b)); announced != nil || len(p.Waiting) != 0 {
		t.Errorf("a proposal with only discarded moves waits: %+v", p.Waiting)
	}
	if p, _ = p.Keep(proposal(24*60+1, "zones", b)); len(p.Waiting) != 1 {
		t.Error("a discarded move does not wait again after validFor")
	}
}

// TestADiscardIsUndone: the steps wait again, also those that belong to them. After the plan has
// ended, its discards can still be undone.
func TestADiscardIsUndone(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", "c"), testMove("zones", "b", ""), testMove("zones", "c", ""),
		testMove("zones", "d", "")))
	id := p.Waiting[0].ID
	done, err := p.Discard(id, Choice{Steps: []Range{{2, 3}}}, "bob", noon)
	if err != nil || len(done.Plans.Discarded) != 3 {
		t.Fatalf("%v, %+v", err, done.Plans.Discarded)
	}
	undone, err := done.Plans.Undo(id[:4], Choice{Steps: []Range{{1, 1}}}, noon)
	if err != nil || !slices.Equal(undone.Steps, []int{1, 3}) || !slices.Equal(undone.Needed, []int{3}) || len(undone.Plans.Discarded) != 1 {
		t.Fatalf("%v, %+v", err, undone)
	}
	checkStates(t, undone.Plans, Waiting, Discarded, Waiting, Waiting)
	done.Plans.Waiting = nil
	if undone, err = done.Plans.Undo(id, Choice{Strategy: "zones"}, noon); err != nil || len(undone.Plans.Discarded) != 0 {
		t.Errorf("%v, %+v", err, undone)
	}
	for _, c := range []Choice{{Strategy: "hot"}, {Steps: []Range{{5, 5}}}} {
		if _, err := done.Plans.Undo(id, c, noon); !errors.As(err, new(Rejection)) {
			t.Errorf("%+v: got error %v, want a rejection", c, err)
		}
	}
}

func TestADiscardedPlanEnds(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", "")))
	id := p.Waiting[0].ID
	done, err := p.Discard(id, Choice{}, "bob", noon)
	if p = done.Plans; err != nil || len(p.Waiting) != 0 {
		t.Fatalf("%v, %+v", err, p.Waiting)
	}
	if _, err := p.Find(id); err == nil || !strings.Contains(err.Error(), "it was discarded by bob at 2026-03-01T12:00:00Z") {
		t.Error(err)
	}
}

// TestMovesThatBelongTogether: a displaced move and the move for which it makes room are approved, discarded and kept
// away together.
func TestMovesThatBelongTogether(t *testing.T) {
	moves := []plan.Move{testMove("zones", "a", "c"), testMove("zones", "b", ""), testMove("zones", "c", "")}
	p, _ := Plans{}.Keep(proposal(0, "zones", moves...))
	for _, step := range []int{1, 3} {
		steps, needed, err := p.Waiting[0].Choose(Choice{Steps: []Range{{step, step}}}, true)
		if err != nil || !slices.Equal(steps, []int{1, 3}) || !slices.Equal(needed, []int{4 - step}) {
			t.Errorf("step %d: steps %v, needed %v, %v", step, steps, needed, err)
		}
	}
	p.Discarded = []plan.DiscardedMove{{Strategy: "zones", PodUID: "c", By: "bob", At: noon, Until: noon.Add(valid)}}
	p, _ = p.Keep(proposal(10, "zones", append(moves, testMove("zones", "d", ""))...))
	checkStates(t, p, Discarded, Waiting, Discarded, Waiting)
}

func TestChoicesThatAreRejected(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones hot", testMove("zones", "a", ""), testMove("hot", "b", ""), testMove("zones", "c", "")))
	w := &p.Waiting[0]
	w.decide([]int{3}, Decision{State: Approved, By: "alice", At: noon})
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Strategy: "other"}, `has no move of strategy "other"`},
		{Choice{Steps: []Range{{2, 9}}}, "has no step 9 (want 1 to 3)"},
		{Choice{Strategy: "zones", Steps: []Range{{2, 2}}}, "step 2 belongs to strategy hot, not to zones"},
		{Choice{Steps: []Range{{3, 3}}}, "step 3 does not wait: it was approved by alice at 2026-03-01T12:00:00Z"},
	} {
		_, _, err := w.Choose(c.choice, false)
		if r := (Rejection{}); !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v, want %q", c.choice, err, c.want)
		}
	}
	w.decide([]int{1}, Decision{State: Approved, By: "alice", At: noon})
	const repeat = "; if the execution of approved steps was dropped, approve them again by their numbers: --steps 1,3"
	if _, _, err := w.Choose(Choice{Strategy: "zones"}, true); err == nil || !strings.HasSuffix(err.Error(), ": 1 waiting, 2 approved"+repeat) {
		t.Errorf("got error %v, want one that ends in %q", err, repeat)
	}
	if steps, _, err := w.Choose(Choice{Steps: []Range{{3, 3}}}, true); err != nil || !slices.Equal(steps, []int{3}) {
		t.Errorf("a step that was approved before is not approved again: %v (%v)", steps, err)
	}
	w.decide([]int{1, 2}, Decision{State: Replaced, At: noon})
	if _, _, err := w.Choose(Choice{}, true); err == nil || !strings.Contains(err.Error(), "1 approved, 2 replaced") {
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
	discarded, err := kept.Discard("", Choice{Steps: []Range{{1, 1}}}, "bob", noon.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	earlier, _ := kept.Discard("", Choice{Steps: []Range{{1, 1}}}, "bob", noon)
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

func TestTheStoreKeepsPlans(t *testing.T) {
	client := fake.NewClientset()
	s := New(client, "evenkeel")
	writes, conflicts := 0, 1
	client.PrependReactor("update", "configmaps", func(ktesting.Action) (bool, runtime.Object, error) {
		writes++
		if conflicts--; conflicts >= 0 {
			return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), ConfigMapName, errors.New("old version"))
		}
		return false, nil, nil
	})
	keep := func(n Proposal) error {
		return s.Update(t.Context(), func(p Plans) (Plans, error) { p, _ = p.Keep(n); return p, nil })
	}
	if err := keep(proposal(0, "zones")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps("evenkeel").Get(t.Context(), ConfigMapName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without a plan, a ConfigMap is created: %v", err)
	}
	for _, n := range []Proposal{proposal(0, "zones", testMove("zones", "a", "")), proposal(1, "zones", testMove("zones", "a", "")),
		proposal(2, "zones", testMove("zones", "b", ""))} {
		if err := keep(n); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Load(t.Context())
	if err != nil || len(p.Waiting) != 1 || p.Waiting[0].Moves[0].Pod.UID != "b" || plan.ContentID(p.Waiting[0].Plan) != p.Waiting[0].ID {
		t.Errorf("%+v (%v)", p, err)
	}
	if writes != 2 {
		t.Errorf("%d updates, want a conflict and one update: the same proposal needs none", writes)
	}
	rejected := rejectf("no")
	if err := s.Update(t.Context(), func(p Plans) (Plans, error) { return Plans{}, rejected }); !errors.Is(err, rejected) || writes != 2 {
		t.Errorf("error %v after %d writes", err, writes)
	}
}

// TestAPlanThatIsTooLarge: the error says what to do, and the plans stay as they are.
func TestAPlanThatIsTooLarge(t *testing.T) {
	var moves []plan.Move
	seed := uint64(1)
	for range 30_000 {
		seed = seed*6364136223846793005 + 1442695040888963407
		moves = append(moves, testMove("zones", fmt.Sprintf("%x%x", seed, seed*seed), ""))
	}
	s := New(fake.NewClientset(), "evenkeel")
	err := s.Update(t.Context(), func(p Plans) (Plans, error) { p, _ = p.Keep(proposal(0, "zones", moves...)); return p, nil })
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limits.perPass") {
		t.Error(err)
	}
}

// TestAHostileConfigMapIsNoPlan: what cannot be read, or is too large, is no plan, and a later pass replaces it.
func TestAHostileConfigMapIsNoPlan(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":    "",
		"other kind": `{"apiVersion":"evenkeel.io/v1alpha1","kind":"Plan"}`,
		"depth":      strings.Repeat(`[`, 100),
		"steps":      `{"apiVersion":"` + plan.APIVersion + `","kind":"WaitingPlans","waiting":[{"plan":{"moves":[{"step":7,"pod":{"uid":"a"}}]}}]}`,
		"many plans": `{"apiVersion":"` + plan.APIVersion + `","kind":"WaitingPlans","waiting":[{}` + strings.Repeat(`,{}`, maxPlans) + `]}`,
		"not packed": "raw",
	} {
		packed := []byte(text)
		if name != "not packed" {
			packed = compressed(t, text)
		}
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: ConfigMapName}, BinaryData: map[string][]byte{keyPlans: packed}}
		s := New(fake.NewClientset(o), "evenkeel")
		if p, err := s.Load(t.Context()); err == nil || len(p.Waiting) != 0 || !strings.Contains(err.Error(), ConfigMapName) {
			t.Errorf("%s: %+v (%v)", name, p, err)
		}
		if err := s.Update(t.Context(), func(p Plans) (Plans, error) {
			p, _ = p.Keep(proposal(0, "zones", testMove("zones", "a", "")))
			return p, nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p, err := s.Load(t.Context()); err != nil || len(p.Waiting) != 1 {
			t.Errorf("%s: after a pass: %+v (%v)", name, p, err)
		}
	}
}

func TestListsAreBounded(t *testing.T) {
	var p Plans
	for i := range 3 {
		var moves []plan.Move
		for j := range 5000 {
			moves = append(moves, testMove("zones", fmt.Sprint(i, "-", j), ""))
		}
		p, _ = p.Keep(proposal(i, "zones", moves...))
	}
	for i := range 2 * maxEnded {
		p, _ = p.Keep(proposal(10+i, "zones", testMove("zones", fmt.Sprint("x", i), "")))
	}
	if len(p.Announced) != maxMarks || len(p.Ended) != maxEnded || len(p.Waiting) != 1 {
		t.Errorf("%d announced, %d ended, %d waiting", len(p.Announced), len(p.Ended), len(p.Waiting))
	}
}

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	packed, err := state.Compress([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}
