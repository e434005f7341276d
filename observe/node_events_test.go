package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

var eventsStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newNodeEvents() (*NodeEvents, *clocktesting.FakePassiveClock) {
	clock := clocktesting.NewFakePassiveClock(eventsStart)
	return &NodeEvents{clock: clock, changed: make(chan struct{}, 1)}, clock
}

// nodeSince returns a node that was created, and became Ready, some time before eventsStart.
func nodeSince(name string, status corev1.ConditionStatus, created, changed time.Duration) *corev1.Node {
	n := newNode(name, status)
	n.UID, n.CreationTimestamp = "u-"+n.UID, metav1.NewTime(eventsStart.Add(-created))
	n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(eventsStart.Add(-changed))
	return n
}

func (e *NodeEvents) expect(t *testing.T, what string, ready time.Time, signals int) {
	t.Helper()
	if r := e.LastReady(); !r.Equal(ready) {
		t.Errorf("%s: ready %s; want %s", what, r, ready)
	}
	if len(e.changed) != signals {
		t.Errorf("%s: %d values wait, want %d", what, len(e.changed), signals)
	}
	for range signals {
		<-e.changed
	}
}

// The nodes that exist at the start count with their own times. Later events count when they are seen.
func TestNodeEvents(t *testing.T) {
	e, clock := newNodeEvents()
	at := func(d time.Duration) time.Time { return eventsStart.Add(d) }
	old := nodeSince("a", corev1.ConditionTrue, 2*time.Hour, time.Hour)
	e.onAdd(old, true)
	e.onAdd(nodeSince("b", corev1.ConditionFalse, time.Hour, time.Minute), true) // not Ready
	e.expect(t, "the nodes at the start", at(-time.Hour), 1)

	clock.SetTime(at(time.Minute))
	e.onUpdate(old, old)
	down := nodeSince("a", corev1.ConditionUnknown, 2*time.Hour, 0)
	e.onUpdate(old, down)
	e.expect(t, "no event: the same, and not Ready", at(-time.Hour), 0)
	e.onUpdate(down, old)
	e.expect(t, "Ready again", at(time.Minute), 1)

	clock.SetTime(at(2 * time.Minute))
	e.onAdd(nodeSince("c", corev1.ConditionFalse, 0, 0), false)
	e.expect(t, "a new node that is not Ready", at(time.Minute), 0)
	clock.SetTime(at(3 * time.Minute))
	again := nodeSince("c", corev1.ConditionTrue, 0, 0)
	again.UID = "another"
	e.onUpdate(nodeSince("c", corev1.ConditionTrue, 0, 0), again)
	e.expect(t, "another node of the same name", at(3*time.Minute), 1)
}

// Virtual nodes, and the times in the future that a node states, count for nothing.
func TestNodeEventsIgnoreVirtualNodesAndTheFuture(t *testing.T) {
	e, clock := newNodeEvents()
	virtual := nodeSince("v", corev1.ConditionTrue, 0, 0)
	virtual.Labels = map[string]string{"type": "virtual-kubelet"}
	down := nodeSince("v", corev1.ConditionFalse, 0, 0)
	down.Labels = virtual.Labels
	e.onAdd(virtual, false)
	e.onUpdate(down, virtual)
	e.onAdd(cache.DeletedFinalStateUnknown{}, false)
	e.onUpdate(nil, virtual)
	e.expect(t, "a virtual node", time.Time{}, 0)
	e.onAdd(nodeSince("f", corev1.ConditionTrue, -time.Hour, -time.Hour), true)
	e.expect(t, "times in the future", eventsStart, 1)
	clock.SetTime(eventsStart.Add(-2 * time.Hour)) // the clock is set back
	e.onAdd(nodeSince("g", corev1.ConditionTrue, 0, 0), false)
	e.expect(t, "after the clock was set back", eventsStart.Add(-2*time.Hour), 1)
}

// However many nodes flap, one value waits for the reader.
func TestABurstOfNodeEventsIsOneSignal(t *testing.T) {
	e, clock := newNodeEvents()
	for i := range 2000 {
		clock.SetTime(eventsStart.Add(time.Duration(i) * time.Millisecond))
		e.onUpdate(nodeSince("a", corev1.ConditionFalse, 0, 0), nodeSince("a", corev1.ConditionTrue, 0, 0))
	}
	e.expect(t, "2,000 events", clock.Now(), 1)
}

// The watch of an observer reports its nodes.
func TestWatchNodeEvents(t *testing.T) {
	client := newClient(kubeSystem(), nodeSince("a", corev1.ConditionTrue, 2*time.Hour, time.Hour))
	o := New(client, clocktesting.NewFakePassiveClock(eventsStart))
	e := o.WatchNodeEvents()
	o.Start(t.Context())
	t.Cleanup(o.Shutdown)
	<-e.Changed()
	e.expect(t, "the list", eventsStart.Add(-time.Hour), 0)
	if _, err := client.CoreV1().Nodes().Create(t.Context(), nodeSince("b", corev1.ConditionTrue, 0, 0), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	<-e.Changed()
	e.expect(t, "a new node", eventsStart, 0)
}
