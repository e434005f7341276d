package evictor

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/plan"
)

// An eviction may still commit after the process that requested it has ended, because the API server may go on without
// the client. A wave starts at most reservationTimeout after the time of its reservations, which are saved first. The
// request starts at most maxPacedWaveAge after the start of the wave, however long the reads before it take. The API
// server ends a request after requestTimeout by default; admission webhooks take at most 30 s of it. The clocks of two
// machines may differ by maxClockSkew. The earlier process may have had another evictor.perMinute.
const (
	reservationTimeout = 10 * time.Second // of the controller, to save reservations
	requestTimeout     = time.Minute
	maxClockSkew       = 15 * time.Second
	// LongestCall is how long after its reservation an eviction may still commit.
	LongestCall = reservationTimeout + maxPacedWaveAge + requestTimeout + maxClockSkew
)

// Resolve finds the outcomes of evictions that an earlier process reserved. A pod that still exists, is not
// terminating and was reserved more than LongestCall ago was not evicted, so its move is Dropped; if an operator may
// be moving it (RequestOnly), its move is InProgress. Otherwise the outcome is unknown: the API server may still
// commit the eviction, or another client may have deleted the pod. Resolve returns an error if it cannot read a pod.
func (l *Live) Resolve(ctx context.Context, open []plan.Reservation) ([]plan.Outcome, error) {
	var out []plan.Outcome
	for _, r := range open {
		pod, err := l.getPod(ctx, r.Pod)
		if err != nil && !notfound.Object(err, "pods", r.Pod.Name) {
			return nil, fmt.Errorf("reading pod %s: %w", r.Pod, err)
		}
		out = append(out, l.resolveReservation(r, pod))
	}
	return out, nil
}

// resolveReservation returns the outcome of a reserved eviction. pod is nil if it is gone.
func (l *Live) resolveReservation(r plan.Reservation, pod *corev1.Pod) plan.Outcome {
	unknown := func(found string) plan.Outcome {
		return plan.Outcome{Step: r.Step, Pod: r.Pod, Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.OutcomeUnknown,
			Message: "the process ended before it recorded whether it had evicted the pod; " + found}}
	}
	switch end := r.At.Add(LongestCall); {
	case pod == nil || string(pod.UID) != r.Pod.UID:
		return unknown("the pod is gone")
	case pod.DeletionTimestamp != nil:
		return unknown("the pod is terminating")
	case evictedByAPI(pod):
		return unknown("the API server has marked the pod as evicted")
	case l.opts.Clock.Now().Before(end):
		return unknown("the pod still exists, but its eviction may commit until " + end.UTC().Format(time.RFC3339))
	}
	if r.RequestOnly != "" {
		return plan.Outcome{Step: r.Step, Pod: r.Pod, Outcome: plan.InProgress, Reason: plan.Reason{Code: plan.EvictionInBackground,
			Message: "the process ended before it recorded whether it had asked the operator of the pod to move it; the pod still exists"}}
	}
	return plan.Outcome{Step: r.Step, Pod: r.Pod, Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.Interrupted,
		Message: "the process ended before it evicted the pod; the pod still exists"}}
}
