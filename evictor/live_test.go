package evictor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"go.uber.org/goleak"

	"github.com/evenkeel-project/evenkeel/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeCluster simulates pods and the Eviction API. An evicted pod disappears, and a replacement may appear.
type fakeCluster struct {
	mu            sync.Mutex
	pods          map[string]*corev1.Pod
	changed       chan struct{}
	evictRequests int
	answer        error
	// takesEffect: the eviction takes effect even if the answer is an error.
	takesEffect bool
	// createReplacement is the node of the replacement, or "" for no replacement.
	createReplacement string
	notReady          bool
	// pending: the replacement is created but not bound to a node.
	pending bool
	// stays: the eviction is accepted, but the pod never ends.
	stays bool
	// onGet is called before the nth read of a pod, counting from 1, unless it is nil. If onGet
	// returns an error, the read fails with that error.
	onGet func(n int) error
	reads int
	// deletions are the options of each request to delete a pod.
	deletions []*metav1.DeleteOptions
	// reviews counts access reviews, and reviewed is the last one. mayNotEvict is their answer, and
	// reviewErr their error.
	reviews     int
	reviewed    plan.Removal
	mayNotEvict bool
	reviewErr   error
	// onList is called before the nth list, counting from 1, unless it is nil. If onList returns an
	// error, the list fails with that error.
	onList func(n int) error
	lists  int
	// onEvict is called for each eviction request, unless it is nil.
	onEvict func()
}

func newFakeCluster(pods ...*corev1.Pod) *fakeCluster {
	w := &fakeCluster{pods: map[string]*corev1.Pod{}, changed: make(chan struct{})}
	for _, p := range pods {
		w.pods[p.Name] = p
	}
	return w
}

func testPod(name, uid, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid),
		Labels: map[string]string{"app": "d"}}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

func (w *fakeCluster) get(_ context.Context, _, name string) (*corev1.Pod, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.onGet != nil {
		if err := w.onGet(w.reads); err != nil {
			return nil, err
		}
	}
	if p := w.pods[name]; p != nil {
		return p.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(pods, name)
}

// list returns one pod per page, in the order of the names.
func (w *fakeCluster) list(_ context.Context, _ string, opts metav1.ListOptions) (*corev1.PodList, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lists++
	if w.onList != nil {
		if err := w.onList(w.lists); err != nil {
			return nil, err
		}
	}
	out := &corev1.PodList{}
	selector, err := labels.Parse(opts.LabelSelector)
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		switch p := w.pods[name]; {
		case name <= opts.Continue || !selector.Matches(labels.Set(p.Labels)):
		case len(out.Items) == 1:
			out.Continue = out.Items[0].Name
			return out, nil
		default:
			out.Items = append(out.Items, *p)
		}
	}
	return out, err
}

func (w *fakeCluster) evict(_ context.Context, e *policyv1.Eviction) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evictRequests++
	if w.onEvict != nil {
		w.onEvict()
	}
	if w.answer == nil || w.takesEffect {
		if !w.stays {
			delete(w.pods, e.Name)
		}
		if w.createReplacement != "" || w.pending {
			p := testPod(e.Name+"-new", "new-"+e.Name, w.createReplacement)
			if w.notReady {
				p.Status.Conditions = nil
			}
			w.pods[p.Name] = p
		}
		close(w.changed)
		w.changed = make(chan struct{})
	}
	return w.answer
}

// delete deletes the pod unless it has changed, or unless an answer is set. Nothing replaces the pod.
func (w *fakeCluster) delete(_ context.Context, _, name string, opts *metav1.DeleteOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deletions = append(w.deletions, opts)
	p := w.pods[name]
	switch {
	case w.answer != nil:
		return w.answer
	case p == nil:
		return apierrors.NewNotFound(pods, name)
	case *opts.Preconditions.UID != p.UID || *opts.Preconditions.ResourceVersion != p.ResourceVersion:
		return apierrors.NewConflict(pods, name, errors.New("the precondition does not match"))
	}
	if !w.stays {
		delete(w.pods, name)
	}
	close(w.changed)
	w.changed = make(chan struct{})
	return nil
}

func (w *fakeCluster) mayRemove(_ context.Context, _ string, how plan.Removal) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reviews++
	w.reviewed = how
	return !w.mayNotEvict, w.reviewErr
}

// add creates a pod.
func (w *fakeCluster) add(p *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[p.Name] = p
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *fakeCluster) Pods(string) []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*corev1.Pod
	for _, p := range w.pods {
		out = append(out, p)
	}
	return out
}

func (w *fakeCluster) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func newTestLive(w *fakeCluster, c clock.WithTicker) *Live {
	return newLive(w, w, func(p *corev1.Pod) string { return p.Labels["app"] }, Options{
		VerifyTimeout: time.Minute, Clock: c, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func testMove(step int, name, uid string) plan.Move {
	return plan.Move{Step: step, Pod: plan.PodRef{Namespace: "shop", Name: name, UID: uid}, From: "n3", To: "n1",
		AcceptableNodes: []string{"n1", "n2"}, GracePeriodSeconds: 30,
		Reason: plan.Reason{Code: plan.ZoneSkewed}}
}

func singleOutcome(t *testing.T, r Result) plan.Outcome {
	t.Helper()
	if len(r.Outcomes) != 1 {
		t.Fatalf("%d outcomes", len(r.Outcomes))
	}
	return r.Outcomes[0]
}

func TestEvictedAndLanded(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.createReplacement = "n1"
	r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
	o := singleOutcome(t, r)
	if o.Outcome != plan.Evicted || o.Landed != "n1" || !o.LandedAsPredicted || o.Replacement == nil || o.Replacement.UID != "new-d1" ||
		r.Stop != nil {
		t.Errorf("%+v %v", o, r.Stop)
	}
}

func TestLandedElsewhereIsSaid(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.createReplacement = "n3"
	o := singleOutcome(t, newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil))
	if o.Outcome != plan.Evicted || o.LandedAsPredicted || o.Reason.Code != plan.LandedElsewhere {
		t.Errorf("%+v", o)
	}
}

func TestEachVictimGetsItsOwnReplacement(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
	w.createReplacement = "n1"
	r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}, nil)
	if len(r.Outcomes) != 2 || r.Outcomes[0].Replacement == nil || r.Outcomes[1].Replacement == nil ||
		r.Outcomes[0].Replacement.UID == r.Outcomes[1].Replacement.UID {
		t.Errorf("%+v", r.Outcomes)
	}
}

func TestNotEvicted(t *testing.T) {
	terminating := testPod("d1", "u1", "n3")
	terminating.DeletionTimestamp = &metav1.Time{}
	for _, c := range []struct {
		name    string
		pod     *corev1.Pod
		outcome plan.OutcomeKind
		code    plan.Code
	}{
		{"gone", testPod("other", "u9", "n3"), plan.AlreadyGone, plan.PodGoneAlready},
		{"created anew", testPod("d1", "u2", "n3"), plan.Dropped, plan.UIDChanged},
		{"terminating", terminating, plan.AlreadyGone, plan.PodTerminating},
		{"elsewhere", testPod("d1", "u1", "n2"), plan.Dropped, plan.PremiseChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFakeCluster(c.pod)
			o := singleOutcome(t, newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil))
			if o.Outcome != c.outcome || o.Reason.Code != c.code || w.evictRequests != 0 {
				t.Errorf("got outcome %+v after %d eviction requests", o, w.evictRequests)
			}
		})
	}
}

func TestAnAnswerLostOnTheWayIsLookedUp(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.answer, w.takesEffect, w.createReplacement = errors.New("connection reset by peer"), true, "n2"
	var log bytes.Buffer
	l := newTestLive(w, clock.RealClock{})
	l.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	o := singleOutcome(t, l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil))
	if !strings.Contains(log.String(), "no answer confirmed the eviction") || strings.Contains(log.String(), "msg=evicted") {
		t.Errorf("the log says\n%s", log.String())
	}
	if o.Outcome != plan.UnknownOutcome || o.Landed != "n2" || !o.LandedAsPredicted {
		t.Errorf("got outcome %+v for a pod that an unknown client deleted", o)
	}
	w = newFakeCluster(testPod("d1", "u1", "n3"))
	w.answer, w.takesEffect, w.stays, w.createReplacement = errors.New("connection reset by peer"), true, true, "n2"
	w.onEvict = func() {
		p := w.pods["d1"].DeepCopy()
		p.DeletionTimestamp = &metav1.Time{}
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			Reason: "EvictionByEvictionAPI"})
		w.pods["d1"] = p
	}
	l = newTestLive(w, clock.RealClock{})
	l.opts.VerifyTimeout = 50 * time.Millisecond
	m := testMove(1, "d1", "u1")
	m.GracePeriodSeconds = 0
	if o = singleOutcome(t, l.EvictWave(t.Context(), []plan.Move{m}, nil)); o.Outcome != plan.Evicted {
		t.Errorf("got outcome %+v for a pod that an eviction terminates", o)
	}
}

func TestAShutGateStopsThePass(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
	w.createReplacement = "n2"
	l := newTestLive(w, clock.RealClock{})
	l.opts.CheckPause = func(context.Context) *plan.Reason {
		if w.reads > 1 {
			return &plan.Reason{Code: plan.NotLeading, Message: "the Lease is lost"}
		}
		return nil
	}
	l.opts.PerMinute = 600
	l.pacer = newPacer(600, clock.RealClock{})
	r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}, nil)
	if w.evictRequests != 1 || r.Stop == nil || r.Stop.Code != plan.NotLeading {
		t.Errorf("got %d eviction requests, stop reason %v", w.evictRequests, r.Stop)
	}
	for _, o := range r.Outcomes {
		if o.Outcome != plan.Evicted && (o.Outcome != plan.Dropped || o.Reason.Code != plan.NotLeading) {
			t.Errorf("%+v", o)
		}
	}
}

func TestWhatADeadProcessReservedIsLookedUp(t *testing.T) {
	terminating := testPod("d2", "u2", "n3")
	terminating.DeletionTimestamp = &metav1.Time{}
	evicted := testPod("d5", "u5", "n3")
	evicted.Status.Conditions = append(evicted.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget,
		Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
	w := newFakeCluster(testPod("d1", "u1", "n3"), terminating, testPod("d3", "u9", "n3"), evicted, testPod("d6", "u6", "n3"))
	now := time.Now()
	open := []plan.Reservation{}
	for i, uid := range []string{"u1", "u2", "u3", "u4", "u5", "u6"} {
		open = append(open, plan.Reservation{Step: i + 1, Pod: plan.PodRef{Namespace: "shop", Name: "d" + uid[1:], UID: uid},
			At: now.Add(-LongestCall)})
	}
	open[5].At = now.Add(time.Minute - LongestCall) // a slow webhook may still hold this eviction
	l := newTestLive(w, clock.RealClock{})
	out, err := l.Resolve(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []plan.OutcomeKind{plan.Dropped, plan.UnknownOutcome, plan.UnknownOutcome, plan.UnknownOutcome,
		plan.UnknownOutcome, plan.UnknownOutcome} {
		if out[i].Outcome != want || out[i].Step != i+1 {
			t.Errorf("%+v, want %s", out[i], want)
		}
	}
	w.onGet = func(int) error { return errors.New("connection refused") }
	if _, err := l.Resolve(t.Context(), open); err == nil {
		t.Error("got no error, although every read fails")
	}
}

func TestAMissingReplacementStopsThePass(t *testing.T) {
	for _, c := range []struct {
		name     string
		replace  string
		notReady bool
		code     plan.Code
	}{
		{"none", "", false, plan.ReplacementNotScheduled},
		{"not ready", "n1", true, plan.ReplacementNotReady},
	} {
		t.Run(c.name, func(t *testing.T) {
			runAtNoon(t, func(t *testing.T) {
				w := newFakeCluster(testPod("d1", "u1", "n3"))
				w.createReplacement, w.notReady = c.replace, c.notReady
				r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
				if o := singleOutcome(t, r); o.Outcome != plan.Evicted || o.Reason.Code != c.code || r.Stop == nil || r.Stop.Code != c.code {
					t.Errorf("%+v, stop %v", o, r.Stop)
				}
				if took := time.Since(noon); took != time.Minute+30*time.Second {
					t.Errorf("waited for %s, want verifyTimeout plus the grace period", took)
				}
			})
		})
	}
}

func TestToldToStopBeginsNoEviction(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newTestLive(w, clock.RealClock{}).EvictWave(ctx, []plan.Move{testMove(1, "d1", "u1")}, nil)
	if o := singleOutcome(t, r); o.Outcome != plan.Dropped || o.Reason.Code != plan.Interrupted || w.evictRequests != 0 || r.Stop == nil {
		t.Errorf("%+v", r)
	}
}

func TestDryRunEvictsNothing(t *testing.T) {
	r := DryRun{}.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
	if o := singleOutcome(t, r); o.Outcome != plan.WouldEvict || r.Stop != nil {
		t.Errorf("%+v", r)
	}
}

func TestPaceSpacesEvictions(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		p := newPacer(30, clock.RealClock{})
		for i := range 3 {
			want := time.Duration(i) * 2 * time.Second
			if !p.begin(t.Context()) || time.Since(noon) != want {
				t.Errorf("turn %d came after %s, want %s", i+1, time.Since(noon), want)
			}
			p.end(true)
		}
	})
}
