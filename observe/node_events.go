package observe

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// NodeEvents knows when a node, new or known, last became Ready. Virtual nodes do not count. Its methods are safe for
// concurrent use.
type NodeEvents struct {
	clock   clock.PassiveClock
	changed chan struct{} // has room for one value

	mu    sync.Mutex
	ready time.Time
}

// WatchNodeEvents watches for nodes that become Ready. The nodes that exist when the watch begins count with the times
// that they state themselves, so a new process knows the events that came shortly before it.
func (o *Observer) WatchNodeEvents() *NodeEvents {
	e := &NodeEvents{clock: o.clock, changed: make(chan struct{}, 1)}
	_, _ = o.factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{AddFunc: e.onAdd, UpdateFunc: e.onUpdate})
	return e
}

// LastReady returns when a node last became Ready; zero means never.
func (e *NodeEvents) LastReady() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready
}

// Changed returns a channel that delivers a value after new events. Several events may share a value.
func (e *NodeEvents) Changed() <-chan struct{} { return e.changed }

func (e *NodeEvents) onAdd(x any, existed bool) {
	n, ok := x.(*corev1.Node)
	if !ok || cluster.VirtualKind(n) != "" || !cluster.NodeReady(n) {
		return
	}
	since := e.clock.Now()
	if existed {
		since = readySince(n)
	}
	e.record(since)
}

func (e *NodeEvents) onUpdate(before, after any) {
	old, ok := before.(*corev1.Node)
	n, same := after.(*corev1.Node)
	if !ok || !same || cluster.VirtualKind(n) != "" {
		return
	}
	if old.UID != n.UID { // the watch missed the deletion
		e.onAdd(n, false)
		return
	}
	if cluster.NodeReady(n) && !cluster.NodeReady(old) {
		e.record(e.clock.Now())
	}
}

// record keeps the later time, but never a time in the future: a node may state any time.
func (e *NodeEvents) record(ready time.Time) {
	now := e.clock.Now()
	e.mu.Lock()
	before := e.ready
	e.ready = latestUntil(now, before, ready)
	news := e.ready != before
	e.mu.Unlock()
	if news {
		select {
		case e.changed <- struct{}{}:
		default: // a value is waiting already
		}
	}
}

func latestUntil(now, before, at time.Time) time.Time {
	if at.After(now) {
		at = now
	}
	if before.After(now) { // the clock was set back
		before = time.Time{}
	}
	if at.After(before) {
		return at
	}
	return before
}

// readySince returns the time at which the node turned Ready, as the node states it. The node must be Ready.
func readySince(n *corev1.Node) time.Time {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
