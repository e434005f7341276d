package waiting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// TestADecisionSetTogetherWithThePlanIsIgnored: whoever may create plans may not decide about them.
func TestADecisionSetTogetherWithThePlanIsIgnored(t *testing.T) {
	k := newLeaderTest(t)
	o := foreignPlan("mine")
	o.Decision = &v1alpha1.Decision{By: "mallory", Approve: &v1alpha1.StepSelection{All: true}}
	must.Get(k.client.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	k.register()
	k.checkStates(Waiting)
	k.decide(ToApprove, "alice")
	k.checkStates(Approved)
	if d := k.object("mine").Status.Steps[0]; d.DecidedBy != "alice" {
		t.Errorf("%+v", d)
	}
}

func foreignPlan(name string) *v1alpha1.RebalancePlan {
	p := proposal(0, "zones", testMove("zones", "a", "")).Plan
	p.Expires = noon.Add(1000 * time.Hour)
	return &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: record.Spec(p, v1alpha1.ModeAutomatic)}
}

// TestAForeignPlanIsKnown: the leader knows a plan that it did not make, no proposal replaces it, and it waits for a
// day at most.
func TestAForeignPlanIsKnown(t *testing.T) {
	k := newLeaderTest(t)
	must.Get(k.client.Plans.Create(t.Context(), foreignPlan("mine"), metav1.CreateOptions{}))(t)
	k.keep(proposal(0, "zones", testMove("zones", "b", "")))
	if k.keep(proposal(10, "zones")); len(k.plans.Waiting) != 1 || !k.plans.Waiting[0].Foreign || !k.object("mine").Status.Foreign {
		t.Errorf("%+v", k.plans.Waiting)
	}
	k.keep(proposal(24*60, ""))
	k.checkPhase("mine", v1alpha1.PhaseExpired, "it expired at 2026-03-02T12:00:00Z")
}

// TestAChangedSpecIsForeign: the leader knows its plans by UID and hash, so it does not take a plan with another
// content, or one that somebody created again, for its own.
func TestAChangedSpecIsForeign(t *testing.T) {
	for name, change := range map[string]func(k *leaderTest, o *v1alpha1.RebalancePlan){
		"a changed spec": func(k *leaderTest, o *v1alpha1.RebalancePlan) {
			o.Spec.Moves[0].Pod.UID = "other"
			must.Get(k.client.Plans.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
		},
		"created again": func(k *leaderTest, o *v1alpha1.RebalancePlan) {
			must.Succeed(t, k.client.Plans.Delete(t.Context(), o.Name, metav1.DeleteOptions{}))
			o.ResourceVersion = ""
			must.Get(k.client.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
		},
	} {
		k := newLeaderTest(t)
		k.keep(proposal(0, "zones", testMove("zones", "a", "")))
		change(k, k.object("p1"))
		if k.register(); len(k.plans.Waiting) != 1 || !k.plans.Waiting[0].Foreign || len(k.made) != 0 {
			t.Errorf("%s: %+v", name, k.plans.Waiting)
		}
	}
}

// TestManyForeignPlans: many plans of others do not hide those of the release, and cost a bounded number of requests.
func TestManyForeignPlans(t *testing.T) {
	k := newLeaderTest(t)
	for i := range maxListed + 100 {
		must.Get(k.client.Plans.Create(t.Context(), foreignPlan(fmt.Sprintf("a%05d", i)), metav1.CreateOptions{}))(t)
	}
	k.keep(proposal(0, "zones", testMove("zones", "b", "")))
	clear(k.server.Calls)
	k.keep(proposal(1, "zones", testMove("zones", "b", "")))
	own := slices.ContainsFunc(k.plans.Waiting, func(w Plan) bool { return w.Name == "p1" })
	if reads := k.server.Calls["get rebalanceplans"] + k.server.Calls["list rebalanceplans"]; !own || len(k.plans.Waiting) > maxRead+1 || reads > 12 {
		t.Errorf("its own plan is there: %v; %d plans, %d requests", own, len(k.plans.Waiting), reads)
	}
}

// TestTheStoreRepeatsAfterAConflict: an update that another client disturbs is repeated, and a rejection is not.
func TestTheStoreRepeatsAfterAConflict(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	conflicts := 1
	k.server.Fail = func(verb, resource, name string) error {
		if conflicts--; verb == "update/status" && conflicts >= -1 {
			return apierrors.NewConflict(schema.GroupResource{Resource: resource}, name, errors.New("old version"))
		}
		return nil
	}
	k.decide(ToApprove, "alice")
	k.checkStates(Approved)
	rejected := rejectf("no")
	calls := k.server.Calls["list rebalanceplans"]
	if _, err := k.store.Update(t.Context(), nil, func(Plans) (Plans, error) { return Plans{}, rejected }); !errors.Is(err, rejected) ||
		k.server.Calls["list rebalanceplans"] != calls+1 {
		t.Errorf("error %v after %d reads", err, k.server.Calls["list rebalanceplans"]-calls)
	}
}

// TestAFailedWriteIsTriedAgain: a decision that could not be written to the status is no known one.
func TestAFailedWriteIsTriedAgain(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	must.Get(New(k.client).Decide(t.Context(), "p1", ToApprove, StepSelection{}, "alice", noon))(t)
	down := errors.New("etcdserver: request timed out")
	k.server.Fail = func(verb, _, _ string) error {
		if verb == "update/status" {
			return down
		}
		return nil
	}
	register := func(p Plans) (Plans, error) { return p.Known(k.made).Register(noon), nil }
	if _, err := k.store.Update(t.Context(), k.made, register); !errors.Is(err, down) {
		t.Fatal(err)
	}
	if changed := must.Get(k.store.Changed(t.Context(), k.made))(t); !changed {
		t.Error("nobody looks at the decision again")
	}
	k.server.Fail = nil
	if k.register(); must.Get(k.store.Changed(t.Context(), k.made))(t) {
		t.Error("a plan without changes is read again")
	}
	k.checkStates(Approved)
}

// TestAPlanThatCannotBeReadIsLeftOut: neither a plan that nobody can decode, nor one that is too large for a status,
// keeps the others from being decided.
func TestAPlanThatCannotBeReadIsLeftOut(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	large := foreignPlan("large")
	for i := range 3000 {
		m := large.Spec.Moves[0]
		m.Step, m.Reason.Message = int32(i+1), strings.Repeat("x", 500)
		large.Spec.Moves = append(large.Spec.Moves, m)
	}
	for _, o := range []*v1alpha1.RebalancePlan{large, foreignPlan("poisonous")} {
		must.Get(k.client.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	}
	k.server.Fail = func(verb, _, name string) error {
		if verb == "get" && name == "poisonous" {
			return errors.New("quantities must match the regular expression")
		}
		return nil
	}
	if k.decide(ToApprove, "alice", 1); len(k.plans.Waiting) != 1 {
		t.Errorf("%+v", k.plans.Waiting)
	}
	k.checkStates(Approved)
}

// TestAPlanThatIsTooLarge: the error says what to do, and the plans stay as they are.
func TestAPlanThatIsTooLarge(t *testing.T) {
	var moves []plan.Move
	for i := range 3000 {
		moves = append(moves, testMove("zones", fmt.Sprintf("%060d", i), ""))
	}
	n := proposal(0, "zones", moves...)
	for i := range n.Plan.Moves {
		n.Plan.Moves[i].Wave = 1
	}
	k := newLeaderTest(t)
	keep := func(n Proposal) error {
		_, err := k.store.Update(t.Context(), k.made, func(p Plans) (Plans, error) { p, _, err := p.Known(k.made).Keep(n); return p, err })
		return err
	}
	if err := keep(n); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limits.perPass") {
		t.Error(err)
	}
	k.keep(proposal(0, "zones", testMove("zones", "a", "")))
	same, other := proposal(1, "zones", testMove("zones", "a", "")), proposal(1, "zones", testMove("zones", "b", ""))
	same.NoRoom, other.NoRoom = true, true
	if err := keep(same); err != nil {
		t.Errorf("a plan that waits already needs room: %v", err)
	}
	if err := keep(other); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "history.maxBytes") {
		t.Error(err)
	}
	k.checkPhase("p1", v1alpha1.PhaseWaiting, "")
}

// TestABlockedStepIsApprovedAgain: the same decision, written again, makes the leader try the step again.
func TestABlockedStepIsApprovedAgain(t *testing.T) {
	k := newLeaderTest(t)
	k.keep(proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", "")))
	k.decide(ToApprove, "alice", 1)
	r := k.plans.Requests()[0]
	must.Succeed(t, k.store.Claim(t.Context(), &r, "node-7"))
	o := k.object("p1")
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
