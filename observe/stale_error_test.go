package observe

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	ktesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// fakePodServer serves pods until a failure is set.
type fakePodServer struct {
	mu       sync.Mutex
	failure  error
	open     []*watch.FakeWatcher
	attempts int
}

func (p *fakePodServer) setFailure(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure = err; err != nil {
		for _, w := range p.open {
			w.Stop()
		}
		p.open = nil
	}
}

func (p *fakePodServer) list(ktesting.Action) (bool, k8sruntime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	return p.failure != nil, nil, p.failure
}

func (p *fakePodServer) watch(ktesting.Action) (bool, watch.Interface, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	if p.failure != nil {
		return true, nil, p.failure
	}
	w := watch.NewFake()
	p.open = append(p.open, w)
	return true, w, nil
}

func (p *fakePodServer) attemptCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.attempts
}

// TestSnapshotFailsWithStaleView makes requests for pods fail. It covers failures that the
// client library retries silently and failures that it reports.
func TestSnapshotFailsWithStaleView(t *testing.T) {
	for name, cut := range map[string]error{
		"refused connections": syscall.ECONNREFUSED, // retried silently
		"too many requests":   apierrors.NewTooManyRequests("slow down", 1),
		"server errors":       apierrors.NewInternalError(errors.New("broken")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, pods := newClient(kubeSystem(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}), &fakePodServer{}
			client.PrependReactor("list", "pods", pods.list)
			client.PrependWatchReactor("pods", pods.watch)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			clock := clocktesting.NewFakePassiveClock(epoch)
			o := New(client, clock)
			o.Start(ctx)
			t.Cleanup(func() { cancel(); o.Shutdown() })
			must.Succeed(t, o.WaitForSync(ctx))
			waitFor(t, ctx, func() bool { return countWatches(o) == len(kinds) })
			setTime := func(at time.Time) {
				clock.SetTime(at)
				recordBookmarks(o)
			}
			setTime(epoch.Add(time.Hour)) // every watch has been open for a long time
			wantSnapshot(t, o)

			pods.setFailure(cut)
			waitFor(t, ctx, func() bool { return countWatches(o) == len(kinds)-1 && pods.attemptCount() > 2 })
			setTime(epoch.Add(time.Hour + 2*time.Minute))
			wantSnapshot(t, o)
			setTime(epoch.Add(time.Hour + 2*time.Minute + time.Second))
			_, err := o.Snapshot(ctx)
			var stale *StaleError
			if !errors.As(err, &stale) || stale.Resource != "pods" || !stale.Until.Equal(epoch.Add(time.Hour)) ||
				stale.Age != 121*time.Second || stale.Err == nil {
				t.Fatalf("Snapshot with a view of two minutes returned %v", err)
			}
			t.Log(err)

			pods.setFailure(nil)
			waitFor(t, ctx, func() bool { return countWatches(o) == len(kinds) })
			setTime(clock.Now().Add(time.Second))
			wantSnapshot(t, o)
		})
	}
}

func wantSnapshot(t *testing.T, o *Observer) {
	t.Helper()
	if _, err := o.Snapshot(t.Context()); err != nil {
		t.Error(err)
	}
}

// recordBookmarks records a bookmark of every open watch, as an API server sends it once a minute.
func recordBookmarks(o *Observer) {
	for _, w := range o.watched {
		w.staleness.mu.Lock()
		if s := w.staleness.stream; s != nil {
			s.lastEvent = o.clock.Now()
		}
		w.staleness.mu.Unlock()
	}
}

// countWatches counts the kinds with an open watch.
func countWatches(o *Observer) (n int) {
	for _, w := range o.watched {
		w.staleness.mu.Lock()
		if w.staleness.stream != nil {
			n++
		}
		w.staleness.mu.Unlock()
	}
	return n
}

func waitFor(t *testing.T, ctx context.Context, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("waited in vain")
		case <-tick.C:
		}
	}
}

// TestSnapshotBeforeTheFirstList: without a list, there is no view.
func TestSnapshotBeforeTheFirstList(t *testing.T) {
	o := New(newClient(kubeSystem()), clocktesting.NewFakePassiveClock(epoch))
	var stale *StaleError
	if _, err := o.Snapshot(t.Context()); !errors.As(err, &stale) || err.Error() != "nodes were never listed: no watch could be opened" {
		t.Errorf("got %v", err)
	}
}
