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
	// Gate is asked right before every eviction whether evictions may still be
	// made at all; a reason stops the pass. Nil lets every one through.
	Gate func(ctx context.Context) *plan.Reason
	// Held is asked while an eviction waits for its answer: a reason says that this
	// process may act no more, and ends the wait. Nil never does.
	Held func() *plan.Reason
}

// Events tells people about evictions. Failing to must not matter.
type Events interface {
	Evicted(pod *corev1.Pod, m plan.Move)
}

// Live evicts.
type Live struct {
	api        api
	pods       PodSource
	workloadOf func(*corev1.Pod) string
	opts       Options
	pace       *pace
	lanes      *lanes
}

// NewLive returns an evictor that acts. workloadOf names what replaces a pod.
func NewLive(client kubernetes.Interface, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return newLive(rest{client}, pods, workloadOf, opts)
}

func newLive(a api, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return &Live{a, pods, workloadOf, opts, newPace(opts.PerMinute, opts.Clock), newLanes()}
}

// Follow keeps the pace across two evictors, and what was learned of the server:
// l evicts next when before, which is not used any more, has been followed by the
// pause of either.
func (l *Live) Follow(before *Live) {
	l.pace.after(before.pace)
	l.lanes = before.lanes
}

// Wave evicts the moves and waits for their replacements. When ctx ends no
// further eviction begins, and those under way are watched for a few seconds
// more.
func (l *Live) Wave(ctx context.Context, moves []plan.Move, bound func()) Result {
	w := l.watch(moves)
	outcomes := make([]attempt, len(moves))
	var wg sync.WaitGroup
	w.onBound = func() { wg.Go(bound) }
	if bound == nil {
		w.onBound = func() {}
	}
	wave, halt := context.WithCancel(ctx)
	defer halt()
	hold := &hold{clock: l.opts.Clock, begun: l.opts.Clock.Now()}
	followed := make(chan struct{})
	go func() { defer close(followed); w.follow(l) }()
	for i, m := range moves {
		wg.Go(func() {
			defer w.placed(m)
			outcomes[i] = l.move(ctx, wave, w, hold, m)
			if outcomes[i].stop != nil {
				halt()
			}
		})
	}
	wg.Wait()
	close(w.over)
	<-followed
	r := result(outcomes)
	if r.Stop == nil && ctx.Err() != nil {
		r.Stop = &plan.Reason{Code: plan.Interrupted, Message: "told to stop"}
	}
	return r
}

func result(attempts []attempt) (r Result) {
	for _, a := range attempts {
		r.Outcomes = append(r.Outcomes, a.outcome)
		if a.stop != nil && r.Stop == nil {
			r.Stop = a.stop
		}
		if a.spent {
			r.Spent = append(r.Spent, a.outcome.Pod)
		}
	}
	return r
}

// attempt is the outcome of one move, with what it means for the others.
type attempt struct {
	outcome plan.Outcome
	stop    *plan.Reason
	spent   bool
}

func outcomeOf(m plan.Move, kind plan.OutcomeKind, code plan.Code, msg string) attempt {
	return attempt{outcome: plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}}
}

// move evicts a pod and follows its replacement. ctx is the pass's, wave ends
// earlier when another move stops the pass.
func (l *Live) move(ctx, wave context.Context, w *watch, h *hold, m plan.Move) attempt {
	pod, v, a := l.try(ctx, wave, h, m)
	if pod == nil {
		return a
	}
	if v.Unsure {
		v = l.resolve(ctx, m, v)
	}
	if !v.Accepted {
		a := outcomeOf(m, v.Outcome, v.Reason.Code, v.Reason.Message)
		a.spent = v.Spent
		if v.Stop {
			a.stop = &v.Reason
		}
		return a
	}
	l.opts.Log.Info("evicted", "presumed", v.Presumed, "pod", m.Pod.String(), "uid", m.Pod.UID, "node", m.From, "strategy", m.Strategy)
	if l.opts.Events != nil {
		l.opts.Events.Evicted(pod, m)
	}
	a = l.verify(ctx, w, m)
	if v.Presumed {
		a.outcome.Outcome = plan.UnknownOutcome
		a.outcome.Reason.Message = "the pod is gone, most likely evicted, though no answer came; " + a.outcome.Reason.Message
	}
	return a
}

// try asks for an eviction when its turn comes, and again as long as the server
// only asks to slow down: such an answer says that nothing was done. A nil pod
// means that the attempt ends here.
func (l *Live) try(ctx, wave context.Context, h *hold, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	for {
		if !l.turn(wave, h) {
			return nil, Verdict{}, outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
		}
		if h.late() {
			l.lanes.leave()
			return nil, Verdict{}, outcomeOf(m, plan.Dropped, plan.PremiseChanged, fmt.Sprintf("not tried: answers to evictions are slow, and what this one rests on was seen more than %s ago", stale))
		}
		pod, v, a := l.once(ctx, wave, h, m)
		l.lanes.leave()
		if !v.Throttled {
			return pod, v, a
		}
		if !h.extend(v.RetryAfter) {
			a := outcomeOf(m, v.Outcome, v.Reason.Code, v.Reason.Message)
			a.stop = &a.outcome.Reason
			return nil, v, a
		}
		l.opts.Log.Info("holding back: the API server asks to slow down", "pod", m.Pod.String(), "for", h.left())
	}
}

// turn waits until the server lets evictions through, the pace has come to this
// one, and a lane is free, which the caller leaves.
func (l *Live) turn(wave context.Context, h *hold) bool {
	for h.wait(wave) && l.pace.wait(wave) && l.lanes.enter(wave) {
		if h.left() <= 0 {
			return true
		}
		l.lanes.leave() // what was held back must not come all at once
	}
	return false
}

// once looks at the pod once more and asks for its eviction.
func (l *Live) once(ctx, wave context.Context, h *hold, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	pod, v, a := l.look(wave, m)
	if pod == nil {
		return nil, v, a
	}
	if wave.Err() != nil {
		return nil, v, outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
	}
	if !m.NotAfter.IsZero() && !l.opts.Clock.Now().Before(m.NotAfter) {
		return nil, v, outcomeOf(m, plan.Dropped, plan.OutsideWindow, "not tried: the window closed at "+m.NotAfter.UTC().Format(time.RFC3339))
	}
	if shut := l.gate(wave); shut != nil {
		a := outcomeOf(m, plan.Dropped, shut.Code, "not tried: "+shut.Message)
		a.stop = shut
		return nil, v, a
	}
	begun := l.opts.Clock.Now()
	v = l.ask(ctx, m)
	answered := l.opts.Clock.Now()
	l.lanes.learn(begun, answered, v.Throttled)
	h.slowed(answered.Sub(begun))
	return pod, v, attempt{}
}

func (l *Live) gate(ctx context.Context) *plan.Reason {
	if l.opts.Gate == nil {
		return nil
	}
	return l.opts.Gate(ctx)
}

// look reads the pod just before its eviction. A nil pod means that the attempt
// ends here, or that the server is throttling.
func (l *Live) look(ctx context.Context, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	begun := l.opts.Clock.Now()
	pod, err := l.api.get(call, m.Pod.Namespace, m.Pod.Name)
	if apierrors.IsTooManyRequests(err) {
		l.lanes.learn(begun, l.opts.Clock.Now(), true)
		return nil, Classify(err), attempt{}
	}
	if a, ok := l.holds(ctx, m, pod, err); !ok {
		return nil, Verdict{}, a
	}
	return pod, Verdict{}, attempt{}
}

// holds reports whether the pod that was read is the one to evict.
func (l *Live) holds(ctx context.Context, m plan.Move, pod *corev1.Pod, err error) (attempt, bool) {
	switch {
	case apierrors.IsNotFound(err):
		return outcomeOf(m, plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone"), false
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		a := outcomeOf(m, plan.Blocked, plan.PermissionMissing, withoutPermission("get pods", err))
		a.stop = &a.outcome.Reason
		return a, false
	case err != nil && ctx.Err() != nil:
		return outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop"), false
	case err != nil:
		return outcomeOf(m, plan.Dropped, plan.APIError, "not tried: reading the pod: "+err.Error()), false
	case string(pod.UID) != m.Pod.UID:
		return outcomeOf(m, plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now"), false
	case pod.DeletionTimestamp != nil:
		return outcomeOf(m, plan.AlreadyGone, plan.PodTerminating, "the pod is terminating already"), false
	case pod.Spec.NodeName != m.From:
		return outcomeOf(m, plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From), false
	case m.EligibilityInputs != "" && m.EligibilityInputs != annotation.Fingerprint(pod):
		return outcomeOf(m, plan.Dropped, plan.PremiseChanged, "the pod's labels, its requests or its controller have changed just now"), false
	}
	return attempt{}, true
}
