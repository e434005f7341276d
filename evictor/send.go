package evictor

import (
	"context"
	"errors"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// callTimeout bounds every read. An eviction may take this long in any case. It is shorter than
	// the 5 s that leader election leaves between the end of one leader and the start of the next.
	// So no call of an old leader is in progress when the next leader starts.
	callTimeout = 4 * time.Second
	// answerTimeout is how long an eviction may take while this process may act. Admission webhooks
	// take up to 10 s by default and up to 30 s (timeoutSeconds). If evictions compete for one
	// budget, the API server itself retries for 10 s. An eviction without an answer ends the pass,
	// because its outcome is unknown; an eviction that is only slow should not.
	answerTimeout = 30*time.Second + callTimeout
	// leadingPollInterval is the time between two checks, after callTimeout, whether this process
	// may still act. A call that began just before the process had to stop has callTimeout; an
	// older call has ended by then.
	leadingPollInterval = 500 * time.Millisecond
)

var errStoppedOrNotLeading = errors.New("this process was told to stop, or does not lead any more")

// sendEviction requests the eviction and classifies the answer. If the pass ends, the call still
// has callTimeout to receive its answer.
func (l *Live) sendEviction(ctx context.Context, m plan.Move) Verdict {
	call, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go l.cancelWhenOverdue(ctx, call, cancel)
	uid := types.UID(m.Pod.UID)
	err := l.podAPI.evict(call, &policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: m.Pod.Namespace, Name: m.Pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: l.opts.GracePeriodSeconds},
	})
	if why := context.Cause(call); why != nil && err != nil {
		err = fmt.Errorf("%w (%w)", why, err)
	}
	return Classify(err)
}

// cancelWhenOverdue cancels a call that gets no answer within answerTimeout, or within callTimeout
// if the process must stop.
func (l *Live) cancelWhenOverdue(ctx, call context.Context, end context.CancelCauseFunc) {
	begun := l.opts.Clock.Now()
	for wait := callTimeout; sleep(call, l.opts.Clock, wait); wait = leadingPollInterval {
		switch waited := l.opts.Clock.Since(begun); {
		case waited >= answerTimeout:
			end(fmt.Errorf("waited for %s; is an admission webhook for pods/eviction, or etcd, slow?", answerTimeout))
		case ctx.Err() != nil, l.opts.CheckLeading != nil && l.opts.CheckLeading() != nil:
			end(errStoppedOrNotLeading)
		}
	}
}
