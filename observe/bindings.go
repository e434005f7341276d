package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// maxEarlier limits how many earlier bindings a Bindings remembers. Binding times have a precision
// of one second, and a scheduler binds fewer pods in a second.
const maxEarlier = 512

// Bindings reports the pods that are bound while a caller waits in NextBinding.
type Bindings struct {
	wanted  func(*corev1.Pod) bool
	next    chan binding
	earlier []string // UIDs of the last bound pods, in the order of the watch
}

type binding struct {
	uid     string
	earlier []string
}

// WatchBindings watches for bindings of pods for which want returns true. It reports no pod that was first seen with a
// node: no scheduler may have bound it. Callers must call WatchBindings before Start.
func (o *Observer) WatchBindings(want func(*corev1.Pod) bool) *Bindings {
	b := &Bindings{wanted: want, next: make(chan binding)}
	_, _ = o.pods().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: b.podAdded, UpdateFunc: b.podUpdated})
	return b
}

// podAdded records pods that were bound before the watch started, or that were created with a node.
func (b *Bindings) podAdded(x any) {
	if p, ok := x.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		b.record(p)
	}
}

func (b *Bindings) podUpdated(before, after any) {
	old, ok := before.(*corev1.Pod)
	now, ok2 := after.(*corev1.Pod)
	if !ok || !ok2 {
		return
	}
	if old.UID != now.UID { // created again while the watch was closed
		b.podAdded(now)
		return
	}
	if now.Spec.NodeName == "" || old.Spec.NodeName != "" {
		return
	}
	if b.wanted(now) {
		select {
		case b.next <- binding{string(now.UID), slices.Clone(b.earlier)}:
		default: // no caller is waiting
		}
	}
	b.record(now)
}

// record appends a pod to the earlier bindings. Informers never call handlers concurrently.
func (b *Bindings) record(p *corev1.Pod) {
	if len(b.earlier) == maxEarlier {
		b.earlier = slices.Delete(b.earlier, 0, 1)
	}
	b.earlier = append(b.earlier, string(p.UID))
}

// NextBinding waits for the next binding. It returns the pod's UID and the UIDs of up to 512
// pods that were bound before it. ok is false if ctx ends first.
func (b *Bindings) NextBinding(ctx context.Context) (uid string, earlier []string, ok bool) {
	select {
	case next := <-b.next:
		return next.uid, next.earlier, true
	case <-ctx.Done():
		return "", nil, false
	}
}
