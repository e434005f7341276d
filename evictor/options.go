package evictor

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// PodSource is a live view of the pods in the cluster.
type PodSource interface {
	Pods(namespace string) []*corev1.Pod
	// Changed returns a channel that is closed at the next change of any pod.
	Changed() <-chan struct{}
}

// Options are the settings of Live.
type Options struct {
	// GracePeriodSeconds overrides the grace period of the pods; nil keeps it.
	GracePeriodSeconds *int64
	// PerMinute limits how many evictions start in a minute; 0 means no limit.
	PerMinute int
	// VerifyTimeout is how long a replacement may take to become Ready, in addition to the grace
	// period of the evicted pod.
	VerifyTimeout time.Duration
	Clock         clock.WithTicker
	Log           *slog.Logger
	// Events publishes accepted evictions; nil publishes none.
	Events EventPublisher
	// CheckPause is called right before every eviction. If CheckPause returns a reason, no eviction
	// may be requested and the pass stops. A nil CheckPause allows every eviction.
	CheckPause func(ctx context.Context) *plan.Reason
	// CheckLeading is called while an eviction waits for its answer. If CheckLeading returns a
	// reason, this process must not act any more, and the wait ends. A nil CheckLeading never ends
	// the wait.
	CheckLeading func() *plan.Reason
}

// EventPublisher publishes Kubernetes events about evictions. A failure to publish has no effect.
type EventPublisher interface {
	Evicted(pod *corev1.Pod, m plan.Move)
}

// Live evicts pods. The waves of one Live share the pacer and the bound on calls.
type Live struct {
	podAPI     podAPI
	pods       PodSource
	workloadOf func(*corev1.Pod) string
	opts       Options
	pacer      *pacer
	calls      chan struct{} // one element per eviction that waits for an answer
}

// attempt is the outcome of one move, and its effect on the other moves of the pass.
type attempt struct {
	outcome     plan.Outcome
	stop        *plan.Reason
	budgetSpent bool
}

func newAttempt(m plan.Move, kind plan.OutcomeKind, code plan.Code, msg string) attempt {
	return attempt{outcome: plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}}
}
