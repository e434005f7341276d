package evictor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The siblings of a pod are read in pages. Most workloads need one page. A workload or namespace with more than
// siblingPages * siblingPageSize pods is not evicted from, unless enough pods on the first pages are Ready.
const (
	siblingPageSize = 100
	siblingPages    = 50
)

// siblingsTimeout bounds the reads of all siblings of a pod. They are made during the turn of the pacer, so other
// evictions wait meanwhile.
const siblingsTimeout = 10 * time.Second

// checkSiblings reads the pods of each requirement of the move from the API server, within
// siblingsTimeout. If checkSiblings returns false, too few are Ready, their number is unknown, the
// wave is stale, or the API server throttles.
func (l *Live) checkSiblings(ctx context.Context, h *throttle, m plan.Move) (Verdict, attempt, bool) {
	check, cancel := context.WithTimeout(ctx, siblingsTimeout)
	defer cancel()
	for _, r := range m.ReadyRequirements {
		ready, err := l.countReady(check, h, m.Pod, r)
		switch {
		case errors.Is(err, errStaleWave):
			return Verdict{}, staleAttempt(h, m), false
		case apierrors.IsTooManyRequests(err):
			return Classify(err, m.Pod.Name), attempt{}, false
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			a := newAttempt(m, plan.Blocked, plan.PermissionMissing, permissionMessage("list pods", err))
			a.stop = &a.outcome.Reason
			return Verdict{}, a, false
		case err != nil && ctx.Err() != nil:
			return Verdict{}, newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop"), false
		case errors.Is(err, errTooManyPods):
			return Verdict{}, newAttempt(m, plan.Dropped, r.Code, fmt.Sprintf("not tried: the pods of %s: %s", r.Of, err)), false
		case err != nil && check.Err() != nil:
			return Verdict{}, newAttempt(m, plan.Dropped, plan.APIError,
				fmt.Sprintf("not tried: reading the pods of %s took more than %s", r.Of, siblingsTimeout)), false
		case err != nil:
			return Verdict{}, newAttempt(m, plan.Dropped, plan.APIError,
				fmt.Sprintf("not tried: reading the pods of %s: %s", r.Of, err)), false
		case ready < r.MinReady:
			return Verdict{}, newAttempt(m, plan.Dropped, r.Code, fmt.Sprintf(
				"not tried: %d of the other pods of %s are Ready now, and at least %d must be", ready, r.Of, r.MinReady)), false
		}
	}
	return Verdict{}, attempt{}, true
}

// countReady counts the Ready pods of a requirement besides the victim. It stops at MinReady.
func (l *Live) countReady(ctx context.Context, h *throttle, victim plan.PodRef, r plan.ReadyRequirement) (int, error) {
	ready, now := 0, l.opts.Clock.Now()
	opts := metav1.ListOptions{LabelSelector: r.Selector, Limit: siblingPageSize}
	for range siblingPages {
		if h.waveIsStale() {
			return 0, errStaleWave
		}
		page, err := l.listPage(ctx, victim.Namespace, opts)
		if err != nil {
			return 0, err
		}
		for i := range page.Items {
			p := &page.Items[i]
			if string(p.UID) != victim.UID && p.DeletionTimestamp == nil &&
				isControlledBy(p, r.OwnerUIDs) && readySince(p, now, r.MinReadyTime) {
				ready++
			}
		}
		if opts.Continue = page.Continue; opts.Continue == "" || ready >= r.MinReady {
			return ready, nil
		}
	}
	return 0, errTooManyPods
}

// errStaleWave means that the eviction may not begin any more, whatever the next page contains.
var errStaleWave = errors.New("the wave is stale")

// errTooManyPods is no failure of the API server, so it does not count as a failed eviction.
var errTooManyPods = fmt.Errorf("not enough of the first %d pods are Ready, and no more are read", siblingPages*siblingPageSize)

// listPage reads one page of pods within callTimeout.
func (l *Live) listPage(ctx context.Context, namespace string, opts metav1.ListOptions) (*corev1.PodList, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.podAPI.list(call, namespace, opts)
}

// isControlledBy reports whether one of the owners controls the pod. Without owners it returns true.
func isControlledBy(p *corev1.Pod, ownerUIDs []string) bool {
	c := metav1.GetControllerOfNoCopy(p)
	return len(ownerUIDs) == 0 || c != nil && slices.Contains(ownerUIDs, string(c.UID))
}

// readySince reports whether the pod has been Ready for at least d.
func readySince(p *corev1.Pod, now time.Time, d time.Duration) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue &&
			(d == 0 || !c.LastTransitionTime.IsZero() && !now.Before(c.LastTransitionTime.Add(d)))
	})
}

func (r restAPI) list(ctx context.Context, namespace string, opts metav1.ListOptions) (*corev1.PodList, error) {
	var pods corev1.PodList
	err := r.client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").
		VersionedParams(&opts, scheme.ParameterCodec).MaxRetries(0).Do(ctx).Into(&pods)
	return &pods, err
}
