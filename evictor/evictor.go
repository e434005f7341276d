// Package evictor executes the moves of one wave: it evicts pods through the Eviction API and waits
// until each evicted pod is gone and its replacement is Ready.
//
// The package decides how an eviction is requested, what each answer means, and when a pass must
// stop. The package never chooses pods, never counts budgets, and removes pods that run only by
// policy/v1 evictions. It deletes a pod only if the move says so and the pod has ended.
package evictor

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Evictor executes a wave: moves that may be in flight at the same time. EvictWave calls bound
// once, in the background, as soon as every replacement is bound or its move has ended. EvictWave
// returns after bound has returned. A nil bound is not called.
type Evictor interface {
	EvictWave(ctx context.Context, moves []plan.Move, bound func()) Result
}

// Result is the outcome of a wave.
type Result struct {
	// Outcomes has one entry for each move, in the order of the moves.
	Outcomes []plan.Outcome
	// Stop is the reason why the pass must stop; nil if the pass may continue.
	Stop *plan.Reason
	// BudgetsSpent are pods whose eviction was refused with a conflict. The API server may have
	// reduced their disruption budgets anyway.
	BudgetsSpent []plan.PodRef
}

// DryRun evicts no pod. DryRun reports what would be evicted.
type DryRun struct{}

// EvictWave reports every move as one that would be evicted. EvictWave does not call bound.
func (DryRun) EvictWave(_ context.Context, moves []plan.Move, _ func()) Result {
	var r Result
	for _, m := range moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.WouldEvict, Reason: m.Reason})
	}
	return r
}

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
	// MaxGracePeriod bounds the grace period that Live adds to VerifyTimeout; 0 means DefaultMaxGracePeriod.
	MaxGracePeriod time.Duration
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
	// CheckLeading is called while an eviction waits for its answer. If CheckLeading returns a reason, this process
	// must not act any more, and the wait ends. A nil CheckLeading never ends the wait.
	CheckLeading func() *plan.Reason
}

// DefaultMaxGracePeriod is the longest wait for the end of an evicted pod if Options do not set MaxGracePeriod.
const DefaultMaxGracePeriod = 10 * time.Minute

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
	access     *accessReviews
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
