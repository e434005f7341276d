package ui

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPerson: the name of the person is that of the API server. A request that its browser gives up does not change it,
// and a name that the API server did not return is not kept.
func TestPerson(t *testing.T) {
	x := newSite(t)
	x.addRelease(t)
	user := x.User
	x.source.person, x.User = "", func(ctx context.Context) (string, bool) {
		if name, known := user(ctx); known {
			return name, true
		}
		return "root (no user name)", false
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	x.do("GET", x.guard.base+"/", nil, func(r *http.Request) { *r = *r.WithContext(gone) })
	contains(t, x.read(t, "/"), "admin@example.org")
	x.source.person, x.User = "", func(context.Context) (string, bool) { return "root (no user name)", false }
	contains(t, x.read(t, "/"), "root (no user name)")
	x.User = user
	contains(t, x.read(t, "/"), "admin@example.org")
}

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
