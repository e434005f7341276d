package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

// recordedController is a controller of two waves with one move each, which keeps its objects in memory.
func recordedController(t *testing.T, e evictor.Evictor, mode plan.Mode) (*controller.Controller, *objects.Client, *objectstest.Server) {
	t.Helper()
	c, _ := newController(t, e, mode)
	client, server := objectstest.New(c.Clock)
	release := must.Get(client.Rebalancers.Create(t.Context(), &v1alpha1.Rebalancer{ObjectMeta: metav1.ObjectMeta{Name: objects.ReleaseName}},
		metav1.CreateOptions{}))(t)
	c.Store.(*memoryStore).bytes = must.Get(json.Marshal(plan.PlannerState{Rebalancer: string(release.UID)}))(t)
	c.Records = &records.Store{Client: client, Clock: c.Clock, Log: c.Log, Version: "v1", Holder: "pod-a", Schedule: "Deployment",
		Retention: records.Retention{Keep: 24 * time.Hour, MaxBytes: 1 << 20}}
	return c, client, server
}

func storedPlans(t *testing.T, c *objects.Client) []v1alpha1.RebalancePlan {
	t.Helper()
	return must.Get(c.Plans.List(t.Context(), metav1.ListOptions{}))(t).Items
}

// A pass stores its plan before the first eviction, and then what happened. Another process can read both.
func TestAPassIsStoredBeforeItsFirstEviction(t *testing.T) {
	e := &scriptedEvictor{}
	c, client, server := recordedController(t, e, plan.Live)
	var during []v1alpha1.Phase
	e.during = func() {
		for _, o := range storedPlans(t, client) {
			during = append(during, o.Status.Phase)
		}
		c.Clock.(*clocktesting.FakeClock).Step(time.Minute)
	}
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if !slices.Equal(during, []v1alpha1.Phase{v1alpha1.PhaseRunning, v1alpha1.PhaseRunning}) {
		t.Errorf("during the two waves the plan is %v, want Running", during)
	}
	if n := calls(server) - 2; n > 6+2+5 { // the first pass also reads the definitions, and reads and creates the release and the history
		t.Errorf("%d calls (%v), want at most 6 for the pass, 2 for its waves, and 5 for the first pass", n, server.Calls)
	}
	all := storedPlans(t, client)
	if len(all) != 1 || all[0].Name != "20260101-000030-r1" || all[0].Spec.ID != r.Plan.ID || len(all[0].Spec.Moves) != 2 {
		t.Fatalf("stored %+v, want the plan of the pass", all)
	}
	s := all[0].Status
	if s.Phase != v1alpha1.PhaseCompleted || s.Evicted != 2 || s.Holder != "pod-a" || len(s.Steps) != 2 || s.Steps[1].EvictedAt == nil {
		t.Errorf("status %+v, want two evictions with their times", s)
	}
	release := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
	if p := release.Status.LastPass; p == nil || p.Plan != all[0].Name || p.Evicted != 2 || release.Status.Mode != "Live" {
		t.Errorf("release %+v, want the pass with two evictions", release.Status)
	}
	if o := all[0].OwnerReferences; len(o) != 1 || o[0].UID != release.UID {
		t.Errorf("owners %v, want the Rebalancer", o)
	}
	h := must.Get(client.Histories.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
	if len(h.Hours) != 1 || h.Hours[0].Evicted != 2 {
		t.Errorf("hours %+v, want one with two moves", h.Hours)
	}
	clear(server.Calls)
	c.NewRunID = func() string { return "r2" }
	must.Get(c.RunOnce(t.Context(), nil))(t)
	if n := calls(server) - 2; n > 6+2 {
		t.Errorf("%d calls (%v) of a second pass, want at most 6 for the pass and 2 for its waves", n, server.Calls)
	}
}

func calls(s *objectstest.Server) (n int) {
	for _, k := range s.Calls {
		n += k
	}
	return n
}

// Nothing is evicted for a plan that cannot be stored. A dry run goes on.
func TestNoEvictionWithoutARecord(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "evenkeel.io", Resource: "rebalanceplans"}, "", errors.New("no"))
	for verb, mode := range map[string]plan.Mode{"create": plan.Live, "update/status": plan.Live, "": plan.DryRun} {
		e := &scriptedEvictor{}
		var used evictor.Evictor = e
		if mode == plan.DryRun {
			used = evictor.DryRun{}
		}
		c, _, server := recordedController(t, used, mode)
		server.Fail = func(v, resource, _ string) error {
			if resource == "rebalanceplans" && (verb == "" || v == verb) {
				return forbidden
			}
			return nil
		}
		r, err := c.RunOnce(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case mode == plan.DryRun && (r.Stopped != nil || r.Outcomes[0].Outcome != plan.WouldEvict):
			t.Errorf("a dry run without objects: %+v", r.Outcomes)
		case mode == plan.Live && (len(e.waves) > 0 || r.Stopped == nil || r.Stopped.Code != plan.StateUnavailable):
			t.Errorf("%s fails: %d waves, stopped %v; want no wave, and StateUnavailable", verb, len(e.waves), r.Stopped)
		}
	}
}

// An API server that does not answer when the pass writes what it has done so far does not delay the next wave. The end
// of the pass is written all the same.
func TestASlowAPIServerDoesNotDelayTheNextWave(t *testing.T) {
	e := &scriptedEvictor{}
	c, client, _ := recordedController(t, e, plan.Live)
	slow := &slowPlans{Kind: client.Plans}
	client.Plans = slow
	e.during = func() {
		if len(e.waves) == 2 && slow.ended.Load() {
			t.Error("the second wave began after the write of the first had ended")
		}
		c.Clock.(*clocktesting.FakeClock).Step(time.Minute)
	}
	must.Get(c.RunOnce(t.Context(), nil))(t)
	if s := storedPlans(t, client)[0].Status; s.Phase != v1alpha1.PhaseCompleted || s.Evicted != 2 || !slow.ended.Load() {
		t.Errorf("status %+v, want the end with two evictions, after a write that was ended", s)
	}
}

// slowPlans answers the second write of a status only when the client ends it.
type slowPlans struct {
	objects.Kind[*v1alpha1.RebalancePlan, *v1alpha1.RebalancePlanList]
	writes atomic.Int32
	ended  atomic.Bool
}

func (p *slowPlans) UpdateStatus(ctx context.Context, o *v1alpha1.RebalancePlan, opts metav1.UpdateOptions) (*v1alpha1.RebalancePlan, error) {
	if p.writes.Add(1) == 2 {
		<-ctx.Done()
		p.ended.Store(true)
		return nil, ctx.Err()
	}
	return p.Kind.UpdateStatus(ctx, o, opts)
}

// A lost answer to a write neither stores a plan twice nor stops the pass at its end.
func TestLostAnswersOfTheObjects(t *testing.T) {
	c, client, server := recordedController(t, &scriptedEvictor{}, plan.Live)
	lost := map[string]bool{}
	server.After = func(verb, resource, _ string) error {
		if call := verb + resource; verb == "update/status" && !lost[call] && resource == "rebalancers" {
			lost[call] = true
			return errors.New("the connection was closed")
		}
		return nil
	}
	for i := range 2 {
		c.NewRunID = func() string { return fmt.Sprint("r", i) }
		must.Get(c.RunOnce(t.Context(), nil))(t)
	}
	if n := len(storedPlans(t, client)); n != 2 {
		t.Errorf("%d plans, want 2", n)
	}
	release := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
	if release.Status.LastPass.RunID != "r1" {
		t.Errorf("the release shows pass %s, want r1", release.Status.LastPass.RunID)
	}
}

// The outcomes of a pass whose process died come from its reservations.
func TestARecoveredPassIsShown(t *testing.T) {
	e := &scriptedEvictor{}
	c, client, _ := recordedController(t, e, plan.Live)
	store := c.Store.(*memoryStore)
	at := c.Clock.Now()
	e.during = func() { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		_, _ = c.RunOnce(t.Context(), nil)
	}()
	if o := storedPlans(t, client)[0]; o.Status.Phase != v1alpha1.PhaseRunning {
		t.Fatalf("the plan of the dead process is %s, want Running", o.Status.Phase)
	}
	next, nextClient, _ := recordedController(t, &scriptedEvictor{}, plan.Live)
	*nextClient = *client
	next.Store, next.NewRunID = store, func() string { return "r2" }
	next.Resolver = resolver(func() (plan.Outcome, error) {
		return plan.Outcome{Outcome: plan.Evicted, Landed: "node", LandedAsPredicted: true}, nil
	})
	must.Get(next.RunOnce(t.Context(), nil))(t)
	s := storedPlans(t, client)[0].Status
	if s.Phase != v1alpha1.PhaseStopped || s.Evicted != 1 || s.AsPredicted != 1 || !s.Steps[0].EvictedAt.Equal(&metav1.Time{Time: at.UTC()}) {
		t.Errorf("status %+v, want one eviction, and Stopped", s)
	}
}

// A definition that is older than the program drops fields that it does not know. Nothing is evicted then.
func TestAnOlderDefinitionStopsThePass(t *testing.T) {
	e := &scriptedEvictor{}
	c, client, _ := recordedController(t, e, plan.Live)
	client.Plans = droppingPlans{client.Plans}
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if len(e.waves) > 0 || r.Stopped == nil || !strings.Contains(r.Stopped.Message, "is older than this program") {
		t.Errorf("%d waves, stopped %v; want none, and the definition as the reason", len(e.waves), r.Stopped)
	}
}

// If the published definitions lack what the program writes, a live pass ends before it plans. A dry
// run goes on. The first pass after the update evicts.
func TestPublishedDefinitionsThatAreOlder(t *testing.T) {
	e := &scriptedEvictor{}
	c, _, server := recordedController(t, e, plan.Live)
	now := server.Definitions
	server.Definitions = []byte(strings.ReplaceAll(string(now), `"readyAfter":`, `"ready":`))
	r, err := c.RunOnce(t.Context(), nil)
	if err == nil || len(e.waves) > 0 || r.Stopped.Code != plan.StateUnavailable || !strings.Contains(r.Stopped.Message,
		"does not know RebalancePlan.status.steps[].readyAfter: its CustomResourceDefinition is older") {
		t.Errorf("%d waves, stopped %+v; want none, and the definitions as the reason", len(e.waves), r.Stopped)
	}
	server.Definitions = now
	if must.Get(c.RunOnce(t.Context(), nil))(t); len(e.waves) != 2 {
		t.Errorf("%d waves after the update, want 2", len(e.waves))
	}
	dry, _, server := recordedController(t, evictor.DryRun{}, plan.DryRun)
	server.Definitions = nil
	if r := must.Get(dry.RunOnce(t.Context(), nil))(t); r.Stopped != nil {
		t.Errorf("a dry run stopped: %v", r.Stopped)
	}
}

// droppingPlans loses a field of each new plan.
type droppingPlans struct {
	objects.Kind[*v1alpha1.RebalancePlan, *v1alpha1.RebalancePlanList]
}

func (d droppingPlans) Create(ctx context.Context, o *v1alpha1.RebalancePlan, opts metav1.CreateOptions) (*v1alpha1.RebalancePlan, error) {
	o = v1alpha1.DeepCopy(o)
	o.Spec.Moves[0].From = ""
	return d.Kind.Create(ctx, o, opts)
}

// The conditions of the release show a pause, and its end, without a pass. A pass in progress goes on.
func TestTheConditionsFollowThePause(t *testing.T) {
	e := &scriptedEvictor{}
	c, client, server := recordedController(t, e, plan.Live)
	condition := func(kind string) string {
		o := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
		for _, x := range o.Status.Conditions {
			if x.Type == kind {
				return fmt.Sprintf("%s %s of generation %d", x.Status, x.Reason, x.ObservedGeneration)
			}
		}
		return "none"
	}
	pause := func(p *v1alpha1.Pause) {
		o := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
		o.Spec.Pause = p
		must.Get(client.Rebalancers.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
		must.Succeed(t, c.Records.WritePause(t.Context()))
	}
	must.Get(c.RunOnce(t.Context(), nil))(t)
	e.during = func() { e.during = func() {}; pause(&v1alpha1.Pause{By: "alice"}) }
	c.NewRunID = func() string { return "r2" }
	must.Get(c.RunOnce(t.Context(), nil))(t)
	if got := condition("Evicting") + ", " + condition("Paused"); got != "False Paused of generation 2, True Paused of generation 2" {
		t.Errorf("after a pause during a pass: Evicting and Paused are %s", got)
	}
	pause(nil)
	if got := condition("Evicting") + ", " + condition("Paused") + ", " + condition("Ready"); got !=
		"True Permitted of generation 3, False NotPaused of generation 3, True PassEnded of generation 2" {
		t.Errorf("after its end: Evicting, Paused and Ready are %s", got)
	}
	writes := server.Calls["update/status rebalancers"]
	must.Succeed(t, c.Records.WritePause(t.Context()))
	if n := server.Calls["update/status rebalancers"] - writes; n != 0 {
		t.Errorf("%d writes without a change", n)
	}
}

// If the API server refuses what happened in a pass, the next pass writes it, before it evicts anything: that of the
// same process as it was, and that of another process from the reservations.
func TestAnUnwrittenEndIsWrittenLater(t *testing.T) {
	for _, same := range []bool{true, false} {
		e := &scriptedEvictor{}
		c, client, server := recordedController(t, e, plan.Live)
		reports := 0
		c.OnReport = func(plan.RunReport) { reports++ }
		server.Fail = func(verb, resource, _ string) error {
			if verb == "update/status" && resource == "rebalanceplans" && len(e.waves) == 2 {
				return errors.New("refused")
			}
			return nil
		}
		must.Get(c.RunOnce(t.Context(), nil))(t)
		if s := storedPlans(t, client)[0].Status; s.Phase != v1alpha1.PhaseRunning || len(s.Steps) != 0 {
			t.Fatalf("status %+v, want that no end is written", s)
		}
		next, phase, want := c, v1alpha1.PhaseCompleted, 2
		if !same {
			other, otherClient, _ := recordedController(t, &scriptedEvictor{}, plan.Live)
			*otherClient = *client
			other.Store, other.OnReport = c.Store, c.OnReport
			next, phase, want = other, v1alpha1.PhaseStopped, 3
		}
		server.Fail = nil
		next.NewRunID, next.Resolver = func() string { return "r2" }, resolver(func() (plan.Outcome, error) { return plan.Outcome{}, errors.New("none is open") })
		must.Get(next.RunOnce(t.Context(), nil))(t)
		if s := storedPlans(t, client)[0].Status; s.Phase != phase || s.Evicted != 2 || len(s.Steps) != 2 || reports != want {
			t.Errorf("same process %t: status %+v after %d reports, want %s with two evictions, and %d reports", same, s, reports, phase, want)
		}
		h := must.Get(client.Histories.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
		if n := h.Hours[0].Evicted; n != 4 {
			t.Errorf("same process %t: the history counts %d evictions, want 4", same, n)
		}
	}
}

// A dry run beside a release that evicts, such as one on a person's machine, leaves the objects of the release as they
// are. The dry run of the release itself writes them.
func TestADryRunBesideARelease(t *testing.T) {
	for _, c := range []struct {
		name, mode, schedule string
		leads                bool
		err                  error
		next                 time.Duration // 0: unknown
		writes               bool
	}{
		{name: "beside a leader", mode: "Live", schedule: "Deployment", leads: true, next: -time.Minute},
		{name: "the Lease is unreadable", mode: "Live", schedule: "Deployment", err: errors.New("no")},
		{name: "between two jobs", mode: "Live", schedule: "CronJob", next: time.Hour},
		{name: "the first job of a dry run", mode: "Live", schedule: "CronJob", next: -time.Second, writes: true},
		{name: "after a Deployment that evicted", mode: "Live", schedule: "Deployment", next: time.Hour, writes: true},
		{name: "after a dry run", mode: "DryRun", schedule: "Deployment", leads: true, writes: true},
		{name: "the first pass", leads: true, writes: true},
	} {
		run, client, _ := recordedController(t, evictor.DryRun{}, plan.DryRun)
		o := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
		if c.mode != "" {
			o.Status = v1alpha1.RebalancerStatus{Mode: c.mode, Schedule: c.schedule, Leader: "pod-z", LastPass: &v1alpha1.PassSummary{RunID: "live"}}
		}
		if c.next != 0 {
			next := metav1.NewTime(run.Clock.Now().Add(c.next))
			o.Status.Strategies = []v1alpha1.StrategyStatus{{Name: "other"}, {Name: "zones", NextPass: &next}}
		}
		o = must.Get(client.Rebalancers.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}))(t)
		old := must.Get(client.Plans.Create(t.Context(), &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "old"}}, metav1.CreateOptions{}))(t)
		run.Records.EvictorLeads = func(context.Context) (bool, error) { return c.leads, c.err }
		run.Records.Keep = time.Nanosecond
		run.Clock.(*clocktesting.FakeClock).Step(time.Second)
		must.Get(run.RunOnce(t.Context(), nil))(t)
		after := must.Get(client.Rebalancers.Get(t.Context(), objects.ReleaseName, metav1.GetOptions{}))(t)
		stored, history := storedPlans(t, client), must.Get(client.Histories.List(t.Context(), metav1.ListOptions{}))(t)
		if wrote := after.ResourceVersion != o.ResourceVersion; wrote != c.writes || (len(history.Items) > 0) != c.writes ||
			!c.writes && (len(stored) != 1 || stored[0].Name != old.Name) {
			t.Errorf("%s: the release was written: %t, want %t; plans %d, histories %d", c.name, wrote, c.writes, len(stored), len(history.Items))
		}
	}
}
