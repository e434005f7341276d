package evictor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
)

// resolveAmbiguous reads the pod to find out whether an ambiguous eviction took effect. resolveAmbiguous tries up to
// four times, because the API server may be restarting. If the pod is gone, terminating or replaced by another pod, the
// eviction counts as accepted. An accepted eviction is only presumed unless the pod status shows that the Eviction API
// terminated the pod. If the pod is unchanged or cannot be read, the outcome is unknown and the pass must stop.
func (l *Live) resolveAmbiguous(ctx context.Context, m plan.Move, v Verdict) Verdict {
	for try := range 4 {
		if try > 0 && !wait.Sleep(ctx, l.opts.Clock, time.Duration(try)*time.Second) {
			break
		}
		pod, err := l.getPod(ctx, m.Pod)
		switch {
		case apierrors.IsNotFound(err), err == nil && (string(pod.UID) != m.Pod.UID || pod.DeletionTimestamp != nil):
			return Verdict{Accepted: true, Presumed: pod == nil || string(pod.UID) != m.Pod.UID || !evictedByAPI(pod)}
		case err == nil:
			stop := errors.Is(context.Cause(ctx), context.Canceled)
			return Verdict{Outcome: plan.UnknownOutcome, Stop: !stop,
				Reason: plan.Reason{Code: v.Reason.Code, Message: "the pod is not evicted so far; " + v.Reason.Message}}
		}
	}
	return Verdict{Outcome: plan.UnknownOutcome, Stop: true, Reason: plan.Reason{Code: plan.OutcomeUnknown,
		Message: fmt.Sprintf("it is unknown whether the pod was evicted; %s", v.Reason.Message)}}
}

// getPod reads a pod, even if ctx has ended. The pod is nil if there is an error.
func (l *Live) getPod(ctx context.Context, ref plan.PodRef) (*corev1.Pod, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	pod, err := l.podAPI.get(call, ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	return pod, nil
}

func evictedByAPI(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "EvictionByEvictionAPI"
	})
}

// Resolve finds the outcomes of evictions that an earlier process reserved. A pod that still exists and is not
// terminating was not evicted, so its move is Dropped. Otherwise the outcome is unknown, because another client may
// have deleted the pod. Resolve returns an error if it cannot read a pod.
func (l *Live) Resolve(ctx context.Context, open []plan.Reservation) ([]plan.Outcome, error) {
	var out []plan.Outcome
	for _, r := range open {
		pod, err := l.getPod(ctx, r.Pod)
		o := plan.Outcome{Step: r.Step, Pod: r.Pod, Outcome: plan.UnknownOutcome}
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading pod %s: %w", r.Pod, err)
		case pod == nil || string(pod.UID) != r.Pod.UID:
			o.Reason = plan.Reason{Code: plan.OutcomeUnknown,
				Message: "the process ended before it recorded whether it had evicted the pod; the pod is gone"}
		case pod.DeletionTimestamp != nil:
			o.Reason = plan.Reason{Code: plan.OutcomeUnknown,
				Message: "the process ended before it recorded whether it had evicted the pod; the pod is terminating"}
		default:
			o.Outcome, o.Reason = plan.Dropped, plan.Reason{Code: plan.Interrupted,
				Message: "the process ended before it evicted the pod; the pod still exists"}
		}
		out = append(out, o)
	}
	return out, nil
}
