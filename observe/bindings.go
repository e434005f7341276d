package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Bindings tells of pods that are bound while somebody waits for one; the others
// are not kept.
type Bindings struct {
	want func(*corev1.Pod) bool
	next chan string
}

// Bindings watches for pods that a scheduler binds and for which want holds. It
// must be called before Start.
func (o *Observer) Bindings(want func(*corev1.Pod) bool) *Bindings {
	b := &Bindings{want: want, next: make(chan string)}
	_, _ = o.pods().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: b.updated})
	return b
}

func (b *Bindings) updated(before, after any) {
	old, ok := before.(*corev1.Pod)
	now, ok2 := after.(*corev1.Pod)
	if !ok || !ok2 || old.Spec.NodeName != "" || now.Spec.NodeName == "" || !b.want(now) {
		return
	}
	select {
	case b.next <- string(now.UID):
	default: // nobody waits
	}
}

// NextBinding waits for the next binding, and returns the pod's UID; false when
// ctx ends first.
func (b *Bindings) NextBinding(ctx context.Context) (uid string, ok bool) {
	select {
	case uid := <-b.next:
		return uid, true
	case <-ctx.Done():
		return "", false
	}
}
