package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// maxEarlier bounds how many bindings before the last are kept: more than any
// scheduler makes in the second that times of bindings are rounded to.
const maxEarlier = 512

// Bindings tells of pods that are bound while somebody waits for one; the others
// are let go.
type Bindings struct {
	wanted  func(*corev1.Pod) bool
	next    chan binding
	earlier []string // UIDs of pods that were bound last, in the order of the watch
}

type binding struct {
	uid     string
	earlier []string
}

// WatchBindings watches for pods that are bound and for which want holds. It must be
// called before Start.
func (o *Observer) WatchBindings(want func(*corev1.Pod) bool) *Bindings {
	b := &Bindings{wanted: want, next: make(chan binding)}
	_, _ = o.pods().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: b.podAdded, UpdateFunc: b.podUpdated})
	return b
}

// podAdded sees pods that were bound before they were watched, or made with a node.
func (b *Bindings) podAdded(x any) {
	if p, ok := x.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		b.record(p)
	}
}

func (b *Bindings) podUpdated(before, after any) {
	old, ok := before.(*corev1.Pod)
	now, ok2 := after.(*corev1.Pod)
	if !ok || !ok2 || now.Spec.NodeName == "" || old.Spec.NodeName != "" && old.UID == now.UID {
		return
	}
	if b.wanted(now) {
		select {
		case b.next <- binding{string(now.UID), slices.Clone(b.earlier)}:
		default: // nobody waits
		}
	}
	b.record(now)
}

// record keeps the order of bindings. Handlers are called one after the other.
func (b *Bindings) record(p *corev1.Pod) {
	if len(b.earlier) == maxEarlier {
		b.earlier = slices.Delete(b.earlier, 0, 1)
	}
	b.earlier = append(b.earlier, string(p.UID))
}

// NextBinding waits for the next binding, and returns the pod's UID and those of
// the pods that were bound before it, the last 512; false when ctx ends first.
func (b *Bindings) NextBinding(ctx context.Context) (uid string, earlier []string, ok bool) {
	select {
	case next := <-b.next:
		return next.uid, next.earlier, true
	case <-ctx.Done():
		return "", nil, false
	}
}
