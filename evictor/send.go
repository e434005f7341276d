package evictor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// callTimeout bounds every read. An eviction call may always take this long, even if the
	// process must stop. callTimeout is shorter than the 5 s between the end of one leader and the
	// start of the next, so no call of an old leader overlaps with the next leader.
	callTimeout = 4 * time.Second
	// readRetryDelay is the delay before the second read of a pod. Each further delay is longer by as much.
	readRetryDelay = time.Second
	// answerTimeout bounds an eviction call while this process may act. Admission webhooks take up to 10 s by default
	// and up to 30 s at most (timeoutSeconds). If evictions compete for one budget, the API server itself retries for
	// 10 s. The bound is long because an eviction without an answer ends the pass.
	answerTimeout = 30*time.Second + callTimeout
	// leadingPollInterval is the interval at which a waiting call checks whether this process may still act. The first
	// check is callTimeout after the start of the call. If the process must stop, a call ends at its next check.
	leadingPollInterval = 500 * time.Millisecond
)

var errStoppedOrNotLeading = errors.New("this process was told to stop or no longer leads")

// sendRemoval requests the eviction of the pod, or its deletion if the move says so, and classifies
// the answer. pod is what the API server returned right before. If ctx ends, the call may still
// continue until callTimeout after its start.
func (l *Live) sendRemoval(ctx context.Context, m plan.Move, pod *corev1.Pod) Verdict {
	call, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go l.cancelWhenOverdue(ctx, call, cancel)
	classify, request := Classify, l.requestEviction
	if m.Removal == plan.ByDeletion {
		classify, request = classifyDeletion, l.requestDeletion
	}
	err := request(call, m, pod)
	if why := context.Cause(call); why != nil && err != nil {
		err = fmt.Errorf("%w (%w)", why, err)
	}
	return classify(err, m.Pod.Name)
}

func (l *Live) requestEviction(ctx context.Context, m plan.Move, _ *corev1.Pod) error {
	uid := types.UID(m.Pod.UID)
	return l.podAPI.evict(ctx, &policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: m.Pod.Namespace, Name: m.Pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: l.opts.GracePeriodSeconds},
	})
}

// cancelWhenOverdue cancels a call without an answer after answerTimeout. If ctx has ended or the process does not
// lead, it cancels the call after callTimeout. cancelWhenOverdue returns when the call ends.
func (l *Live) cancelWhenOverdue(ctx, call context.Context, end context.CancelCauseFunc) {
	begun := l.opts.Clock.Now()
	for next := callTimeout; wait.Sleep(call, l.opts.Clock, next); next = leadingPollInterval {
		switch waited := l.opts.Clock.Since(begun); {
		case waited >= answerTimeout:
			end(fmt.Errorf("waited for %s; is an admission webhook for pods/eviction, or etcd, slow?", answerTimeout))
		case ctx.Err() != nil, l.opts.CheckLeading != nil && l.opts.CheckLeading() != nil:
			end(errStoppedOrNotLeading)
		}
	}
}

type podAPI interface {
	get(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	list(ctx context.Context, namespace string, opts metav1.ListOptions) (*corev1.PodList, error)
	evict(ctx context.Context, e *policyv1.Eviction) error
	delete(ctx context.Context, namespace, name string, opts *metav1.DeleteOptions) error
	// mayRemove reports whether this account may evict or delete pods in a namespace.
	mayRemove(ctx context.Context, namespace string, how plan.Removal) (bool, error)
}

// restAPI calls a real API server. Each call sends exactly one request. The typed client would
// repeat each request up to ten times if the answer has a Retry-After header.
type restAPI struct{ client kubernetes.Interface }

func (r restAPI) get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := r.client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").Name(name).MaxRetries(0).Do(ctx).Into(&pod)
	if err == nil && (pod.Name != name || pod.Namespace != namespace) {
		err = fmt.Errorf("the answer is about another object (%q), so it is not from an API server", pod.Name)
	}
	return &pod, err
}

func (r restAPI) evict(ctx context.Context, e *policyv1.Eviction) error {
	return r.client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(e.Namespace).Resource("pods").Name(e.Name).
		SubResource("eviction").MaxRetries(0).Body(e).Do(ctx).Error()
}

func (r restAPI) mayRemove(ctx context.Context, namespace string, how plan.Removal) (bool, error) {
	asked := &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Resource: "pods", Subresource: "eviction"}
	if how == plan.ByDeletion {
		asked.Verb, asked.Subresource = "delete", ""
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: asked}}
	var answer authorizationv1.SelfSubjectAccessReview
	err := r.client.AuthorizationV1().RESTClient().Post().Resource("selfsubjectaccessreviews").MaxRetries(0).Body(review).Do(ctx).Into(&answer)
	return answer.Status.Allowed, err
}

// resolveAmbiguous reads the pod to find out whether an ambiguous eviction took effect. resolveAmbiguous tries up to
// four times, because the API server may be restarting. If the pod is gone, terminating or replaced by another pod, the
// eviction counts as accepted. An accepted eviction is only presumed unless the pod status shows that the Eviction API
// terminated the pod. If the pod is unchanged or cannot be read, the outcome is unknown and the pass must stop.
func (l *Live) resolveAmbiguous(ctx context.Context, m plan.Move, v Verdict) Verdict {
	for try := range 4 {
		if try > 0 && !wait.Sleep(ctx, l.opts.Clock, time.Duration(try)*readRetryDelay) {
			break
		}
		pod, err := l.getPod(ctx, m.Pod)
		switch {
		case notfound.Object(err, "pods", m.Pod.Name), err == nil && (string(pod.UID) != m.Pod.UID || pod.DeletionTimestamp != nil):
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
