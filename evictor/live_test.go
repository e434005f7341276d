package evictor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"go.uber.org/goleak"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func TestEachVictimGetsItsOwnReplacement(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
	w.createReplacement = "n1"
	r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}, nil)
	if len(r.Outcomes) != 2 || r.Outcomes[0].Replacement == nil || r.Outcomes[1].Replacement == nil ||
		r.Outcomes[0].Replacement.UID == r.Outcomes[1].Replacement.UID {
		t.Errorf("%+v", r.Outcomes)
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
	w := newFakeCluster(testPod("d1", "u1", "n3"), terminating, testPod("d3", "u9", "n3"), evicted, testPod("d6", "u6", "n3"),
		testPod("d7", "u7", "n3"))
	now := time.Now()
	open := []plan.Reservation{}
	for i, uid := range []string{"u1", "u2", "u3", "u4", "u5", "u6", "u7"} {
		open = append(open, plan.Reservation{Step: i + 1, Pod: plan.PodRef{Namespace: "shop", Name: "d" + uid[1:], UID: uid},
			At: now.Add(-LongestCall)})
	}
	open[5].At = now.Add(time.Minute - LongestCall) // a slow webhook may still hold this eviction
	open[6].RequestOnly = plan.ByOwner              // its operator may be moving it
	l := newTestLive(w, clock.RealClock{})
	out := must.Get(l.Resolve(t.Context(), open))(t)
	for i, want := range []plan.OutcomeKind{plan.Dropped, plan.UnknownOutcome, plan.UnknownOutcome, plan.UnknownOutcome,
		plan.UnknownOutcome, plan.UnknownOutcome, plan.InProgress} {
		if out[i].Outcome != want || out[i].Step != i+1 {
			t.Errorf("%+v, want %s", out[i], want)
		}
	}
	w.onGet = func(int) error { return errors.New("connection refused") }
	if _, err := l.Resolve(t.Context(), open); err == nil {
		t.Error("got no error, although every read fails")
	}
}

func TestDryRunEvictsNothing(t *testing.T) {
	r := DryRun{}.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
	if o := singleOutcome(t, r); o.Outcome != plan.WouldEvict || r.Stop != nil {
		t.Errorf("%+v", r)
	}
}

// The time of an eviction is that of its answer, not that of its wave.
func TestEvictionsHaveTheirOwnTimes(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"))
		w.createReplacement = "n1"
		l := newTestLive(w, clock.RealClock{})
		l.pacer = newPacer(30, clock.RealClock{})
		r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2")}, nil)
		if d := r.Outcomes[1].At.Sub(r.Outcomes[0].At).Abs(); d != 2*time.Second {
			t.Errorf("%v and %v, want 2 s between them", r.Outcomes[0].At, r.Outcomes[1].At)
		}
	})
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
