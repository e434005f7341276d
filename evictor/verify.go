package evictor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/plan"
)

// afterStop is how long evictions under way are watched once the program was
// told to stop.
const afterStop = 3 * time.Second

// watch knows which pods were there before a wave and which replacements are
// taken, so that several victims of one workload get one replacement each.
type watch struct {
	mu       sync.Mutex
	before   map[types.UID]bool
	workload map[string]string // victim's UID -> workload
	taken    map[types.UID]string
	// waiting are the victims whose replacements are not bound yet; onBound is
	// called when there is none left.
	waiting map[string]bool
	onBound func()
}

func (l *Live) watch(moves []plan.Move) *watch {
	w := &watch{before: map[types.UID]bool{}, workload: map[string]string{}, taken: map[types.UID]string{}, waiting: map[string]bool{}}
	seen := map[string]bool{}
	for _, m := range moves {
		w.waiting[m.Pod.UID] = true
		if seen[m.Pod.Namespace] {
			continue
		}
		seen[m.Pod.Namespace] = true
		for _, p := range l.pods.Pods(m.Pod.Namespace) {
			w.before[p.UID] = true
			w.workload[string(p.UID)] = l.workloadOf(p)
		}
	}
	return w
}

// placed notes that a move waits for the scheduler no more.
func (w *watch) placed(m plan.Move) {
	w.mu.Lock()
	was := len(w.waiting)
	delete(w.waiting, m.Pod.UID)
	last := was > 0 && len(w.waiting) == 0
	w.mu.Unlock()
	if last {
		w.onBound()
	}
}

// verify follows one accepted eviction until the victim is gone and its
// replacement Ready.
func (l *Live) verify(ctx context.Context, w *watch, m plan.Move) attempt {
	start := l.opts.Clock.Now()
	grace := m.GracePeriodSeconds
	if g := l.opts.GracePeriodSeconds; g != nil {
		grace = *g
	}
	deadline := l.opts.Clock.NewTimer(l.opts.VerifyTimeout + time.Duration(grace)*time.Second)
	defer deadline.Stop()
	interrupted := ctx.Done()
	var last <-chan time.Time
	for {
		changed := l.pods.Changed() // taken first, so that no change is missed
		r, gone := w.replacement(l, m)
		if r != nil && r.Spec.NodeName != "" {
			w.placed(m)
		}
		if gone && r != nil && ready(r) {
			return landed(m, r, l.opts.Clock.Since(start))
		}
		select {
		case <-changed:
		case <-interrupted:
			interrupted = nil
			t := l.opts.Clock.NewTimer(afterStop)
			defer t.Stop()
			last = t.C()
		case <-last:
			return unverified(m, r)
		case <-deadline.C():
			return late(m, r, gone, l.opts.Clock.Since(start))
		}
	}
}

// replacement finds the pod that took the victim's place, if there is one yet,
// and whether the victim is gone. The oldest new pod of the workload that is
// not taken is the one.
func (w *watch) replacement(l *Live, m plan.Move) (*corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	workload := w.workload[m.Pod.UID]
	gone := true
	var found []*corev1.Pod
	for _, p := range l.pods.Pods(m.Pod.Namespace) {
		if string(p.UID) == m.Pod.UID {
			gone = false
		}
		if taker, ok := w.taken[p.UID]; ok && taker == m.Pod.UID {
			if p.DeletionTimestamp == nil {
				return p, gone && w.left(l, m)
			}
			delete(w.taken, p.UID) // it is on its way out itself; look for the next
			w.before[p.UID] = true
			continue
		} else if ok {
			continue
		}
		if !w.before[p.UID] && p.DeletionTimestamp == nil && workload != "" && l.workloadOf(p) == workload {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, gone
	}
	r := slices.MinFunc(found, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	w.taken[r.UID] = m.Pod.UID
	return r, gone
}

// left reports whether the victim is gone.
func (w *watch) left(l *Live, m plan.Move) bool {
	return !slices.ContainsFunc(l.pods.Pods(m.Pod.Namespace), func(p *corev1.Pod) bool { return string(p.UID) == m.Pod.UID })
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func evicted(m plan.Move, r *corev1.Pod, code plan.Code, msg string) attempt {
	a := outcomeOf(m, plan.Evicted, code, msg)
	if r != nil {
		a.outcome.Replacement = &plan.PodRef{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)}
		a.outcome.Landed = r.Spec.NodeName
		a.outcome.AsForetold = slices.Contains(m.AcceptableNodes, r.Spec.NodeName)
	}
	return a
}

func landed(m plan.Move, r *corev1.Pod, after time.Duration) attempt {
	after = after.Round(100 * time.Millisecond)
	a := evicted(m, r, m.Reason.Code, fmt.Sprintf("landed on %s as foretold", r.Spec.NodeName))
	if !a.outcome.AsForetold {
		a.outcome.Reason = plan.Reason{Code: plan.LandedElsewhere, Message: fmt.Sprintf("landed on %s, which was not foretold (%s)", r.Spec.NodeName, m.To)}
	}
	a.outcome.ReadyAfter = after.String()
	return a
}

// late stops the pass: as long as a replacement is missing, nothing else may
// be taken away.
func late(m plan.Move, r *corev1.Pod, gone bool, after time.Duration) attempt {
	after = after.Round(time.Second)
	var a attempt
	switch {
	case r != nil && ready(r): // what is missing is the victim's end
		a = evicted(m, r, plan.ReplacementNotReady, fmt.Sprintf("the pod is still terminating after %s; its replacement %s on %s is Ready", after, r.Name, r.Spec.NodeName))
	case r != nil && r.Spec.NodeName != "":
		a = evicted(m, r, plan.ReplacementNotReady, fmt.Sprintf("its replacement %s on %s is not Ready after %s", r.Name, r.Spec.NodeName, after))
	case r != nil:
		a = evicted(m, r, plan.ReplacementNotScheduled, fmt.Sprintf("its replacement %s is not scheduled after %s", r.Name, after))
	case !gone:
		a = evicted(m, r, plan.ReplacementNotReady, fmt.Sprintf("the pod is still terminating after %s", after))
	default:
		a = evicted(m, r, plan.ReplacementNotScheduled, fmt.Sprintf("no replacement was created within %s", after))
	}
	a.stop = &a.outcome.Reason
	return a
}

func unverified(m plan.Move, r *corev1.Pod) attempt {
	return evicted(m, r, plan.OutcomeUnknown, "evicted; told to stop before its replacement was seen Ready")
}
