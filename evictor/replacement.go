package evictor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// pendingAfter is how long no node takes the replacement of a move without a predicted place before
// it counts as Pending, after the evicted pod is gone. It is longer than the longest back-off of
// kube-scheduler, 10 seconds.
const pendingAfter = 15 * time.Second

// watchAfterStop is how long accepted evictions are watched after the program was told to stop.
const watchAfterStop = 3 * time.Second

// ShutdownTimeout is how long EvictWave may take after ctx has ended: one eviction call, one read
// to find its outcome, and watchAfterStop.
const ShutdownTimeout = 2*callTimeout + watchAfterStop

// waitForReplacement follows one accepted eviction until the evicted pod is gone and its replacement is Ready.
// waitForReplacement gives up after the grace period plus VerifyTimeout, or watchAfterStop after ctx has ended. A move
// without a predicted place also ends when its replacement has been unschedulable for pendingAfter.
func (l *Live) waitForReplacement(ctx context.Context, w *waveTracker, m plan.Move) attempt {
	start := l.opts.Clock.Now()
	deadline := l.opts.Clock.NewTimer(l.opts.VerifyTimeout + l.gracePeriod(m))
	defer deadline.Stop()
	interrupted := ctx.Done()
	var last, pending <-chan time.Time
	f := w.track(m)
	defer w.untrack(f)
	w.scan(l, m.Pod.Namespace)
	for {
		r, gone := w.replacementState(f)
		if r != nil {
			w.locks.release(m)
		}
		if r != nil && r.Spec.NodeName != "" {
			w.markBound(m)
		}
		if gone && r != nil && isReady(r) {
			return landedAttempt(m, r, l.opts.Clock.Since(start))
		}
		if pending == nil && mayStayPending(m, r, gone) {
			t := l.opts.Clock.NewTimer(pendingAfter)
			defer t.Stop()
			pending = t.C()
		}
		select {
		case <-f.changed:
		case <-pending:
			w.scan(l, m.Pod.Namespace)
			if r, gone := w.replacementState(f); mayStayPending(m, r, gone) {
				return pendingAttempt(m, r)
			}
			pending = nil
		case <-interrupted:
			interrupted = nil
			t := l.opts.Clock.NewTimer(watchAfterStop)
			defer t.Stop()
			last = t.C()
		case <-last:
			return evictedAttempt(m, r, plan.OutcomeUnknown,
				"the pod was evicted, but the process was told to stop before its replacement was Ready")
		case <-deadline.C():
			w.scan(l, m.Pod.Namespace) // run may not have seen the newest changes
			r, gone := w.replacementState(f)
			return timedOutAttempt(m, r, gone, l.opts.Clock.Since(start))
		}
	}
}

// gracePeriod returns the time that the evicted pod may take to terminate, at most MaxGracePeriod. The pod's own value
// comes from its author and may exceed the range of a time.Duration.
func (l *Live) gracePeriod(m plan.Move) time.Duration {
	most := cmp.Or(l.opts.MaxGracePeriod, DefaultMaxGracePeriod)
	seconds := ptr.Deref(l.opts.GracePeriodSeconds, m.GracePeriodSeconds)
	return time.Duration(min(max(seconds, 0), int64(most/time.Second))) * time.Second
}

// mayStayPending reports whether the move accepts that no node takes its replacement, and the scheduler has found none.
func mayStayPending(m plan.Move, r *corev1.Pod, gone bool) bool {
	return m.WithoutPlace() && gone && r != nil && r.Spec.NodeName == "" &&
		slices.ContainsFunc(r.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
}

func pendingAttempt(m plan.Move, r *corev1.Pod) attempt {
	a := evictedAttempt(m, r, m.Reason.Code, fmt.Sprintf("its replacement %s is Pending, because it fits on no node; the move allows that", r.Name))
	a.outcome.Pending = true
	return a
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func evictedAttempt(m plan.Move, r *corev1.Pod, code plan.Code, msg string) attempt {
	a := newAttempt(m, plan.Evicted, code, msg)
	if r != nil {
		a.outcome.Replacement = &plan.PodRef{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)}
		a.outcome.Landed = r.Spec.NodeName
		a.outcome.LandedAsPredicted = slices.Contains(m.AcceptableNodes, r.Spec.NodeName)
	}
	return a
}

func landedAttempt(m plan.Move, r *corev1.Pod, after time.Duration) attempt {
	after = after.Round(100 * time.Millisecond)
	well, badly := "landed on %s as predicted", "landed on %s, not on the predicted node "+m.To
	if m.WithoutPlace() {
		well, badly = "landed on %s, where it helps", "landed on %s, where it does not help"
	}
	a := evictedAttempt(m, r, m.Reason.Code, fmt.Sprintf(well, r.Spec.NodeName))
	if !a.outcome.LandedAsPredicted {
		a.outcome.Reason = plan.Reason{Code: plan.LandedElsewhere, Message: fmt.Sprintf(badly, r.Spec.NodeName)}
	}
	a.outcome.ReadyAfter = after.String()
	return a
}

// timedOutAttempt returns the outcome of an eviction whose replacement is not Ready in time. The
// outcome stops the pass, because no other pod may be evicted while a replacement is missing.
func timedOutAttempt(m plan.Move, r *corev1.Pod, gone bool, after time.Duration) attempt {
	after = after.Round(time.Second)
	var a attempt
	switch {
	case mayStayPending(m, r, gone):
		return pendingAttempt(m, r)
	case r != nil && isReady(r): // only the evicted pod is late
		a = evictedAttempt(m, r, plan.ReplacementNotReady,
			fmt.Sprintf("the pod is still terminating after %s; its replacement %s on %s is Ready", after, r.Name, r.Spec.NodeName))
	case r != nil && r.Spec.NodeName != "":
		a = evictedAttempt(m, r, plan.ReplacementNotReady, fmt.Sprintf("the replacement %s on %s is not Ready after %s", r.Name, r.Spec.NodeName,
			after))
	case r != nil:
		a = evictedAttempt(m, r, plan.ReplacementNotScheduled, fmt.Sprintf("the replacement %s is not scheduled after %s", r.Name, after))
	case !gone:
		a = evictedAttempt(m, r, plan.ReplacementNotReady, fmt.Sprintf("the pod is still terminating after %s", after))
	default:
		a = evictedAttempt(m, r, plan.ReplacementNotScheduled, fmt.Sprintf("no replacement was created within %s", after))
	}
	a.stop = &a.outcome.Reason
	return a
}
