package approval

import (
	"errors"
	"fmt"
	"reflect"
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

func testRequest(id string, moves int) Request {
	r := Request{ApprovedBy: "alice", ApprovedAt: noon, Plan: plan.Plan{APIVersion: plan.APIVersion, Kind: "Plan", ID: id}}
	for i := range moves {
		r.Plan.Moves = append(r.Plan.Moves, plan.Move{Step: i + 1,
			Pod: plan.PodRef{Namespace: "shop", Name: fmt.Sprint("d-", i), UID: fmt.Sprint(i * 7919)}})
	}
	return r
}

// submitted returns a store with a pending request.
func submitted(t *testing.T, client *fake.Clientset, r Request) *Store {
	t.Helper()
	b := New(client, "evenkeel")
	must.Succeed(t, b.Submit(t.Context(), r))
	return b
}

// claimed returns a store with request a1, which node-1 has claimed.
func claimed(t *testing.T, client *fake.Clientset) (*Store, *Request) {
	t.Helper()
	b := submitted(t, client, testRequest("a1", 1))
	r, err := b.Pending(t.Context())
	if err != nil || b.Claim(t.Context(), r, "node-1") != nil {
		t.Fatal(err)
	}
	return b, r
}

func TestARequestIsTakenAndAnswered(t *testing.T) {
	ctx := t.Context()
	want := testRequest("a1", 3)
	b := submitted(t, fake.NewClientset(), want)
	if r, err := b.Report(ctx, "a1"); r != nil || err != nil {
		t.Errorf("before the plan was executed: got report %v, error %v", r, err)
	}
	got, err := b.Pending(ctx)
	if err != nil || got == nil || got.ApprovedBy != "alice" || !got.ApprovedAt.Equal(noon) || !reflect.DeepEqual(got.Plan, want.Plan) {
		t.Fatalf("%v, %+v", err, got)
	}
	must.Succeed(t, b.Claim(ctx, got, "node-1"))
	must.Succeed(t, b.Complete(ctx, *got, plan.RunReport{RunID: "r1"}))
	r, err := b.Report(ctx, "a1")
	if err != nil || r == nil || r.RunID != "r1" {
		t.Errorf("%v, %+v", err, r)
	}
	if err := b.Submit(ctx, testRequest("a2", 1)); err != nil {
		t.Errorf("a second request after the execution: got error %v", err)
	}
	if _, err := b.Report(ctx, "a1"); err == nil || !strings.Contains(err.Error(), "a2") {
		t.Errorf("after a newer request replaced it: got error %v", err)
	}
}

// TestAReportIsStoredOnce repeats Complete after its first answer was lost, after another client
// changed the object, and after another request replaced it. Each case starts with a conflict,
// because the resource version is old.
func TestAReportIsStoredOnce(t *testing.T) {
	change := func(b *Store, f func(now *corev1.ConfigMap)) error {
		now, err := b.get(t.Context())
		if err != nil {
			return err
		}
		f(now)
		_, err = b.update(t.Context(), now)
		return err
	}
	for _, c := range []struct {
		name      string
		meanwhile func(b *Store, r *Request) error
		want      error
		runID     string
	}{
		{"stored already", func(b *Store, r *Request) error { return b.Complete(t.Context(), *r, plan.RunReport{RunID: "first"}) }, nil, "first"},
		{"labels changed", func(*Store, *Request) error { return nil }, nil, "second"},
		{"replaced", func(b *Store, r *Request) error {
			if err := b.Complete(t.Context(), *r, plan.RunReport{}); err != nil {
				return err
			}
			return b.Submit(t.Context(), testRequest("a2", 1))
		}, ErrReplaced, ""},
		{"submitted again", func(b *Store, r *Request) error {
			if err := b.Complete(t.Context(), *r, plan.RunReport{}); err != nil {
				return err
			}
			again := testRequest("a1", 1)
			again.ApprovedAt = noon.Add(time.Minute)
			return b.Submit(t.Context(), again)
		}, ErrReplaced, ""},
		{"deleted and submitted again", func(b *Store, r *Request) error {
			return change(b, func(now *corev1.ConfigMap) { now.UID = "another" })
		}, ErrReplaced, ""},
		{"claimed by another process", func(b *Store, _ *Request) error {
			return change(b, func(now *corev1.ConfigMap) { now.Data[keyHolder] = "node-2" })
		}, ErrReplaced, ""},
		{"claimed again by a process of the same name", func(b *Store, _ *Request) error {
			again, err := b.Pending(t.Context())
			if err != nil {
				return err
			}
			return b.Claim(t.Context(), again, "node-1")
		}, ErrReplaced, ""},
		{"deleted", func(b *Store, _ *Request) error {
			return b.configMaps.Delete(t.Context(), ConfigMapName, metav1.DeleteOptions{})
		}, ErrReplaced, ""},
	} {
		client := fake.NewClientset()
		b, got := claimed(t, client)
		if err := c.meanwhile(b, got); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		conflict := true
		client.PrependReactor("update", "configmaps", func(ktesting.Action) (bool, runtime.Object, error) {
			defer func() { conflict = false }()
			return conflict, nil, apierrors.NewConflict(corev1.Resource("configmaps"), ConfigMapName, errors.New("old version"))
		})
		if err := b.Complete(t.Context(), *got, plan.RunReport{RunID: "second"}); !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %v", c.name, err, c.want)
		}
		if r, _ := b.Report(t.Context(), "a1"); c.runID != "" && (r == nil || r.RunID != c.runID) {
			t.Errorf("%s: stored report %+v, want that of run %s", c.name, r, c.runID)
		}
	}
}

// TestAReportThatIsRefusedIsNotStoredAgain: only a conflict, or a request that is gone, is looked at again.
func TestAReportThatIsRefusedIsNotStoredAgain(t *testing.T) {
	client := fake.NewClientset()
	b, got := claimed(t, client)
	updates := 0
	client.PrependReactor("update", "configmaps", func(ktesting.Action) (bool, runtime.Object, error) {
		updates++
		return updates == 1, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), ConfigMapName,
			errors.New("no permission"))
	})
	if err := b.Complete(t.Context(), *got, plan.RunReport{}); !apierrors.IsForbidden(err) || updates != 1 {
		t.Errorf("got error %v after %d updates, want the refusal after one", err, updates)
	}
}

// TestARequestWhoseLeaderEndedIsOfferedAgain: the next leader gets the request, with the number of processes that took
// it. Interrupt answers it.
func TestARequestWhoseLeaderEndedIsOfferedAgain(t *testing.T) {
	want := testRequest("a1", 1)
	want.WaitingPlan, want.Plan.Expires = "w1", noon.Add(24*time.Hour)
	b := submitted(t, fake.NewClientset(), want)
	for attempt := range 3 {
		got, err := b.Pending(t.Context())
		if err != nil || got == nil || got.Attempts != attempt || got.Plan.ID != "a1" || got.WaitingPlan != "w1" {
			t.Fatalf("after %d processes: %+v, %v", attempt, got, err)
		}
		if err := b.Claim(t.Context(), got, fmt.Sprint("node-", attempt)); err != nil || got.Attempts != attempt+1 {
			t.Fatal(err)
		}
	}
	got, err := b.Pending(t.Context())
	if err != nil || got.Holder != "node-2" {
		t.Fatalf("%+v, %v", got, err)
	}
	if of, err := b.Unfinished(t.Context()); err != nil || of != "w1" {
		t.Errorf("unfinished: %q, %v", of, err)
	}
	must.Succeed(t, b.Interrupt(t.Context(), *got, "three processes ended"))
	if r, err := b.Report(t.Context(), "a1"); err != nil || r == nil || r.Stopped.Code != plan.Interrupted || r.Stopped.Message != "three processes ended" {
		t.Errorf("%v, %+v", err, r)
	}
	if of, err := b.Unfinished(t.Context()); err != nil || of != "" {
		t.Errorf("unfinished after the report: %q, %v", of, err)
	}
}

// TestApprovedStepsAreNotReplaced: steps of a waiting plan may wait for the next job until their plan expires.
func TestApprovedStepsAreNotReplaced(t *testing.T) {
	first := testRequest("a1", 1)
	first.WaitingPlan, first.Plan.Expires = "w1", noon.Add(24*time.Hour)
	b := submitted(t, fake.NewClientset(), first)
	next := testRequest("a2", 1)
	next.ApprovedAt = noon.Add(23 * time.Hour)
	if err := b.Submit(t.Context(), next); err == nil || !strings.Contains(err.Error(), "a part of plan w1, approved by alice") {
		t.Errorf("before the plan expires: %v", err)
	}
	next.ApprovedAt = noon.Add(24 * time.Hour)
	if err := b.Submit(t.Context(), next); err != nil {
		t.Errorf("after the plan expired: %v", err)
	}
}

func TestWhatCannotBeReadIsAnswered(t *testing.T) {
	bomb := must.Get(state.Compress(make([]byte, 70<<20)))(t)
	for name, content := range map[string][]byte{"nothing": nil, "not packed": []byte("{}"), "too large": bomb} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "evenkeel", Name: ConfigMapName},
			Data:       map[string]string{keyState: statePending, keyID: "b"},
			BinaryData: map[string][]byte{keyPlan: content}}
		if content == nil {
			o.BinaryData = nil
		}
		c := fake.NewClientset(o)
		b := New(c, "evenkeel")
		if got, err := b.Pending(t.Context()); err == nil || got != nil {
			t.Errorf("%s: got request %+v", name, got)
		}
		if r, err := b.Report(t.Context(), "b"); err != nil || r == nil || r.Stopped.Code != plan.PlanRefused {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

func TestPlansTooLargeAreRefused(t *testing.T) {
	r := testRequest("c", 0)
	seed := uint64(1)
	for i := range 60000 { // random data, which hardly compresses
		seed = seed*6364136223846793005 + 1442695040888963407
		r.Plan.Moves = append(r.Plan.Moves, plan.Move{Step: i, Pod: plan.PodRef{UID: fmt.Sprintf("%x%x", seed, seed*seed)}})
	}
	if err := New(fake.NewClientset(), "evenkeel").Submit(t.Context(), r); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}

// TestOnlyAPendingRequestIsTaken: Pending returns no request that is answered, withdrawn or in an unknown state, and
// does not change it.
func TestOnlyAPendingRequestIsTaken(t *testing.T) {
	for _, state := range []string{stateAnswered, stateWithdrawn, "", "PENDING"} {
		b := New(fake.NewClientset(requestInState(t, state)), "evenkeel")
		got, err := b.Pending(t.Context())
		o, _ := b.get(t.Context())
		if err != nil || got != nil || o.Data[keyState] != state {
			t.Errorf("state %q: got request %+v, error %v, then state %q", state, got, err, o.Data[keyState])
		}
	}
}

// requestInState returns the ConfigMap of request a1 in a state.
func requestInState(t *testing.T, state string) *corev1.ConfigMap {
	t.Helper()
	o := must.Get(submitted(t, fake.NewClientset(), testRequest("a1", 1)).get(t.Context()))(t)
	o.Data[keyState] = state
	return o
}
