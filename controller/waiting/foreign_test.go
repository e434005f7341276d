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

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

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

// TestAPartOfAPlanIsNeverExecuted: whoever stores a filtered plan under the kind of a plan cannot approve it.
func TestAPartOfAPlanIsNeverExecuted(t *testing.T) {
	k := newLeaderTest(t)
	p := proposal(0, "zones", testMove("zones", "a", ""), testMove("zones", "b", "")).Plan
	p.Moves[1].From = "elsewhere"
	part := (&plan.Filter{Nodes: []string{"elsewhere"}}).Select(*p)
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: record.Spec(&part, v1alpha1.ModeApprove)}
	must.Get(k.client.Plans.Create(t.Context(), o, metav1.CreateOptions{}))(t)
	if _, err := New(k.client).Decide(t.Context(), "mine", ToApprove, StepSelection{}, "alice", noon); err == nil {
		t.Error("a part of a plan was approved")
	}
	o = k.object("mine") // as kubectl patches it
	o.Decision = &v1alpha1.Decision{By: "alice", Approve: &v1alpha1.StepSelection{All: true}}
	must.Get(k.client.Plans.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
	k.register()
	if len(o.Spec.Moves) != 1 || len(k.plans.Requests()) > 0 || k.object("mine").Status.Phase != v1alpha1.PhaseExpired {
		t.Errorf("%d moves, %d requests, %+v", len(o.Spec.Moves), len(k.plans.Requests()), k.object("mine").Status)
	}
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
	if err := keep(other); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "64 MiB") {
		t.Error(err)
	}
	k.checkPhase("p1", v1alpha1.PhaseWaiting, "")
}
