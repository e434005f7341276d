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
	"github.com/evenkeel-project/evenkeel/internal/must"
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
	done, err := p.Discard(id[:4], StepSelection{Steps: []Range{{2, 2}}}, "bob", noon.Add(time.Minute))
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
	if steps, _, err := p.Waiting[0].Choose(StepSelection{}, true); err != nil || !slices.Equal(steps, []int{1}) {
		t.Errorf("without --steps, a discarded step is chosen: %v (%v)", steps, err)
	}
	if steps, _, err := p.Waiting[0].Choose(StepSelection{Steps: []Range{{1, 2}}}, true); err != nil || !slices.Equal(steps, []int{1, 2}) {
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
	done, err := p.Discard(id, StepSelection{Steps: []Range{{2, 3}}}, "bob", noon)
	if err != nil || len(done.Plans.Discarded) != 3 {
		t.Fatalf("%v, %+v", err, done.Plans.Discarded)
	}
	undone, err := done.Plans.Undo(id[:4], StepSelection{Steps: []Range{{1, 1}}}, noon)
	if err != nil || !slices.Equal(undone.Steps, []int{1, 3}) || !slices.Equal(undone.Needed, []int{3}) || len(undone.Plans.Discarded) != 1 {
		t.Fatalf("%v, %+v", err, undone)
	}
	checkStates(t, undone.Plans, Waiting, Discarded, Waiting, Waiting)
	done.Plans.Waiting = nil
	if undone, err = done.Plans.Undo(id, StepSelection{Strategy: "zones"}, noon); err != nil || len(undone.Plans.Discarded) != 0 {
		t.Errorf("%v, %+v", err, undone)
	}
	for _, c := range []StepSelection{{Strategy: "hot"}, {Steps: []Range{{5, 5}}}} {
		if _, err := done.Plans.Undo(id, c, noon); !errors.As(err, new(Rejection)) {
			t.Errorf("%+v: got error %v, want a rejection", c, err)
		}
	}
}

func TestADiscardedPlanEnds(t *testing.T) {
	p, _ := Plans{}.Keep(proposal(0, "zones", testMove("zones", "a", "")))
	id := p.Waiting[0].ID
	done, err := p.Discard(id, StepSelection{}, "bob", noon)
	if p = done.Plans; err != nil || len(p.Waiting) != 0 {
		t.Fatalf("%v, %+v", err, p.Waiting)
	}
	if _, err := p.Find(id); err == nil || !strings.Contains(err.Error(), "it was discarded by bob at 2026-03-01T12:00:00Z") {
		t.Error(err)
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
	must.Succeed(t, keep(proposal(0, "zones")))
	if _, err := client.CoreV1().ConfigMaps("evenkeel").Get(t.Context(), ConfigMapName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without a plan, a ConfigMap is created: %v", err)
	}
	for _, n := range []Proposal{proposal(0, "zones", testMove("zones", "a", "")), proposal(1, "zones", testMove("zones", "a", "")),
		proposal(2, "zones", testMove("zones", "b", ""))} {
		must.Succeed(t, keep(n))
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
	packed := must.Get(state.Compress([]byte(text)))(t)
	return packed
}
