package evictor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

func endedPod() *corev1.Pod {
	p := testPod("d1", "u1", "n3")
	p.ResourceVersion, p.Status.Phase, p.Status.Conditions = "7", corev1.PodFailed, nil
	return p
}

func endedMove(how plan.Removal) plan.Move {
	m := testMove(1, "d1", "u1")
	m.To, m.AcceptableNodes, m.Removal = "", nil, how
	m.Owner = plan.ObjectRef{Kind: "Job", Name: "d"}
	m.Reason.Code = plan.PodFailed
	return m
}

// TestEndedPodIsRemoved checks that a pod that has ended is removed by the request of its move, and that nothing waits
// for a replacement.
func TestEndedPodIsRemoved(t *testing.T) {
	for _, how := range []plan.Removal{plan.ByEviction, plan.ByDeletion} {
		t.Run(string(how), func(t *testing.T) {
			w := newFakeCluster(endedPod())
			bound := 0
			r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{endedMove(how)}, func() { bound++ })
			o := singleOutcome(t, r)
			if o.Outcome != plan.Evicted || !o.Removed || !o.LandedWell() || o.Reason.Code != plan.PodFailed || r.Stop != nil || bound != 1 {
				t.Errorf("outcome %+v, stop %v, bound was called %d times", o, r.Stop, bound)
			}
			if want := map[plan.Removal][2]int{plan.ByEviction: {1, 0}, plan.ByDeletion: {0, 1}}[how]; w.evictRequests != want[0] ||
				len(w.deletions) != want[1] {
				t.Errorf("%d evictions and %d deletions, want %v", w.evictRequests, len(w.deletions), want)
			}
			for _, o := range w.deletions {
				if p := o.Preconditions; p == nil || *p.UID != "u1" || *p.ResourceVersion != "7" || o.GracePeriodSeconds != nil {
					t.Errorf("options %+v, want UID and resource version as preconditions, and the grace period of the server", o)
				}
			}
		})
	}
}

// TestEndedPodLeavesReplacements checks that a removed pod does not claim the replacement of
// another pod of its workload.
func TestEndedPodLeavesReplacements(t *testing.T) {
	w := newFakeCluster(endedPod(), testPod("d2", "u2", "n3"))
	w.createReplacement = "n1"
	second := testMove(2, "d2", "u2")
	r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{endedMove(plan.ByDeletion), second}, nil)
	if r.Outcomes[0].Replacement != nil || !r.Outcomes[0].Removed || !r.Outcomes[1].LandedAsPredicted {
		t.Errorf("outcomes %+v", r.Outcomes)
	}
}

// TestRunningPodIsNotDeleted checks that neither request is sent for a pod that runs, or that
// changes after it was read.
func TestRunningPodIsNotDeleted(t *testing.T) {
	for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodPending, corev1.PodUnknown, ""} {
		for _, how := range []plan.Removal{plan.ByEviction, plan.ByDeletion} {
			p := endedPod()
			p.Status.Phase = phase
			w := newFakeCluster(p)
			o := singleOutcome(t, newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{endedMove(how)}, nil))
			if o.Outcome != plan.Dropped || o.Reason.Code != plan.PremiseChanged || w.evictRequests+len(w.deletions) != 0 {
				t.Errorf("phase %q, %s: %+v after %d requests", phase, how, o, w.evictRequests+len(w.deletions))
			}
		}
	}
	w := newFakeCluster(endedPod())
	l := newTestLive(w, clock.RealClock{})
	l.opts.CheckPause = func(context.Context) *plan.Reason { // called between the read and the request
		w.pods["d1"].ResourceVersion, w.pods["d1"].Status.Phase = "8", corev1.PodRunning
		return nil
	}
	o := singleOutcome(t, l.EvictWave(t.Context(), []plan.Move{endedMove(plan.ByDeletion)}, nil))
	if o.Outcome != plan.Dropped || o.Reason.Code != plan.PremiseChanged || w.pods["d1"] == nil {
		t.Errorf("a pod that changed after it was read: %+v", o)
	}
}

// TestAnswersToDeletions checks what each answer to a deletion means.
func TestAnswersToDeletions(t *testing.T) {
	forbidden := apierrors.NewForbidden(pods, "d1", errors.New(`User "a" cannot delete resource "pods"`))
	for _, c := range []struct {
		name    string
		answer  error
		denied  bool
		outcome plan.OutcomeKind
		code    plan.Code
		message string
		stop    bool
	}{
		{"gone", apierrors.NewNotFound(pods, "d1"), false, plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone", false},
		{"no permission", forbidden, true, plan.Blocked, plan.PermissionMissing, "permission to delete pods is missing", true},
		{"no permission, says the policy", apiStatusError(403, metav1.StatusReasonForbidden, deniedByPolicy), false, plan.Blocked,
			plan.BlockedByAdmission, "admission refused", false},
		{"the server fails", errEtcd, false, plan.UnknownOutcome, plan.APIError, "etcdserver", true},
		{"no answer", errReset, false, plan.UnknownOutcome, plan.OutcomeUnknown, "connection reset", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFakeCluster(endedPod())
				w.answer, w.mayNotEvict = c.answer, c.denied
				r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{endedMove(plan.ByDeletion)}, nil)
				o := singleOutcome(t, r)
				if o.Outcome != c.outcome || o.Reason.Code != c.code || !strings.Contains(o.Reason.Message, c.message) || (r.Stop != nil) != c.stop {
					t.Errorf("outcome %+v, stop %v", o, r.Stop)
				}
				if w.reviews > 0 && w.reviewed != plan.ByDeletion {
					t.Errorf("asked whether this account may %s pods", w.reviewed)
				}
			})
		})
	}
}

// TestEndedPodStays checks the outcome of a removal that was accepted, but did not end in time.
func TestEndedPodStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeCluster(endedPod())
		w.stays = true
		r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{endedMove(plan.ByDeletion)}, nil)
		if o := singleOutcome(t, r); o.Outcome != plan.Evicted || o.Removed || o.LandedWell() || o.Reason.Code != plan.ReplacementNotReady ||
			o.Reason.Message != "the pod is still terminating after 1m0s" || r.Stop != nil {
			t.Errorf("outcome %+v, stop %v", o, r.Stop)
		}
		w = newFakeCluster(endedPod())
		w.stays = true
		ctx, cancel := context.WithCancel(t.Context())
		w.onEvict = cancel
		r = newTestLive(w, clock.RealClock{}).EvictWave(ctx, []plan.Move{endedMove(plan.ByEviction)}, nil)
		if o := singleOutcome(t, r); o.Outcome != plan.Evicted || o.Removed || o.Reason.Code != plan.OutcomeUnknown {
			t.Errorf("outcome %+v", o)
		}
	})
}
