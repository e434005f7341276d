package observe

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// deletedNodes remembers the nodes that were deleted within cluster.DeletedNodeWindow.
type deletedNodes struct {
	looksLost func(*corev1.Node) bool
	clock     clock.PassiveClock

	mu       sync.Mutex
	machines sets.Set[string] // names of the existing nodes that are not virtual, as far as the handlers know
	byName   map[string]cluster.DeletedNode
}

// WatchDeletedNodes watches for deleted nodes, and returns a function that returns those of the last
// cluster.DeletedNodeWindow. looksLost decides by the last state of a node whether it was lost.
func (o *Observer) WatchDeletedNodes(looksLost func(*corev1.Node) bool) func() []cluster.DeletedNode {
	d := newDeletedNodes(looksLost, o.clock)
	_, _ = o.factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: d.added, DeleteFunc: d.deleted})
	return d.list
}

func newDeletedNodes(looksLost func(*corev1.Node) bool, clock clock.PassiveClock) *deletedNodes {
	return &deletedNodes{looksLost: looksLost, clock: clock, machines: sets.Set[string]{}, byName: map[string]cluster.DeletedNode{}}
}

func (d *deletedNodes) added(x any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := x.(*corev1.Node)
	if !ok {
		return
	}
	delete(d.byName, n.Name)
	if cluster.VirtualKind(n) == "" {
		d.machines.Insert(n.Name)
	}
}

func (d *deletedNodes) deleted(x any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if missed, ok := x.(cache.DeletedFinalStateUnknown); ok {
		x = withoutStatus(missed.Obj)
	}
	if n, ok := x.(*corev1.Node); ok {
		d.byName[n.Name] = cluster.DeletedNode{Name: n.Name, At: d.clock.Now(), Nodes: len(d.machines), Lost: d.looksLost(n)}
		d.machines.Delete(n.Name)
	}
	d.expire()
}

// withoutStatus returns the node without its status. The watch was interrupted when the node was deleted, so its last
// known status may be outdated.
func withoutStatus(x any) any {
	n, ok := x.(*corev1.Node)
	if !ok {
		return x
	}
	n = n.DeepCopy()
	n.Status = corev1.NodeStatus{}
	return n
}

func (d *deletedNodes) list() []cluster.DeletedNode {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expire()
	return slices.SortedFunc(maps.Values(d.byName), func(a, b cluster.DeletedNode) int { return strings.Compare(a.Name, b.Name) })
}

// expire removes old deletions. The caller must hold mu.
func (d *deletedNodes) expire() {
	maps.DeleteFunc(d.byName, func(_ string, n cluster.DeletedNode) bool { return d.clock.Since(n.At) > cluster.DeletedNodeWindow })
}
