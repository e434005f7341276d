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
	// callTimeout bounds every read, and is what an eviction has for its answer in any
	// case. It is shorter than the time that leader election leaves between the end of
	// one leader and the start of the next (5 s), so that no call of a deposed leader is
	// still under way then.
	callTimeout = 4 * time.Second
	// answerTimeout is what an eviction has while this process may act. Admission webhooks
	// may take 10 s by default and 30 s at most (timeoutSeconds), and where evictions
	// meet at one budget the server itself tries again for 10 s. One that is not
	// answered ends the pass, since nobody knows what was done; one that is only slow
	// should not.
	answerTimeout = 30*time.Second + callTimeout
	// leadingPollInterval is how often it is looked, after callTimeout, whether it still may. A call
	// that began in the last moment has callTimeout, one that began before has ended by
	// then.
	leadingPollInterval = 500 * time.Millisecond
)

var errStoppedOrNotLeading = errors.New("this process was told to stop, or leads no more")

// sendEviction sends the eviction. The pass's end does not end the call within callTimeout: an
// answer that is on its way should be heard.
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

// cancelWhenOverdue ends a call that was not answered in time.
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
