package evictor

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PodSource is a live view of pods.
type PodSource interface {
	Pods(namespace string) []*corev1.Pod
	// Changed returns a channel that is closed at the next change of a pod.
	Changed() <-chan struct{}
}

// Options are the settings of Live.
type Options struct {
	// GracePeriodSeconds overrides the pods' own; nil leaves them.
	GracePeriodSeconds *int64
	// PerMinute is the pace of evictions; 0 means no limit.
	PerMinute int
	// VerifyTimeout is how long a replacement may take to be Ready, beyond the
	// victim's grace period.
	VerifyTimeout time.Duration
	Clock         clock.WithTicker
	Log           *slog.Logger
	// Events takes note of evictions that were accepted; nil for none.
	Events Events
	// CheckPause is asked right before every eviction whether evictions may still be
	// made at all; a reason stops the pass. Nil lets every one through.
	CheckPause func(ctx context.Context) *plan.Reason
	// CheckLeading is asked while an eviction waits for its answer: a reason says that this
	// process may act no more, and ends the wait. Nil never does.
	CheckLeading func() *plan.Reason
}

// Events tells people about evictions. Failing to must not matter.
type Events interface {
	Evicted(pod *corev1.Pod, m plan.Move)
}

// Live evicts.
type Live struct {
	podAPI     podAPI
	pods       PodSource
	workloadOf func(*corev1.Pod) string
	opts       Options
	pacer      *pacer
	lanes      *lanes
}

// NewLive returns an evictor that acts. workloadOf names what replaces a pod.
func NewLive(client kubernetes.Interface, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return newLive(restAPI{client}, pods, workloadOf, opts)
}

func newLive(a podAPI, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return &Live{a, pods, workloadOf, opts, newPacer(opts.PerMinute, opts.Clock), newLanes()}
}

// ContinueFrom keeps the pace across two evictors, and what was learned of the server:
// l evicts next when before, which is not used any more, has been followed by the
// pause of either.
func (l *Live) ContinueFrom(before *Live) {
	l.pacer.continueFrom(before.pacer)
	l.lanes = before.lanes
}

// EvictWave evicts the moves and waits for their replacements. When ctx ends no
// further eviction begins, and those under way are watched for a few seconds
// more.
func (l *Live) EvictWave(ctx context.Context, moves []plan.Move, bound func()) Result {
	w := l.newWaveTracker(moves)
	outcomes := make([]attempt, len(moves))
	var wg sync.WaitGroup
	w.onBound = func() { wg.Go(bound) }
	if bound == nil {
		w.onBound = func() {}
	}
	wave, halt := context.WithCancel(ctx)
	defer halt()
	hold := &throttle{clock: l.opts.Clock, waveStarted: l.opts.Clock.Now()}
	followed := make(chan struct{})
	go func() { defer close(followed); w.run(l) }()
	for i, m := range moves {
		wg.Go(func() {
			defer w.markBound(m)
			outcomes[i] = l.executeMove(ctx, wave, w, hold, m)
			if outcomes[i].stop != nil {
				halt()
			}
		})
	}
	wg.Wait()
	close(w.done)
	<-followed
	r := summarize(outcomes)
	if r.Stop == nil && ctx.Err() != nil {
		r.Stop = &plan.Reason{Code: plan.Interrupted, Message: "told to stop"}
	}
	return r
}

func summarize(attempts []attempt) (r Result) {
	for _, a := range attempts {
		r.Outcomes = append(r.Outcomes, a.outcome)
		if a.stop != nil && r.Stop == nil {
			r.Stop = a.stop
		}
		if a.budgetSpent {
			r.BudgetsSpent = append(r.BudgetsSpent, a.outcome.Pod)
		}
	}
	return r
}

// attempt is the outcome of one move, with what it means for the others.
type attempt struct {
	outcome     plan.Outcome
	stop        *plan.Reason
	budgetSpent bool
}

func newAttempt(m plan.Move, kind plan.OutcomeKind, code plan.Code, msg string) attempt {
	return attempt{outcome: plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}}
}

// executeMove evicts a pod and follows its replacement. ctx is the pass's, wave ends
// earlier when another move stops the pass.
func (l *Live) executeMove(ctx, wave context.Context, w *waveTracker, h *throttle, m plan.Move) attempt {
	pod, v, a := l.tryUntilAnswered(ctx, wave, h, m)
	if pod == nil {
		return a
	}
	if v.Ambiguous {
		v = l.resolveAmbiguous(ctx, m, v)
	}
	if !v.Accepted {
		a := newAttempt(m, v.Outcome, v.Reason.Code, v.Reason.Message)
		a.budgetSpent = v.BudgetSpent
		if v.Stop {
			a.stop = &v.Reason
		}
		return a
	}
	l.opts.Log.Info("evicted", "presumed", v.Presumed, "pod", m.Pod.String(), "uid", m.Pod.UID, "node", m.From, "strategy", m.Strategy)
	if l.opts.Events != nil {
		l.opts.Events.Evicted(pod, m)
	}
	a = l.waitForReplacement(ctx, w, m)
	if v.Presumed {
		a.outcome.Outcome = plan.UnknownOutcome
		a.outcome.Reason.Message = "the pod is gone, most likely evicted, though no answer came; " + a.outcome.Reason.Message
	}
	return a
}

// tryUntilAnswered asks for an eviction when its turn comes, and again as long as the server
// only asks to slow down: such an answer says that nothing was done. A nil pod
// means that the attempt ends here.
func (l *Live) tryUntilAnswered(ctx, wave context.Context, h *throttle, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	for {
		if !l.waitTurn(wave, h) {
			return nil, Verdict{}, newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
		}
		if h.stale() {
			l.lanes.leave()
			return nil, Verdict{}, newAttempt(m, plan.Dropped, plan.PremiseChanged, fmt.Sprintf("not tried: answers to evictions are slow, and what this one rests on was seen more than %s ago", maxWaveAge))
		}
		pod, v, a := l.tryOnce(ctx, wave, h, m)
		l.lanes.leave()
		if !v.Throttled {
			return pod, v, a
		}
		if !h.extend(v.RetryAfter) {
			a := newAttempt(m, v.Outcome, v.Reason.Code, v.Reason.Message)
			a.stop = &a.outcome.Reason
			return nil, v, a
		}
		l.opts.Log.Info("holding back: the API server asks to slow down", "pod", m.Pod.String(), "for", h.remaining())
	}
}

// waitTurn waits until the server lets evictions through, the pace has come to this
// one, and a lane is free, which the caller leaves.
func (l *Live) waitTurn(wave context.Context, h *throttle) bool {
	for h.wait(wave) && l.pacer.wait(wave) && l.lanes.enter(wave) {
		if h.remaining() <= 0 {
			return true
		}
		l.lanes.leave() // what was held back must not come all at once
	}
	return false
}

// tryOnce looks at the pod once more and asks for its eviction.
func (l *Live) tryOnce(ctx, wave context.Context, h *throttle, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	pod, v, a := l.readPod(wave, m)
	if pod == nil {
		return nil, v, a
	}
	if wave.Err() != nil {
		return nil, v, newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
	}
	if !m.NotAfter.IsZero() && !l.opts.Clock.Now().Before(m.NotAfter) {
		return nil, v, newAttempt(m, plan.Dropped, plan.OutsideWindow, "not tried: the window closed at "+m.NotAfter.UTC().Format(time.RFC3339))
	}
	if shut := l.checkPause(wave); shut != nil {
		a := newAttempt(m, plan.Dropped, shut.Code, "not tried: "+shut.Message)
		a.stop = shut
		return nil, v, a
	}
	begun := l.opts.Clock.Now()
	v = l.sendEviction(ctx, m)
	answered := l.opts.Clock.Now()
	l.lanes.learn(begun, answered, v.Throttled)
	h.recordLatency(answered.Sub(begun))
	return pod, v, attempt{}
}

func (l *Live) checkPause(ctx context.Context) *plan.Reason {
	if l.opts.CheckPause == nil {
		return nil
	}
	return l.opts.CheckPause(ctx)
}

// readPod reads the pod just before its eviction. A nil pod means that the attempt
// ends here, or that the server is throttling.
func (l *Live) readPod(ctx context.Context, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	begun := l.opts.Clock.Now()
	pod, err := l.podAPI.get(call, m.Pod.Namespace, m.Pod.Name)
	if apierrors.IsTooManyRequests(err) {
		l.lanes.learn(begun, l.opts.Clock.Now(), true)
		return nil, Classify(err), attempt{}
	}
	if a, ok := l.checkPod(ctx, m, pod, err); !ok {
		return nil, Verdict{}, a
	}
	return pod, Verdict{}, attempt{}
}

// checkPod reports whether the pod that was read is the one to evict.
func (l *Live) checkPod(ctx context.Context, m plan.Move, pod *corev1.Pod, err error) (attempt, bool) {
	switch {
	case apierrors.IsNotFound(err):
		return newAttempt(m, plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone"), false
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		a := newAttempt(m, plan.Blocked, plan.PermissionMissing, permissionMessage("get pods", err))
		a.stop = &a.outcome.Reason
		return a, false
	case err != nil && ctx.Err() != nil:
		return newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: told to stop"), false
	case err != nil:
		return newAttempt(m, plan.Dropped, plan.APIError, "not tried: reading the pod: "+err.Error()), false
	case string(pod.UID) != m.Pod.UID:
		return newAttempt(m, plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now"), false
	case pod.DeletionTimestamp != nil:
		return newAttempt(m, plan.AlreadyGone, plan.PodTerminating, "the pod is terminating already"), false
	case pod.Spec.NodeName != m.From:
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From), false
	case m.EligibilityInputs != "" && m.EligibilityInputs != annotation.Fingerprint(pod):
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, "the pod's labels, its requests or its controller have changed just now"), false
	}
	return attempt{}, true
}
