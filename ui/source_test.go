package ui

import (
	"context"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWatch: a change that the API server reports is shown at once. Without the right to watch, it is shown after
// maxAge. What has not changed is not read again before.
func TestWatch(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	x.read(t, "/")
	x.stored.Calls = map[string]int{}
	x.read(t, "/")
	if len(x.stored.Calls) != 0 {
		t.Errorf("read again: %v", x.stored.Calls)
	}
	x.denied = []string{"watch rebalanceplans"}
	x.source.watchOnce(t.Context(), "rebalanceplans") // returns at once
	x.addPlan(t)
	if strings.Contains(x.read(t, "/"), "4 moves wait") {
		t.Error("a change is shown without a watch")
	}
	x.later(maxAge)
	contains(t, x.read(t, "/"), "4 moves wait")

	x.denied = nil
	x.later(rightLifetime)
	x.read(t, "/")
	began, ended := make(chan struct{}), make(chan struct{})
	x.stored.Fail = func(verb, _, _ string) error {
		if verb == "watch" {
			close(began)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		x.source.watchOnce(ctx, "rebalanceplans")
		close(ended)
	}()
	<-began
	status(t, "a decision", x.send(planPath, decision(x.plan(t), "discard", "1-4")), 303)
	x.read(t, "/")
	o := x.plan(t)
	o.Decision = nil // somebody else takes it back
	if _, err := x.objects.Plans.Update(ctx, o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for !x.source.changed.Load() {
		runtime.Gosched()
	}
	contains(t, x.read(t, "/"), "4 moves wait")
	cancel()
	<-ended
}
