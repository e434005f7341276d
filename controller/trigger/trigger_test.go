package trigger

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func testRequest(id string, at time.Time) Request {
	return Request{ID: id, Strategy: "zones", By: "alice", At: at}
}

// conflicting makes the fake server reject updates with an old resource version, as an API server does.
func conflicting() *fake.Clientset {
	c := fake.NewClientset()
	version := 0
	c.PrependReactor("*", "configmaps", func(a ktesting.Action) (bool, runtime.Object, error) {
		update, ok := a.(ktesting.UpdateAction) // a create action is one, too
		if !ok {
			return false, nil, nil
		}
		o := update.GetObject().(*corev1.ConfigMap)
		if a.GetVerb() == "update" {
			before, err := c.Tracker().Get(a.GetResource(), o.Namespace, o.Name)
			if err == nil && before.(*corev1.ConfigMap).ResourceVersion != o.ResourceVersion {
				return true, nil, apierrors.NewConflict(corev1.Resource("configmaps"), o.Name, nil)
			}
		}
		version++
		o.ResourceVersion = strings.Repeat("x", version)
		return false, nil, nil
	})
	return c
}

// submitted returns a store with the pending request a.
func submitted(t *testing.T, client *fake.Clientset) *Store {
	t.Helper()
	s := New(client, "evenkeel")
	must.Succeed(t, s.Submit(t.Context(), testRequest("a", noon)))
	return s
}

func TestATriggerIsTakenOnce(t *testing.T) {
	ctx := t.Context()
	s := New(conflicting(), "evenkeel")
	if r, err := s.Pending(ctx); r != nil || err != nil {
		t.Fatalf("no trigger: %+v, %v", r, err)
	}
	must.Succeed(t, s.Submit(ctx, testRequest("a", noon)))
	if a, err := s.Answer(ctx, "a"); a != nil || err != nil {
		t.Errorf("before it is taken: %+v, %v", a, err)
	}
	first, err := s.Pending(ctx)
	if err != nil || first.Strategy != "zones" || first.By != "alice" || !first.At.Equal(noon) || first.ID != "a" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := s.Pending(ctx) // of another leader
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, s.Take(ctx, first, "node-1"))
	if err := s.Take(ctx, second, "node-2"); !apierrors.IsConflict(err) {
		t.Errorf("the second leader: got %v, want a conflict", err)
	}
	if r, err := s.Pending(ctx); r != nil || err != nil {
		t.Errorf("after it was taken: %+v, %v", r, err)
	}
	if a, err := s.Answer(ctx, "a"); err != nil || a == nil || !a.Taken {
		t.Errorf("%+v, %v", a, err)
	}
	if back, err := s.Withdraw(ctx, "a"); back || err != nil {
		t.Errorf("withdrawn after it was taken: %v, %v", back, err)
	}
	if err := s.Submit(ctx, testRequest("b", noon)); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if _, err := s.Answer(ctx, "a"); err == nil || !strings.Contains(err.Error(), "replaced this one") {
		t.Errorf("the first one was replaced: %v", err)
	}
}

func TestARejectedAndAWithdrawnTrigger(t *testing.T) {
	ctx := t.Context()
	s := submitted(t, conflicting())
	if err := s.Submit(ctx, testRequest("b", noon.Add(time.Minute))); err == nil || !strings.Contains(err.Error(), "a trigger of strategy zones by alice") {
		t.Errorf("a second one at the same time: %v", err)
	}
	if err := s.Submit(ctx, testRequest("c", noon.Add(MaxAge+time.Minute))); err != nil {
		t.Errorf("the first one is outdated: %v", err)
	}
	r := must.Get(s.Pending(ctx))(t)
	must.Succeed(t, s.Reject(ctx, r, "no such strategy"))
	if a, err := s.Answer(ctx, "c"); err != nil || a == nil || a.Taken || a.Rejected != "no such strategy" {
		t.Errorf("%+v, %v", a, err)
	}
	must.Succeed(t, s.Submit(ctx, testRequest("d", noon)))
	if back, err := s.Withdraw(ctx, "other"); back || err != nil {
		t.Errorf("another one: %v, %v", back, err)
	}
	if back, err := s.Withdraw(ctx, "d"); !back || err != nil {
		t.Errorf("%v, %v", back, err)
	}
	if r, err := s.Pending(ctx); r != nil || err != nil {
		t.Errorf("after it was withdrawn: %+v, %v", r, err)
	}
}

// The texts of a ConfigMap that somebody wrote by hand are bounded, and a request without a valid time is outdated.
func TestAHandwrittenTrigger(t *testing.T) {
	long := strings.Repeat("x", 5000)
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: ConfigMapName},
		Data: map[string]string{"state": "pending", "strategy": long, "by": long, "id": long, "at": "noon"}}
	r, err := New(fake.NewClientset(o), "evenkeel").Pending(t.Context())
	if err != nil || len(r.Strategy) != 200 || len(r.By) != 200 || len(r.ID) != 200 || !r.Outdated(noon) {
		t.Errorf("%+v, %v", r, err)
	}
	o.Data = nil
	if r, err := New(fake.NewClientset(o), "evenkeel").Pending(t.Context()); r != nil || err != nil {
		t.Errorf("an empty ConfigMap: %+v, %v", r, err)
	}
}

// TestAnAnswerThatWasStoredCounts: the API server stored an update, but its answer was lost. The
// request counts as taken by this process only if this process took it.
func TestAnAnswerThatWasStoredCounts(t *testing.T) {
	lost := errors.New("read tcp: connection reset by peer")
	for _, c := range []struct {
		name   string
		stored map[string]string // in addition to the request
		taken  bool
	}{
		{"taken", map[string]string{keyState: stateTaken, keyHolder: "node-1"}, true},
		{"unchanged", nil, false},
		{"taken by another process", map[string]string{keyState: stateTaken, keyHolder: "node-2"}, false},
		{"withdrawn", map[string]string{keyState: stateWithdrawn}, false},
		{"another request", map[string]string{keyState: stateTaken, keyHolder: "node-1", keyID: "b"}, false},
	} {
		client := fake.NewClientset()
		s := submitted(t, client)
		r := must.Get(s.Pending(t.Context()))(t)
		client.PrependReactor("update", "configmaps", func(a ktesting.Action) (bool, runtime.Object, error) {
			o := r.configMap.DeepCopy()
			maps.Copy(o.Data, c.stored)
			return true, nil, errors.Join(client.Tracker().Update(a.GetResource(), o, "evenkeel"), lost)
		})
		if err := s.Take(t.Context(), r, "node-1"); (err == nil) != c.taken || err != nil && !errors.Is(err, lost) {
			t.Errorf("%s: %v", c.name, err)
		}
		if back, err := s.Withdraw(t.Context(), "a"); back || c.stored == nil && !errors.Is(err, lost) {
			t.Errorf("%s: withdrawn %v, %v", c.name, back, err)
		}
	}
}

// TestAWithdrawalWithALostAnswer checks that Withdraw succeeds if the API server stored the withdrawal, but its answer
// was lost.
func TestAWithdrawalWithALostAnswer(t *testing.T) {
	client := fake.NewClientset()
	s := submitted(t, client)
	client.PrependReactor("update", "configmaps", func(a ktesting.Action) (bool, runtime.Object, error) {
		o := a.(ktesting.UpdateAction).GetObject().(*corev1.ConfigMap)
		return true, nil, errors.Join(client.Tracker().Update(a.GetResource(), o, "evenkeel"), errors.New("timeout"))
	})
	if back, err := s.Withdraw(t.Context(), "a"); !back || err != nil {
		t.Errorf("%v, %v", back, err)
	}
}
