package evictor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// callTimeout bounds every call. It is shorter than the time that leader
// election leaves between the end of one leader and the start of the next (5 s),
// so that no call of a deposed leader is still under way then.
const callTimeout = 4 * time.Second

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
}

// api is the part of the API that is used.
type api interface {
	get(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	evict(ctx context.Context, e *policyv1.Eviction) error
}

// NewLive returns an evictor that acts. workloadOf names what replaces a pod.
func NewLive(client kubernetes.Interface, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return newLive(rest{client}, pods, workloadOf, opts)
}

func newLive(a api, pods PodSource, workloadOf func(*corev1.Pod) string, opts Options) *Live {
	return &Live{a, pods, workloadOf, opts, newPace(opts.PerMinute, opts.Clock)}
}

// Follow keeps the pace across two evictors: e evicts next when before, which is
// not used any more, has been followed by the pause of either.
func (e *Live) Follow(before *Live) { e.pace.after(before.pace) }

// rest calls a real API server.
type rest struct{ client kubernetes.Interface }

func (r rest) get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return r.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// evict sends one request: the client would otherwise repeat it up to ten times
// when the answer carries Retry-After.
func (r rest) evict(ctx context.Context, e *policyv1.Eviction) error {
	return r.client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(e.Namespace).Resource("pods").Name(e.Name).
		SubResource("eviction").MaxRetries(0).Body(e).Do(ctx).Error()
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
	for i, m := range moves {
		wg.Go(func() {
			defer w.placed(m)
			outcomes[i] = l.move(ctx, wave, w, m)
			if outcomes[i].stop != nil {
				halt()
			}
		})
	}
	wg.Wait()
	var r Result
	for _, a := range outcomes {
		r.Outcomes = append(r.Outcomes, a.outcome)
		if a.stop != nil && r.Stop == nil {
			r.Stop = a.stop
		}
		if a.spent {
			r.Spent = append(r.Spent, a.outcome.Pod)
		}
	}
	if r.Stop == nil && ctx.Err() != nil {
		r.Stop = &plan.Reason{Code: plan.Interrupted, Message: "told to stop"}
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

// move looks at the pod once more, evicts it, and follows its replacement. ctx
// is the pass's, wave ends earlier when another move stops the pass.
func (l *Live) move(ctx, wave context.Context, w *watch, m plan.Move) attempt {
	if !l.pace.wait(wave) {
		return outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
	}
	pod, a := l.look(wave, m)
	if pod == nil {
		return a
	}
	if wave.Err() != nil {
		return outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
	}
	if !m.NotAfter.IsZero() && !l.opts.Clock.Now().Before(m.NotAfter) {
		return outcomeOf(m, plan.Dropped, plan.OutsideWindow, "not tried: the window closed at "+m.NotAfter.UTC().Format(time.RFC3339))
	}
	if shut := l.gate(wave); shut != nil {
		a := outcomeOf(m, plan.Dropped, shut.Code, "not tried: "+shut.Message)
		a.stop = shut
		return a
	}
	v := l.ask(ctx, m)
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
		a.outcome.Outcome = plan.Unknown
		a.outcome.Reason.Message = "the pod is gone, most likely evicted, though no answer came; " + a.outcome.Reason.Message
	}
	return a
}

func (l *Live) gate(ctx context.Context) *plan.Reason {
	if l.opts.Gate == nil {
		return nil
	}
	return l.opts.Gate(ctx)
}

// look reads the pod just before its eviction. A nil pod means that the attempt
// ends here.
func (l *Live) look(ctx context.Context, m plan.Move) (*corev1.Pod, attempt) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pod, err := l.api.get(call, m.Pod.Namespace, m.Pod.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, outcomeOf(m, plan.Gone, plan.PodGoneAlready, "the pod is gone")
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		a := outcomeOf(m, plan.Blocked, plan.PermissionMissing, withoutPermission("get pods", err))
		a.stop = &a.outcome.Reason
		return nil, a
	case err != nil && ctx.Err() != nil:
		return nil, outcomeOf(m, plan.Dropped, plan.Interrupted, "not tried: told to stop")
	case err != nil:
		return nil, outcomeOf(m, plan.Dropped, plan.APIError, "not tried: reading the pod: "+err.Error())
	case string(pod.UID) != m.Pod.UID:
		return nil, outcomeOf(m, plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now")
	case pod.DeletionTimestamp != nil:
		return nil, outcomeOf(m, plan.Gone, plan.PodTerminating, "the pod is terminating already")
	case pod.Spec.NodeName != m.From:
		return nil, outcomeOf(m, plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From)
	case m.Read != "" && m.Read != annotation.Read(pod):
		return nil, outcomeOf(m, plan.Dropped, plan.PremiseChanged, "the pod's labels, its requests or its controller have changed just now")
	}
	return pod, attempt{}
}

// ask sends the eviction. Its own deadline, not the pass's end, ends the call:
// an answer that is on its way should be heard.
func (l *Live) ask(ctx context.Context, m plan.Move) Verdict {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	uid := types.UID(m.Pod.UID)
	return Classify(l.api.evict(call, &policyv1.Eviction{
		TypeMeta:      metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: m.Pod.Namespace, Name: m.Pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: l.opts.GracePeriodSeconds},
	}))
}

func (l *Live) rest(ctx context.Context, d time.Duration) bool {
	t := l.opts.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-ctx.Done():
		return false
	}
}
