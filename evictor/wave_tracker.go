package evictor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/internal/wait"
	"github.com/evenkeel-project/evenkeel/plan"
)

// waveTracker assigns replacements to the evictions of a wave. waveTracker knows which pods existed before the wave and
// which replacements are claimed, so that each evicted pod of a workload gets its own replacement.
type waveTracker struct {
	mu            sync.Mutex
	preexisting   map[types.UID]bool
	workloadByUID map[string]string // by the UID of the evicted pod
	claimed       map[types.UID]string
	// tracked are the accepted evictions whose replacement is not Ready yet.
	tracked []*trackedEviction
	// unbound are the UIDs of pods whose replacements are not bound yet. onBound is called once the map becomes empty.
	unbound map[string]bool
	onBound func()
	locks   *workloadLocks
}

type trackedEviction struct {
	move        plan.Move
	replacement *corev1.Pod
	gone        bool
	changed     chan struct{} // has one element if replacement or gone has changed
}

func (l *Live) newWaveTracker(moves []plan.Move) *waveTracker {
	w := &waveTracker{preexisting: map[types.UID]bool{}, workloadByUID: map[string]string{}, claimed: map[types.UID]string{},
		unbound: map[string]bool{}, locks: newWorkloadLocks()}
	seen := map[string]bool{}
	for _, m := range moves {
		w.unbound[m.Pod.UID] = true
		if seen[m.Pod.Namespace] {
			continue
		}
		seen[m.Pod.Namespace] = true
		for _, p := range l.pods.Pods(m.Pod.Namespace) {
			w.preexisting[p.UID] = true
			w.workloadByUID[string(p.UID)] = l.workloadOf(p)
		}
	}
	return w
}

// markBound records that a move no longer waits for the scheduler.
func (w *waveTracker) markBound(m plan.Move) {
	w.mu.Lock()
	was := len(w.unbound)
	delete(w.unbound, m.Pod.UID)
	last := was > 0 && len(w.unbound) == 0
	w.mu.Unlock()
	if last {
		w.onBound()
	}
}

func (w *waveTracker) track(m plan.Move) *trackedEviction {
	f := &trackedEviction{move: m, changed: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tracked = append(w.tracked, f)
	return f
}

func (w *waveTracker) untrack(f *trackedEviction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tracked = slices.DeleteFunc(w.tracked, func(x *trackedEviction) bool { return x == f })
}

func (w *waveTracker) replacementState(f *trackedEviction) (*corev1.Pod, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f.replacement, f.gone
}

// After each scan the tracker is idle for idlePerScan times the duration of the scan, at most
// maxScanIdle. Scans therefore use about a twentieth of one CPU core. A scan of 10,000 pods takes a
// few milliseconds. At 50 evictions per second, pods change about 300 times per second.
const (
	idlePerScan = 20
	maxScanIdle = 100 * time.Millisecond
)

// run scans the pods after each change until ctx ends. One scan updates all moves. If each
// move scanned for itself, every change of a pod would cost one scan of its namespace per move.
func (w *waveTracker) run(ctx context.Context, l *Live) {
	for {
		changed := l.pods.Changed() // read before the scan, so that no change is missed
		begun := l.opts.Clock.Now()
		for _, ns := range w.namespaces() {
			w.scan(l, ns)
		}
		if !wait.Sleep(ctx, l.opts.Clock, min(maxScanIdle, idlePerScan*l.opts.Clock.Since(begun))) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (w *waveTracker) namespaces() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.tracked {
		out = append(out, f.move.Pod.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// scan updates the tracked evictions of a namespace: whether the evicted pod is gone, and which pod replaces it. The
// replacement is the oldest new pod of the workload that no other eviction has claimed.
func (w *waveTracker) scan(l *Live, namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	there := map[types.UID]*corev1.Pod{}
	free := map[string][]*corev1.Pod{} // by workload
	for _, p := range l.pods.Pods(namespace) {
		there[p.UID] = p
		if _, taken := w.claimed[p.UID]; taken || w.preexisting[p.UID] || p.DeletionTimestamp != nil {
			continue
		}
		if workload := l.workloadOf(p); workload != "" {
			free[workload] = append(free[workload], p)
		}
	}
	for _, pods := range free {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
		})
	}
	for _, f := range w.tracked {
		if f.move.Pod.Namespace == namespace {
			w.updateEviction(f, there, free)
		}
	}
}

func (w *waveTracker) updateEviction(f *trackedEviction, there map[types.UID]*corev1.Pod, free map[string][]*corev1.Pod) {
	was, wasGone := f.replacement, f.gone
	f.gone = there[types.UID(f.move.Pod.UID)] == nil
	if r := f.replacement; r != nil {
		f.replacement = there[r.UID]
		if now := f.replacement; now != nil && now.DeletionTimestamp != nil { // it stays claimed; use the next pod
			f.replacement = nil
		}
	}
	workload := w.workloadByUID[f.move.Pod.UID]
	if pods := free[workload]; f.move.Removal == "" && f.replacement == nil && len(pods) > 0 {
		f.replacement, free[workload] = pods[0], pods[1:]
		w.claimed[f.replacement.UID] = f.move.Pod.UID
	}
	if f.replacement != was || f.gone != wasGone {
		select {
		case f.changed <- struct{}{}:
		default: // the last change has not been read yet
		}
	}
}
