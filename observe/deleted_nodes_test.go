package observe

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func newNode(name string, ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
}

func isNotReady(n *corev1.Node) bool { return !cluster.NodeReady(n) }

// The watch keeps the last state of each deleted node, also between snapshots.
func TestWatchDeletedNodes(t *testing.T) {
	client := newClient(kubeSystem(), newNode("a", corev1.ConditionTrue), newNode("b", corev1.ConditionTrue), newNode("c", corev1.ConditionTrue))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	o := New(client, clock)
	deleted := o.WatchDeletedNodes(isNotReady)
	o.Start(ctx)
	t.Cleanup(func() { cancel(); o.Shutdown() })
	must.Succeed(t, o.WaitForSync(ctx))
	api := client.CoreV1().Nodes()
	if _, err := api.UpdateStatus(ctx, newNode("b", corev1.ConditionUnknown), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		must.Succeed(t, api.Delete(ctx, name, metav1.DeleteOptions{}))
	}
	both := func(context.Context) (bool, error) { return len(deleted()) == 2, nil }
	if err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, both); err != nil {
		t.Fatalf("the watch reports %+v: %v", deleted(), err)
	}
	at := clock.Now()
	want := []cluster.DeletedNode{{Name: "a", At: at, Nodes: 3}, {Name: "b", At: at, Nodes: 2, Lost: true}}
	if got := deleted(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDeletedNodesAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	d := newDeletedNodes(isNotReady, clock)
	for _, name := range []string{"returns", "old", "missed"} {
		d.added(newNode(name, corev1.ConditionTrue))
	}
	d.deleted(newNode("returns", corev1.ConditionUnknown))
	d.deleted(newNode("old", corev1.ConditionUnknown))
	d.added(newNode("returns", corev1.ConditionTrue))
	clock.SetTime(clock.Now().Add(cluster.DeletedNodeWindow + time.Second))
	d.deleted(cache.DeletedFinalStateUnknown{Key: "missed", Obj: newNode("missed", corev1.ConditionTrue)})
	want := []cluster.DeletedNode{{Name: "missed", At: clock.Now(), Nodes: 2, Lost: true}} // its last status may be outdated
	if got := d.list(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDeletionsDoNotCountVirtualNodes(t *testing.T) {
	d := newDeletedNodes(isNotReady, clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	virtual := newNode("fargate", corev1.ConditionTrue)
	virtual.Labels = map[string]string{"eks.amazonaws.com/compute-type": "fargate"}
	d.added(virtual)
	for _, name := range []string{"a", "b"} {
		d.added(newNode(name, corev1.ConditionTrue))
	}
	d.deleted(newNode("a", corev1.ConditionUnknown))
	d.deleted(virtual)
	d.deleted(newNode("b", corev1.ConditionUnknown))
	for i, want := range []int{2, 1, 1} {
		if got := d.list()[i]; got.Nodes != want {
			t.Errorf("%s was deleted from %d nodes, want %d", got.Name, got.Nodes, want)
		}
	}
}
