package state

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
)

var (
	asked       = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	rebalancers = schema.GroupResource{Group: "evenkeel.io", Resource: "rebalancers"}
)

// newPauseStore returns the store of a release that has run, and is not paused.
func newPauseStore(t *testing.T) (PauseStore, *objectstest.Server, *clocktesting.FakePassiveClock) {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(asked)
	client, server := objectstest.New(clock)
	must.Get(client.Rebalancers.Create(t.Context(), newRebalancer(nil), metav1.CreateOptions{}))(t)
	return PauseStore{client, clock}, server, clock
}

func TestPauseHoldsUntilResume(t *testing.T) {
	p, _, clk := newPauseStore(t)
	ctx := t.Context()
	if why := p.CheckPause(ctx); why != nil {
		t.Fatalf("shut before: %v", why)
	}
	if before, err := p.Pause(ctx, plan.Pause{Since: asked, By: "alice", Reason: "release 42"}); before != nil || err != nil {
		t.Fatal(before, err)
	}
	clk.SetTime(asked.Add(1000 * time.Hour))
	want := "evictions have been paused since 2026-01-02T12:00:00Z by alice: release 42"
	if why := p.CheckPause(ctx); why == nil || why.Code != plan.Paused || why.Message != want {
		t.Errorf("gate: %v", why)
	}
	before, err := p.Resume(ctx)
	if err != nil || before == nil || before.By != "alice" {
		t.Errorf("resumed: %v %v", before, err)
	}
	if why := p.CheckPause(ctx); why != nil {
		t.Errorf("shut after: %v", why)
	}
	if before, err := p.Resume(ctx); before != nil || err != nil {
		t.Errorf("after two Resume calls: got %v, error %v", before, err)
	}
}

func TestPauseEndsByItself(t *testing.T) {
	p, _, clk := newPauseStore(t)
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, Until: asked.Add(2 * time.Hour), By: "alice"}); err != nil {
		t.Fatal(err)
	}
	clk.SetTime(asked.Add(2*time.Hour - time.Second))
	if why := p.CheckPause(t.Context()); why == nil || !strings.HasSuffix(why.Message, "by alice, until 2026-01-02T14:00:00Z") {
		t.Errorf("gate: %v", why)
	}
	clk.SetTime(asked.Add(2 * time.Hour))
	if why := p.CheckPause(t.Context()); why != nil {
		t.Errorf("the pause did not end: %v", why)
	}
	// After a pause has ended, a new pause has its own owner and start time.
	before, err := p.Pause(t.Context(), plan.Pause{Since: clk.Now(), By: "bob"})
	if before != nil || err != nil {
		t.Errorf("%v %v", before, err)
	}
	if held, err := p.Read(t.Context()); err != nil || held == nil || !held.Since.Equal(clk.Now()) || held.By != "bob" ||
		!held.Until.IsZero() {
		t.Errorf("%+v %v", held, err)
	}
}

func TestAnotherPauseKeepsSinceWhenAndWhy(t *testing.T) {
	p, _, clk := newPauseStore(t)
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, By: "alice", Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	clk.SetTime(asked.Add(time.Hour))
	before, err := p.Pause(t.Context(), plan.Pause{Since: clk.Now(), Until: clk.Now().Add(time.Hour), By: "bob"})
	if err != nil || before == nil || before.By != "alice" || before.Reason != "x" {
		t.Fatalf("%+v %v", before, err)
	}
	held, err := p.Read(t.Context())
	if err != nil || held == nil || *held != (plan.Pause{Since: asked, Until: asked.Add(2 * time.Hour), By: "bob", Reason: "x"}) {
		t.Errorf("%+v %v", held, err)
	}
	if _, err := p.Pause(t.Context(), plan.Pause{Since: clk.Now(), By: "bob", Reason: "y"}); err != nil {
		t.Fatal(err)
	}
	if held, err := p.Read(t.Context()); err != nil || held == nil || *held != (plan.Pause{Since: asked, By: "bob", Reason: "y"}) {
		t.Errorf("with a new reason: got %+v, error %v", held, err)
	}
}

// kubectl may set a pause with any of its fields.
func TestAnyPauseHolds(t *testing.T) {
	later, before := metav1.NewTime(asked.Add(time.Second)), metav1.NewTime(asked)
	for name, c := range map[string]struct {
		pause v1alpha1.Pause
		want  string // part of the message, or "" for no pause
	}{
		"empty":             {v1alpha1.Pause{}, "evictions are paused by an unknown user"},
		"a reason alone":    {v1alpha1.Pause{Reason: "fire"}, "by an unknown user: fire"},
		"lines and control": {v1alpha1.Pause{By: "a\nb", Reason: "x\r\n\ty\xff\x1b[2J\u202e"}, "by a b: x y"},
		"very long":         {v1alpha1.Pause{Reason: strings.Repeat("ä", 5000)}, strings.Repeat("ä", maxTextRunes) + "..."},
		"ends later":        {v1alpha1.Pause{By: "a", Until: &later}, "until 2026-01-02T12:00:01Z"},
		"has ended":         {v1alpha1.Pause{By: "a", Until: &before}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _ := newPauseStore(t)
			must.Succeed(t, p.change(t.Context(), nil, func(o *v1alpha1.Rebalancer) bool { o.Spec.Pause = &c.pause; return true }))
			why := p.CheckPause(t.Context())
			switch {
			case c.want == "" && why != nil:
				t.Errorf("paused: %v", why)
			case c.want != "" && (why == nil || why.Code != plan.Paused || !strings.Contains(why.Message, c.want)):
				t.Errorf("%v, want %q", why, c.want)
			}
		})
	}
}

// No eviction is requested while it is unknown whether evictions are paused.
func TestWhatCannotBeReadShutsTheGate(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code plan.Code
		want string
	}{
		"told to stop": {context.Canceled, plan.Interrupted, ""},
		"forbidden": {apierrors.NewForbidden(rebalancers, objects.ReleaseName, errors.New("no")), plan.PermissionMissing,
			"permission to get Rebalancer evenkeel in namespace evenkeel is missing; grant get on rebalancers.evenkeel.io there"},
		"unauthorized": {apierrors.NewUnauthorized("Unauthorized"), plan.PermissionMissing, "is the token still valid?"},
		"in trouble": {apierrors.NewInternalError(errors.New("etcd")), plan.APIError,
			"it is unknown whether evictions are paused: reading Rebalancer evenkeel/evenkeel: "},
		"no answer": {errors.New("read: connection reset by peer"), plan.APIError, "connection reset"},
		"no such kind, or another web server": {apierrors.NewGenericServerResponse(404, "get", rebalancers, objects.ReleaseName, "404 page not found", 0, true),
			plan.APIError, "install the CustomResourceDefinitions"},
		"no Rebalancer": {apierrors.NewNotFound(rebalancers, objects.ReleaseName), plan.APIError, "the Rebalancer evenkeel does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			p, server, _ := newPauseStore(t)
			server.Fail = func(string, string, string) error { return c.err }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if errors.Is(c.err, context.Canceled) {
				cancel()
			}
			if why := p.CheckPause(ctx); why == nil || why.Code != c.code || !strings.Contains(why.Message, c.want) {
				t.Errorf("got %+v, want %s and a message with %q", why, c.code, c.want)
			}
		})
	}
}

// Another client writes during every attempt. A pause is possible before the release has run.
func TestPauseRetries(t *testing.T) {
	p, server, _ := newPauseStore(t)
	tried := 0
	server.Fail = func(verb, _, _ string) error {
		if verb != "update" {
			return nil
		}
		tried++
		return apierrors.NewConflict(rebalancers, objects.ReleaseName, errors.New("modified"))
	}
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, By: "alice"}); err == nil || tried != pauseAttempts ||
		!strings.Contains(err.Error(), "during each of 5 attempts") {
		t.Errorf("%d tries: %v", tried, err)
	}
	must.Succeed(t, p.Objects.Rebalancers.Delete(t.Context(), objects.ReleaseName, metav1.DeleteOptions{}))
	if before, err := p.Resume(t.Context()); before != nil || err != nil {
		t.Errorf("resuming a release that has not run: %v, %v", before, err)
	}
	must.Succeed(t, p.Objects.Rebalancers.Delete(t.Context(), objects.ReleaseName, metav1.DeleteOptions{}))
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, By: "alice"}); err != nil {
		t.Error(err)
	}
	if why := p.CheckPause(t.Context()); why == nil || why.Code != plan.Paused {
		t.Errorf("got %v, want a pause", why)
	}
}

// Only a person ends a pause: neither a deleted Rebalancer nor the upgrade from a version with ConfigMaps does.
func TestADeletedRebalancerEndsNoPause(t *testing.T) {
	former := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: FormerPauseName, UID: "m1"},
		Data: map[string]string{"by": "alice", "until": "tomorrow", "reason": "release 42"}}
	for name, c := range map[string]struct {
		config *corev1.ConfigMap
		known  bool   // the state knows a former Rebalancer
		paused bool   // and a pause in it
		want   string // "" for no pause
	}{
		"the first start":                      {nil, false, false, ""},
		"an upgrade while paused":              {former, false, false, "by alice: release 42"},
		"deleted while paused":                 {nil, true, true, "by bob"},
		"deleted, and perhaps a pause with it": {nil, true, false, "by evenkeel: the Rebalancer was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _ := newPauseStore(t)
			must.Succeed(t, p.Objects.Rebalancers.Delete(t.Context(), objects.ReleaseName, metav1.DeleteOptions{}))
			kube := fake.NewClientset()
			if c.config != nil {
				kube = fake.NewClientset(c.config)
			}
			w := WithPause{Store: New(kube, "evenkeel"), Pauses: p}
			if c.known {
				st := must.Get(w.Store.Load(t.Context()))(t)
				if st.Rebalancer = "uid-of-the-former"; c.paused {
					st.Pause = &plan.Pause{Since: asked, By: "bob"}
				}
				must.Succeed(t, w.Save(t.Context(), st))
			}
			st := must.Get(w.Load(t.Context()))(t)
			why := p.CheckPause(t.Context())
			if (why == nil) != (c.want == "") || why != nil && !strings.Contains(why.Message, c.want) {
				t.Errorf("the gate says %v, want %q", why, c.want)
			}
			if (st.Pause == nil) != (c.want == "") || st.Rebalancer == "" || st.Rebalancer == "uid-of-the-former" {
				t.Errorf("state: pause %v, Rebalancer %q", st.Pause, st.Rebalancer)
			}
			must.Get(p.Resume(t.Context()))(t)
			if st = must.Get(w.Load(t.Context()))(t); st.Pause != nil {
				t.Errorf("after a person resumed: %v", st.Pause)
			}
		})
	}
}

// A dry run evicts nothing, so it loads the state without the definitions.
func TestADryRunNeedsNoPause(t *testing.T) {
	p, server, _ := newPauseStore(t)
	server.Fail = func(string, string, string) error { return errors.New("no such kind") }
	for _, dry := range []bool{true, false} {
		_, err := WithPause{Store: New(fake.NewClientset(), "evenkeel"), Pauses: p, DryRun: dry}.Load(t.Context())
		if (err == nil) != dry {
			t.Errorf("dry run %t: error %v", dry, err)
		}
	}
}

// A person who pauses in the way of an earlier version is not ignored.
func TestALaterConfigMapStopsEvictions(t *testing.T) {
	p, _, _ := newPauseStore(t)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: FormerPauseName, UID: "m1"}}
	for _, dry := range []bool{true, false} {
		_, err := WithPause{Store: New(fake.NewClientset(cm), "evenkeel"), Pauses: p, DryRun: dry}.Load(t.Context())
		if dry != (err == nil) || !dry && !strings.Contains(err.Error(), "delete the ConfigMap") {
			t.Errorf("dry run %t: error %v, want one that says what to do, only where pods are evicted", dry, err)
		}
	}
}
