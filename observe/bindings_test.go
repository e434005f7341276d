package observe

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func newPod(name, node, scheduler string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: node, SchedulerName: scheduler}}
}

// TestNextBindingTellsOfPodsThatAreWanted uses an in-memory server. It creates a pod with a
// node, a pod of another scheduler, and a pod that is wanted.
func TestNextBindingTellsOfPodsThatAreWanted(t *testing.T) {
	client := newClient(kubeSystem())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	o := New(client, clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	b := o.WatchBindings(func(p *corev1.Pod) bool { return p.Spec.SchedulerName == "fancy" })
	o.Start(ctx)
	t.Cleanup(func() { cancel(); o.Shutdown() })
	must.Succeed(t, o.WaitForSync(ctx))
	api := client.CoreV1().Pods("shop")
	for _, p := range []*corev1.Pod{newPod("static", "n1", "fancy"), newPod("other", "", "else"), newPod("mine", "", "fancy")} {
		if _, err := api.Create(ctx, p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan binding)
	go func() {
		uid, earlier, _ := b.NextBinding(ctx)
		got <- binding{uid, earlier}
	}()
	// Bindings are dropped while no caller waits, so the test binds pods until one is reported.
	for n := 0; ; n++ {
		for _, p := range []*corev1.Pod{newPod("other", "n1", "else"), newPod("mine", fmt.Sprint("n", n%2), "fancy"),
			newPod("mine", "", "fancy")} {
			if _, err := api.Update(ctx, p, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case g := <-got:
			if g.uid != "mine" || !slices.Contains(g.earlier, "static") || !slices.Contains(g.earlier, "other") {
				t.Errorf("%+v", g)
			}
			return
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("no binding was reported")
		}
	}
}

func TestNextBindingEndsWithItsContext(t *testing.T) {
	b := &Bindings{next: make(chan binding)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, ok := b.NextBinding(ctx); ok {
		t.Error("NextBinding reported a binding that does not exist")
	}
}

// TestBindingsAreBounded checks that a binding without a waiting caller is dropped, and that at
// most 512 UIDs are kept.
func TestBindingsAreBounded(t *testing.T) {
	b := &Bindings{wanted: func(*corev1.Pod) bool { return true }, next: make(chan binding)}
	for i := range 600 {
		b.podUpdated(newPod(fmt.Sprint(i), "", ""), newPod(fmt.Sprint(i), "n1", ""))
		b.podUpdated(newPod(fmt.Sprint(i), "n1", ""), newPod(fmt.Sprint(i), "n1", "")) // not a binding
	}
	if len(b.earlier) != 512 || b.earlier[0] != "88" || b.earlier[511] != "599" {
		t.Errorf("%d UIDs were kept, from %s to %s", len(b.earlier), b.earlier[0], b.earlier[len(b.earlier)-1])
	}
	// The pod was deleted and created again with the same name while the watch was closed.
	again := newPod("599", "n2", "")
	again.UID = "new"
	b.podUpdated(newPod("599", "n1", ""), again)
	if b.earlier[511] != "new" {
		t.Error("podUpdated treats a recreated pod like the earlier pod")
	}
}

// TestRecreatedPodsAreNotBindings checks that a pod which was created again with a node, while the
// watch was closed, does not count as bound by a scheduler.
func TestRecreatedPodsAreNotBindings(t *testing.T) {
	for _, earlierNode := range []string{"", "n1"} {
		b := &Bindings{wanted: func(*corev1.Pod) bool { return true }, next: make(chan binding, 1)}
		again := newPod("p", "n2", "")
		again.UID = "new"
		b.podUpdated(newPod("p", earlierNode, ""), again)
		if len(b.next) != 0 || !slices.Equal(b.earlier, []string{"new"}) {
			t.Errorf("created again after a pod on node %q: %d bindings, earlier %v; want none, and the new pod", earlierNode, len(b.next), b.earlier)
		}
		again.Spec.NodeName = ""
		bound := again.DeepCopy()
		bound.Spec.NodeName = "n2"
		if b.podUpdated(again, bound); len(b.next) != 1 {
			t.Error("the binding of the new pod is not reported")
		}
	}
}
