package evictor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

func placelessMove() plan.Move {
	m := testMove(1, "d1", "u1")
	m.To, m.Landing, m.Reason.Code = "", plan.LandingNotRequired, plan.PodExpired
	return m
}

// unschedulable returns the replacement of pod d1, for which the scheduler has found no node.
func unschedulable() *corev1.Pod {
	p := testPod("d1-new", "new-d1", "")
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	return p
}

// evictWithoutPlace evicts pod d1. The parameter later changes the cluster after the eviction.
func evictWithoutPlace(t *testing.T, w *fakeCluster, m plan.Move, later func()) (plan.Outcome, *plan.Reason, time.Duration) {
	t.Helper()
	var o plan.Outcome
	var stop *plan.Reason
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		go later()
		r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{m}, nil)
		o, stop, took = singleOutcome(t, r), r.Stop, time.Since(begun)
		synctest.Wait()
	})
	return o, stop, took
}

// TestReplacementMayStayPending checks that a move without a predicted place ends soon after the scheduler has found no
// node for its replacement, and that this is no failure.
func TestReplacementMayStayPending(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	o, stop, took := evictWithoutPlace(t, w, placelessMove(), func() {
		time.Sleep(2 * time.Second)
		w.add(unschedulable())
	})
	if o.Outcome != plan.Evicted || !o.Pending || !o.LandedWell() || o.SawReady() || o.Reason.Code != plan.PodExpired || stop != nil ||
		o.Replacement == nil || o.Landed != "" {
		t.Errorf("outcome %+v, stop %v", o, stop)
	}
	if took < pendingAfter || took > pendingAfter+3*time.Second {
		t.Errorf("it took %v, want about %v", took, pendingAfter)
	}
}

// TestPendingReplacementThatLands checks that a replacement that the scheduler places a moment
// later counts as landed, and that it counts as a bad landing only where the move does not help.
func TestPendingReplacementThatLands(t *testing.T) {
	for node, code := range map[string]plan.Code{"n2": plan.PodExpired, "n3": plan.LandedElsewhere} {
		w := newFakeCluster(testPod("d1", "u1", "n3"))
		o, stop, _ := evictWithoutPlace(t, w, placelessMove(), func() {
			time.Sleep(time.Second)
			w.add(unschedulable())
			time.Sleep(pendingAfter / 2)
			w.add(testPod("d1-new", "new-d1", node))
		})
		if o.Pending || o.Landed != node || o.LandedWell() != (code == plan.PodExpired) || o.Reason.Code != code || stop != nil ||
			strings.HasSuffix(o.Reason.Message, " ") {
			t.Errorf("%s: outcome %+v, stop %v", node, o, stop)
		}
	}
}

// TestPendingOnlyIfUnschedulable checks the cases in which a missing replacement is a failure as for any other move.
func TestPendingOnlyIfUnschedulable(t *testing.T) {
	waiting := unschedulable()
	waiting.Status.Conditions = nil
	placed := testMove(1, "d1", "u1")
	for name, c := range map[string]struct {
		move plan.Move
		pod  *corev1.Pod
		stay bool // the evicted pod never ends
	}{
		"no replacement":                       {placelessMove(), nil, false},
		"not tried by the scheduler":           {placelessMove(), waiting, false},
		"the evicted pod terminates":           {placelessMove(), unschedulable(), true},
		"a move whose replacement has a place": {placed, unschedulable(), false},
	} {
		w := newFakeCluster(testPod("d1", "u1", "n3"))
		w.stays = c.stay
		o, stop, took := evictWithoutPlace(t, w, c.move, func() {
			time.Sleep(time.Second)
			if c.pod != nil {
				w.add(c.pod)
			}
		})
		if o.Pending || o.LandedWell() || o.Reason.Code != plan.ReplacementNotScheduled || stop == nil || took > 2*time.Minute {
			t.Errorf("%s: outcome %+v, stop %v, after %v", name, o, stop, took)
		}
	}
}

// TestPendingAtTheDeadline checks that a replacement without a node is no failure either if VerifyTimeout ends first.
func TestPendingAtTheDeadline(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	m := placelessMove()
	m.GracePeriodSeconds = 0
	o, stop, _ := evictWithoutPlace(t, w, m, func() {
		time.Sleep(time.Minute - pendingAfter/2)
		w.add(unschedulable())
	})
	if !o.Pending || stop != nil {
		t.Errorf("outcome %+v, stop %v", o, stop)
	}
}

func TestEventOfMoveWithoutPlace(t *testing.T) {
	if note := evictionNote(placelessMove()); !strings.Contains(note, "no place is predicted for its replacement, which may stay Pending") {
		t.Error(note)
	}
}
