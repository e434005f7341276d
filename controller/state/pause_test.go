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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

var (
	asked         = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	pauseResource = schema.GroupResource{Resource: "configmaps"}
)

func newPauseStore(data map[string]string) (PauseStore, *fake.Clientset, *clocktesting.FakePassiveClock) {
	client := fake.NewClientset()
	if data != nil {
		client = fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: PauseName, UID: "m1",
			ResourceVersion: "1", CreationTimestamp: metav1.NewTime(asked.Add(-time.Hour))}, Data: data})
	}
	fakeClock := clocktesting.NewFakePassiveClock(asked)
	return PauseStore{client, "evenkeel", fakeClock}, client, fakeClock
}

func TestPauseHoldsUntilResume(t *testing.T) {
	p, _, clk := newPauseStore(nil)
	ctx := t.Context()
	if why := p.CheckPause(ctx); why != nil {
		t.Fatalf("shut before: %v", why)
	}
	if before, err := p.Pause(ctx, plan.Pause{Since: asked, By: "alice", Reason: "release 42"}); before != nil || err != nil {
		t.Fatal(before, err)
	}
	clk.SetTime(asked.Add(1000 * time.Hour))
	want := "evictions are paused since 2026-01-02T12:00:00Z by alice: release 42"
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
	p, _, clk := newPauseStore(nil)
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
	p, _, clk := newPauseStore(nil)
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

// The existence of the ConfigMap pauses evictions, whatever it contains.
func TestWhatCannotBeUnderstoodHolds(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]string
		want string // part of the message, or "" for no pause
	}{
		"empty":          {map[string]string{}, "since 2026-01-02T11:00:00Z by an unknown user"},
		"a reason alone": {map[string]string{"reason": "fire"}, "by an unknown user: fire"},
		"no such time":   {map[string]string{"by": "a", "until": "tomorrow"}, `until "tomorrow" is not a time, so the pause has no end`},
		"an empty until": {map[string]string{"by": "a", "until": ""}, "the pause has no end"},
		"the zero time":  {map[string]string{"by": "a", "until": "0001-01-01T00:00:00Z"}, "the pause has no end"},
		"no since": {map[string]string{"by": "a", "since": "x"},
			`since 2026-01-02T11:00:00Z by a: (ConfigMap evenkeel-pause: since "x" is not a time)`},
		"a misspelt key":    {map[string]string{"by": "a", "untill": "2026-01-01T00:00:00Z"}, `key "untill" is not known`},
		"lines and control": {map[string]string{"by": "a\nb", "reason": "x\r\n\ty\xff\x1b[2J\u202e"}, "by a b: x y??[2J?"},
		"very long":         {map[string]string{"reason": strings.Repeat("ä", 5000)}, strings.Repeat("ä", maxTextRunes) + "..."},
		"another zone":      {map[string]string{"until": "2026-01-02T13:00:01+01:00"}, "until 2026-01-02T12:00:01Z"},
		"over":              {map[string]string{"until": "2026-01-02T12:00:00Z"}, ""},
		"over, since then":  {map[string]string{"until": "2026-01-02T11:59:59Z", "since": "never"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _ := newPauseStore(c.data)
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

func TestWhatCannotBeReadShutsTheGate(t *testing.T) {
	generic := apierrors.NewGenericServerResponse(404, "get", pauseResource, PauseName, "<h1>Not Found</h1>", 0, true)
	for name, c := range map[string]struct {
		err  error // nil: an answer about another object
		code plan.Code
		want string
	}{
		"another object": {nil, plan.APIError, "about another object"},
		"told to stop":   {context.Canceled, plan.Interrupted, ""},
		"forbidden": {apierrors.NewForbidden(pauseResource, PauseName, errors.New("no")), plan.PermissionMissing,
			"permission to get ConfigMap evenkeel-pause in namespace evenkeel is missing; grant get on configmaps there"},
		"unauthorized": {apierrors.NewUnauthorized("Unauthorized"), plan.PermissionMissing, "is the token still valid?"},
		"in trouble": {apierrors.NewInternalError(errors.New("etcd")), plan.APIError,
			"it is unknown whether evictions are paused: reading ConfigMap evenkeel/evenkeel-pause: "},
		"no answer":                   {errors.New("read: connection reset by peer"), plan.APIError, "connection reset"},
		"a 404 of another web server": {generic, plan.APIError, "it is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			p, client, _ := newPauseStore(nil)
			client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &corev1.ConfigMap{}, c.err
			})
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

// Other clients write first: twice before this client creates the ConfigMap, and then before it updates the ConfigMap.
func TestPauseRetries(t *testing.T) {
	p, client, _ := newPauseStore(nil)
	tried := 0
	client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if tried++; tried > 2 {
			return false, nil, nil
		}
		return true, nil, apierrors.NewAlreadyExists(pauseResource, PauseName)
	})
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, By: "alice"}); err != nil || tried != 3 {
		t.Errorf("%d tries: %v", tried, err)
	}
	tried = 0
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		tried++
		return true, nil, apierrors.NewConflict(pauseResource, PauseName, errors.New("modified"))
	})
	if _, err := p.Pause(t.Context(), plan.Pause{Since: asked, By: "alice"}); err == nil || tried != pauseAttempts ||
		!strings.Contains(err.Error(), "during each of 5 attempts") {
		t.Errorf("%d tries: %v", tried, err)
	}
}

func TestResumeEndsOnlyWhatItSaw(t *testing.T) {
	p, client, _ := newPauseStore(map[string]string{"by": "alice"})
	var seen *metav1.Preconditions
	client.PrependReactor("delete", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		seen = a.(clienttesting.DeleteAction).GetDeleteOptions().Preconditions
		return false, nil, nil
	})
	if _, err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen == nil || seen.UID == nil || *seen.UID != "m1" || seen.ResourceVersion == nil || *seen.ResourceVersion != "1" {
		t.Errorf("preconditions %+v", seen)
	}
}

// A proxy that answers 404 has ended no pause.
func TestResumeIsNotTakenForDoneByAForeignAnswer(t *testing.T) {
	p, client, _ := newPauseStore(map[string]string{"by": "alice"})
	client.PrependReactor("delete", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewGenericServerResponse(404, "delete", pauseResource, PauseName, "<h1>Not Found</h1>", 0, true)
	})
	if _, err := p.Resume(t.Context()); err == nil {
		t.Error("got no error, although the pause is still there")
	}
}
