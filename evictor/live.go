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

	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/plan"
)

// NewLive returns an evictor that evicts pods. workloadOf returns a name for the workload of a pod,
// or "" if nothing replaces the pod.
func NewLive(client kubernetes.Interface, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return newLive(restAPI{client}, pods, workloadOf, opts)
}

func newLive(a podAPI, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	if opts.CheckPause == nil {
		opts.CheckPause = func(context.Context) *plan.Reason { return nil }
	}
	return &Live{podAPI: a, pods: pods, workloadOf: workloadOf, opts: opts, pacer: newPacer(opts.PerMinute, opts.Clock),
		calls: make(chan struct{}, maxCalls), access: &accessReviews{api: a}}
}

// ContinueFrom takes over the pacing and the running calls of an earlier evictor, which must no
// longer be used. The first eviction of the new evictor waits for the longer of the two intervals.
func (l *Live) ContinueFrom(before *Live) {
	l.pacer.continueFrom(before.pacer)
	l.calls = before.calls
}

// EvictWave evicts the pods and waits for their replacements. When ctx ends, no further eviction
// begins, and accepted evictions are watched for watchAfterStop.
func (l *Live) EvictWave(ctx context.Context, moves []plan.Move, bound func()) Result {
	w := l.newWaveTracker(moves)
	l.access.forget()
	outcomes := make([]attempt, len(moves))
	var wg sync.WaitGroup
	w.onBound = func() { wg.Go(bound) }
	if bound == nil {
		w.onBound = func() {}
	}
	wave, halt := context.WithCancel(ctx)
	defer halt()
	hold := &throttle{clock: l.opts.Clock, waveStarted: l.opts.Clock.Now(), maxAge: l.pacer.maxWaveAge()}
	tracking, stopTracking := context.WithCancel(context.WithoutCancel(ctx))
	var tracker sync.WaitGroup
	tracker.Go(func() { w.run(tracking, l) })
	for i, m := range moves {
		wg.Go(func() {
			defer w.locks.release(m) // after halt
			defer w.markBound(m)
			outcomes[i] = l.executeMove(ctx, wave, w, hold, m)
			if outcomes[i].stop != nil {
				halt()
			}
		})
	}
	wg.Wait()
	stopTracking()
	tracker.Wait()
	r := summarizeAttempts(outcomes)
	if r.Stop == nil && ctx.Err() != nil {
		r.Stop = &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop"}
	}
	return r
}

func summarizeAttempts(attempts []attempt) (r Result) {
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

// executeMove evicts a pod and waits for its replacement. ctx is the context of the pass. The
// context wave ends earlier if another move stops the pass.
func (l *Live) executeMove(ctx, wave context.Context, w *waveTracker, h *throttle, m plan.Move) attempt {
	if a, ok := l.waitForWorkload(wave, w, h, m); !ok {
		return a
	}
	pod, v, a := l.tryUntilAnswered(ctx, wave, h, m)
	if pod == nil {
		return a
	}
	switch {
	case v.Ambiguous:
		v = l.resolveAmbiguous(ctx, m, v)
	case v.CheckAccess:
		v = l.access.resolve(ctx, m, v)
	}
	if v = v.withOperator(m); !v.Accepted {
		a := newAttempt(m, v.Outcome, v.Reason.Code, v.Reason.Message)
		a.budgetSpent = v.BudgetSpent
		if v.Stop {
			a.stop = &v.Reason
		}
		return a
	}
	text, level := "evicted", slog.LevelDebug // the log of the pass has a line for each move
	if v.Presumed {
		text, level = "the pod is gone or terminating, but no answer confirmed the eviction", slog.LevelInfo
	}
	l.opts.Log.Log(ctx, level, text, "pod", m.Pod.String(), "uid", m.Pod.UID, "node", m.From,
		"strategy", m.Strategy, "removal", m.Removal)
	if l.opts.Events != nil {
		l.opts.Events.Evicted(pod, m)
	}
	at := l.opts.Clock.Now().UTC()
	if m.Removal == "" {
		a = l.waitForReplacement(ctx, w, m)
	} else {
		a = l.waitUntilGone(ctx, w, m)
	}
	if v.Presumed {
		a.outcome.Outcome = plan.UnknownOutcome
		a.outcome.Reason.Message = "no answer confirmed the eviction, but the pod is gone; " + a.outcome.Reason.Message
	}
	a.outcome.SetTime(at)
	return a
}

// tryUntilAnswered waits for its turn and requests an eviction. tryUntilAnswered repeats throttled requests, which the
// API server has not processed. If tryUntilAnswered returns a nil pod, the attempt has ended.
func (l *Live) tryUntilAnswered(ctx, wave context.Context, h *throttle, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	for {
		if !l.waitTurn(wave, h) {
			return nil, Verdict{}, newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop")
		}
		pod, v, a := l.checkOnce(wave, h, m)
		if pod != nil && h.remaining() > 0 { // another eviction was throttled during the checks
			l.pacer.end(false)
			l.endCall()
			continue
		}
		if pod != nil {
			l.pacer.end(true)
			v = l.sendRemoval(ctx, m, pod)
		}
		extended := v.Throttled && h.extend(v.RetryAfter) // before the turn ends, so that no other eviction begins meanwhile
		if pod == nil {
			l.pacer.end(false)
		}
		l.endCall()
		if !v.Throttled {
			return pod, v, a
		}
		if !extended {
			a := newAttempt(m, v.Outcome, v.Reason.Code, v.Reason.Message)
			a.stop = &a.outcome.Reason
			return nil, v, a
		}
		l.opts.Log.Info("evictions are delayed: the API server asks to slow down", "pod", m.Pod.String(), "for", h.remaining())
	}
}

// maxCalls bounds the evictions that wait for an answer at the same time. The API server answers after about 100 ms, so
// 32 calls allow about 300 evictions per second. The default limits (evictor.perMinute, evictor.inFlight.total) allow
// fewer. The bound matters only if both limits are unset.
const maxCalls = 32

// beginCall waits until fewer than maxCalls evictions wait for an answer. beginCall returns false
// if ctx ends first. After beginCall has returned true, the caller must call endCall.
func (l *Live) beginCall(ctx context.Context) bool {
	select {
	case l.calls <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Live) endCall() { <-l.calls }

// waitTurn waits until the API server allows requests, the pacer gives a turn, and fewer than maxCalls evictions wait
// for an answer. After waitTurn has returned true, the caller must call pacer.end and endCall.
func (l *Live) waitTurn(wave context.Context, h *throttle) bool {
	for h.wait(wave) && l.pacer.begin(wave) {
		if !l.beginCall(wave) {
			l.pacer.end(false)
			return false
		}
		if h.remaining() <= 0 {
			return true
		}
		l.pacer.end(false) // other evictions were throttled meanwhile: take turns again, so that they do not all start at once
		l.endCall()
	}
	return false
}

// checkOnce checks the pod once more before the request for its eviction. If checkOnce returns a nil pod, the attempt
// has ended or the API server throttles.
func (l *Live) checkOnce(wave context.Context, h *throttle, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	if h.waveIsStale() { // no reads, because other moves of the wave wait for the turn
		return nil, Verdict{}, staleAttempt(h, m)
	}
	pod, v, a := l.readPod(wave, m)
	if pod == nil {
		return nil, v, a
	}
	if v, a, ok := l.checkSiblings(wave, h, m); !ok {
		return nil, v, a
	}
	if wave.Err() != nil {
		return nil, v, newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop")
	}
	if !m.NotAfter.IsZero() && !l.opts.Clock.Now().Before(m.NotAfter) {
		return nil, v, newAttempt(m, plan.Dropped, plan.OutsideWindow,
			"not tried: the eviction window closed at "+m.NotAfter.UTC().Format(time.RFC3339))
	}
	if shut := l.opts.CheckPause(wave); shut != nil {
		a := newAttempt(m, plan.Dropped, shut.Code, "not tried: "+shut.Message)
		a.stop = shut
		return nil, v, a
	}
	if h.waveIsStale() { // last, because every wait and read before it takes time
		return nil, Verdict{}, staleAttempt(h, m)
	}
	return pod, Verdict{}, attempt{}
}

// staleAttempt is the end of a move whose wave is stale.
func staleAttempt(h *throttle, m plan.Move) attempt {
	return newAttempt(m, plan.Dropped, plan.PremiseChanged,
		fmt.Sprintf("not tried: evictions are delayed, and the wave began more than %s ago", h.maxAge))
}

// readPod reads the pod right before its eviction. If readPod returns a nil pod, the attempt has
// ended or the API server throttles.
func (l *Live) readPod(ctx context.Context, m plan.Move) (*corev1.Pod, Verdict, attempt) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pod, err := l.podAPI.get(call, m.Pod.Namespace, m.Pod.Name)
	if apierrors.IsTooManyRequests(err) {
		return nil, Classify(err, m.Pod.Name), attempt{}
	}
	if a, ok := l.checkPod(ctx, m, pod, err); !ok {
		return nil, Verdict{}, a
	}
	return pod, Verdict{}, attempt{}
}

// checkPod reports whether the pod still has the planned UID, node, labels, requests and
// controller. If not, checkPod returns the outcome.
func (l *Live) checkPod(ctx context.Context, m plan.Move, pod *corev1.Pod, err error) (attempt, bool) {
	switch {
	case notfound.Object(err, "pods", m.Pod.Name):
		return newAttempt(m, plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone"), false
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		a := newAttempt(m, plan.Blocked, plan.PermissionMissing, permissionMessage("get pods", err))
		a.stop = &a.outcome.Reason
		return a, false
	case err != nil && ctx.Err() != nil:
		return newAttempt(m, plan.Dropped, plan.Interrupted, "not tried: the process was told to stop"), false
	case err != nil:
		return newAttempt(m, plan.Dropped, plan.APIError, "not tried: reading the pod: "+err.Error()), false
	case string(pod.UID) != m.Pod.UID:
		return newAttempt(m, plan.Dropped, plan.UIDChanged, "another pod now has the same name"), false
	case pod.DeletionTimestamp != nil:
		return newAttempt(m, plan.AlreadyGone, plan.PodTerminating, "the pod is terminating already"), false
	case m.Removal != "" && !hasEnded(pod):
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, "the pod has not ended; its phase is "+string(pod.Status.Phase)), false
	case pod.Spec.NodeName != m.From:
		return newAttempt(m, plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From), false
	case m.EligibilityInputs != "" && m.EligibilityInputs != annotation.Fingerprint(pod):
		return newAttempt(m, plan.Dropped, plan.PremiseChanged,
			"the labels, the requests or the controller of the pod have changed since the last check"), false
	}
	return attempt{}, true
}
