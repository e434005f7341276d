package evictor

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/plan"
)

// hasEnded reports whether the containers of the pod have terminated for good.
func hasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// requestDeletion deletes the pod if it has not changed since it was read. Otherwise a pod that no
// longer counts as ended, or that somebody has just protected, could be deleted.
func (l *Live) requestDeletion(ctx context.Context, m plan.Move, pod *corev1.Pod) error {
	uid := types.UID(m.Pod.UID)
	return l.podAPI.delete(ctx, m.Pod.Namespace, m.Pod.Name, &metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &pod.ResourceVersion},
	})
}

func (r restAPI) delete(ctx context.Context, namespace, name string, opts *metav1.DeleteOptions) error {
	return r.client.CoreV1().RESTClient().Delete().Namespace(namespace).Resource("pods").Name(name).MaxRetries(0).Body(opts).
		Do(ctx).Error()
}

// classifyDeletion returns the meaning of an answer to the deletion of a pod that has ended.
func classifyDeletion(err error, pod string) Verdict {
	v := Classify(err, pod)
	switch {
	case v.Ambiguous:
	case v.Reason.Code == plan.UIDChanged:
		return Verdict{Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.PremiseChanged,
			Message: "the pod has changed since it was read, so it is not deleted"}}
	case v.Reason.Code == plan.PermissionMissing:
		v.Reason.Message = permissionMessage("delete pods", err)
	}
	return v
}

// waitUntilGone follows the accepted removal of a pod that had ended until the pod is gone. It gives up after
// VerifyTimeout, or watchAfterStop after ctx has ended. A pod that is still there does not stop the pass, because no
// replacement is missing.
func (l *Live) waitUntilGone(ctx context.Context, w *waveTracker, m plan.Move) attempt {
	start := l.opts.Clock.Now()
	deadline := l.opts.Clock.NewTimer(l.opts.VerifyTimeout)
	defer deadline.Stop()
	interrupted := ctx.Done()
	var last <-chan time.Time
	w.markBound(m)
	f := w.track(m)
	defer w.untrack(f)
	w.scan(l, m.Pod.Namespace)
	for {
		if _, gone := w.replacementState(f); gone {
			a := newAttempt(m, plan.Evicted, m.Reason.Code, "the pod had ended and is gone")
			a.outcome.Removed = true
			return a
		}
		select {
		case <-f.changed:
		case <-interrupted:
			interrupted = nil
			t := l.opts.Clock.NewTimer(watchAfterStop)
			defer t.Stop()
			last = t.C()
		case <-last:
			return newAttempt(m, plan.Evicted, plan.OutcomeUnknown,
				"the removal of the pod was accepted, but the process was told to stop before the pod was gone")
		case <-deadline.C():
			return newAttempt(m, plan.Evicted, plan.ReplacementNotReady,
				fmt.Sprintf("the pod is still terminating after %s", l.opts.Clock.Since(start).Round(time.Second)))
		}
	}
}
