package waiting

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
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

// leaderTest is a leader that keeps plans, with the objects in memory.
type leaderTest struct {
	t      *testing.T
	client *objects.Client
	server *objectstest.Server
	clock  *clocktesting.FakeClock
	store  *Store
	made   []plan.StoredPlan
	plans  Plans // after the last change
	names  int
}

func newLeaderTest(t *testing.T) *leaderTest {
	k := &leaderTest{t: t, clock: clocktesting.NewFakeClock(noon)}
	k.client, k.server = objectstest.New(k.clock)
	k.store = New(k.client)
	return k
}

func (k *leaderTest) update(change func(Plans) (Plans, error)) {
	k.t.Helper()
	k.plans = must.Get(k.store.Update(k.t.Context(), k.made, func(p Plans) (Plans, error) { return change(p.Known(k.made).Register(k.clock.Now())) }))(k.t)
	k.made = k.plans.Made()
}

// register takes decisions into account.
func (k *leaderTest) register() {
	k.t.Helper()
	k.update(func(p Plans) (Plans, error) { return p, nil })
}

// keep keeps the proposal of a pass, and returns the plan to announce.
func (k *leaderTest) keep(n Proposal) (fresh *Plan) {
	k.t.Helper()
	k.clock.SetTime(n.Now)
	k.names++
	n.Name = fmt.Sprint("p", k.names)
	k.update(func(p Plans) (after Plans, err error) { after, fresh, err = p.Keep(n); return after, err })
	return fresh
}

// decide writes a decision about steps of the first waiting plan, and takes it into account. Without steps it is about
// all that it can be about.
func (k *leaderTest) decide(verb Verb, by string, steps ...int) Decided {
	k.t.Helper()
	return k.decideAbout(k.plans.Waiting[0].Name, verb, by, steps...)
}

func (k *leaderTest) decideAbout(name string, verb Verb, by string, steps ...int) Decided {
	k.t.Helper()
	var c StepSelection
	for _, step := range steps {
		c.Steps = append(c.Steps, Range{step, step})
	}
	done := must.Get(New(k.client).Decide(k.t.Context(), name, verb, c, by, k.clock.Now()))(k.t)
	k.register()
	return done
}

func (k *leaderTest) object(name string) *v1alpha1.RebalancePlan {
	k.t.Helper()
	return must.Get(k.client.Plans.Get(k.t.Context(), name, metav1.GetOptions{}))(k.t)
}

// checkStates compares the states of all steps of the last waiting plan.
func (k *leaderTest) checkStates(want ...State) {
	k.t.Helper()
	var got []State
	w := &k.plans.Waiting[len(k.plans.Waiting)-1]
	for _, m := range w.Moves {
		got = append(got, w.StateOf(m.Step).State)
	}
	if !slices.Equal(got, want) {
		k.t.Errorf("states %q, want %q", got, want)
	}
}

func (k *leaderTest) checkPhase(name string, want v1alpha1.Phase, message string) {
	k.t.Helper()
	if st := k.object(name).Status; st.Phase != want || !strings.Contains(st.Message, message) {
		k.t.Errorf("plan %s: phase %s (%s), want %s (%s)", name, st.Phase, st.Message, want, message)
	}
}

func TestAProposalReplacesAPlanOnlyIfItsMovesDiffer(t *testing.T) {
	a, b, c := testMove("zones", "a", ""), testMove("zones", "b", ""), testMove("zones", "c", "")
	k := newLeaderTest(t)
	if fresh := k.keep(proposal(0, "zones", a, b)); fresh == nil || len(k.plans.Waiting) != 1 || !fresh.Expires.Equal(noon.Add(valid)) {
		t.Fatalf("plans %+v, announced %+v", k.plans, fresh)
	}
	k.checkPhase("p1", v1alpha1.PhaseWaiting, "")
	a.Confidence, b.To = 0.5, "n3"
	writes := k.server.Calls["update/status rebalanceplans"] + k.server.Calls["create rebalanceplans"]
	if fresh := k.keep(proposal(10, "zones", b, a)); fresh != nil || k.plans.Waiting[0].Name != "p1" ||
		k.server.Calls["update/status rebalanceplans"]+k.server.Calls["create rebalanceplans"] != writes {
		t.Errorf("the same pods replace plan p1 by %s, are announced again, or need a write", k.plans.Waiting[0].Name)
	}
	if fresh := k.keep(proposal(20, "zones", a)); fresh != nil || len(k.plans.Waiting) != 1 || k.plans.Waiting[0].Name != "p3" {
		t.Errorf("fewer moves must replace the plan, and must not be announced: %+v", fresh)
	}
	k.checkPhase("p1", v1alpha1.PhaseReplaced, "plan p3 replaced it")
	if !k.object("p1").Status.Closed {
		t.Error("a replaced plan is open")
	}
	if k.keep(proposal(30, "zones", a, c)) == nil {
		t.Error("a new move is not announced")
	}
	if k.keep(proposal(40, "zones")); len(k.plans.Waiting) != 0 {
		t.Errorf("after an empty proposal: %+v", k.plans.Waiting)
	}
	if k.keep(proposal(50, "zones", a)) != nil {
		t.Error("a move that was announced within validFor is announced again")
	}
	if k.keep(proposal(24*60+51, "zones", a)) == nil {
		t.Error("a move is not announced again after validFor")
	}
}

func TestOtherStrategiesKeepTheirPlans(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	k.keep(proposal(10, "hot", testMove("hot", "b", "")))
	if k.keep(proposal(20, "")); len(k.plans.Waiting) != 2 {
		t.Fatalf("%d plans, want one for each strategy", len(k.plans.Waiting))
	}
	if k.keep(proposal(30, "hot")); len(k.plans.Waiting) != 1 || k.plans.Waiting[0].Moves[0].Strategy != "zones" {
		t.Errorf("hot needs no moves any more: %+v", k.plans.Waiting)
	}
	n := proposal(40, "")
	n.ConfigHash = "c2"
	if k.keep(n); len(k.plans.Waiting) != 0 {
		t.Error("a plan of another configuration still waits")
	}
	k.checkPhase("p1", v1alpha1.PhaseReplaced, "the configuration has changed")
}

func TestAPlanExpires(t *testing.T) {
	a := testMove("zones", "a", "")
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", a))
	if fresh := k.keep(proposal(24*60, "zones", a)); fresh == nil || k.plans.Waiting[0].Name == "p1" {
		t.Error("the same moves do not wait again after the plan has expired")
	}
	k.checkPhase("p1", v1alpha1.PhaseExpired, "it expired at 2026-03-02T12:00:00Z")
	if _, err := k.store.Decide(t.Context(), "p1", ToApprove, StepSelection{}, "alice", noon); err == nil ||
		!strings.Contains(err.Error(), "plan p1 does not wait any more: it expired") {
		t.Errorf("an expired plan is approved: %v", err)
	}
}

// TestDiscardedMovesStayAway: a proposal with a discarded move waits without it, as long as the discard holds.
func TestDiscardedMovesStayAway(t *testing.T) {
	a, b := testMove("zones", "a", ""), testMove("zones", "b", "")
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", a, b))
	if done := k.decide(ToDiscard, "bob", 2); !slices.Equal(done.Steps, []int{2}) || len(done.Needed) > 0 {
		t.Fatalf("%+v", done)
	}
	if fresh := k.keep(proposal(10, "zones", a, b)); fresh != nil || k.plans.Waiting[0].Name != "p1" {
		t.Error("the same moves, one of them discarded, replace the plan")
	}
	if fresh := k.keep(proposal(20, "zones", testMove("zones", "c", ""), b)); fresh == nil {
		t.Error("a new move is not announced")
	}
	k.checkStates(Waiting, Discarded)
	if st := k.object("p1").Status; st.Phase != v1alpha1.PhaseReplaced || st.Closed {
		t.Errorf("%+v; a plan with a discarded move stays open", st)
	}
	if fresh := k.keep(proposal(30, "zones", b)); fresh != nil || len(k.plans.Waiting) != 0 || len(k.plans.Discarded()) == 0 {
		t.Errorf("a proposal with only discarded moves waits: %+v", k.plans.Waiting)
	}
	if k.keep(proposal(24*60+21, "zones", b)); len(k.plans.Waiting) != 1 || !k.object("p1").Status.Closed {
		t.Error("a discarded move does not wait again after validFor, or its plan is still open")
	}
}

// TestADiscardIsUndone: the steps wait again, also those that belong to them. The discards of a plan that was replaced
// can be undone, too.
func TestADiscardIsUndone(t *testing.T) {
	moves := []plan.Move{testMove("zones", "a", "c"), testMove("zones", "b", ""), testMove("zones", "c", ""), testMove("zones", "d", "")}
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", moves...))
	k.decide(ToDiscard, "bob", 2, 3)
	k.checkStates(Discarded, Discarded, Discarded, Waiting)
	if undone := k.decide(ToUndo, "bob", 1); !slices.Equal(undone.Steps, []int{1, 3}) || !slices.Equal(undone.Needed, []int{3}) {
		t.Errorf("%+v", undone)
	}
	k.checkStates(Waiting, Discarded, Waiting, Waiting)
	k.keep(proposal(10, "zones", testMove("zones", "e", "")))
	k.decideAbout("p1", ToUndo, "bob")
	if d := k.plans.Discarded(); len(d) != 0 || len(k.plans.Waiting) != 1 || !k.object("p1").Status.Closed {
		t.Errorf("after the undo: discarded %+v, waiting %+v", d, k.plans.Waiting)
	}
}

func TestADiscardedPlanEnds(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	if k.decide(ToDiscard, "bob"); len(k.plans.Waiting) != 0 || len(k.plans.Discarded()) != 1 {
		t.Fatalf("%+v", k.plans)
	}
	k.checkPhase("p1", v1alpha1.PhaseDiscarded, "1 discarded")
	k.decideAbout("p1", ToUndo, "bob")
	k.checkPhase("p1", v1alpha1.PhaseWaiting, "")
	k.checkStates(Waiting)
}

// TestABlockedStepIsApprovedAgain: the same decision, written again, makes the leader try the step again.
func TestABlockedStepIsApprovedAgain(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", "")))
	k.decide(ToApprove, "alice", 1)
	r := k.plans.Requests()[0]
	must.Succeed(t, k.store.Claim(t.Context(), &r, "node-7"))
	o := k.object("p1")
	if o.Status.Started == nil || o.Status.Finished != nil {
		t.Errorf("a plan that is executed started at %v and finished at %v, want a start and no end", o.Status.Started, o.Status.Finished)
	}
	o.Status = record.Status(o.Status, &o.Spec, &plan.RunReport{RunID: "r", Mode: plan.Live, Finished: noon, Outcomes: []plan.Outcome{
		{Step: 1, Outcome: plan.Blocked, Reason: plan.Reason{Code: plan.BlockedByPDB, Message: "no"}}}}, "node-7")
	must.Get(k.client.Plans.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
	k.register()
	k.checkStates(Dropped, Waiting)
	k.checkPhase("p1", v1alpha1.PhaseWaiting, "")
	k.decide(ToApprove, "alice", 1)
	k.checkStates(Approved, Waiting)
	if r := k.plans.Requests(); len(r) != 1 || r[0].Attempts != 0 {
		t.Errorf("requests %+v", r)
	}
}
