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
)

// cutOff answers for pods, until they are cut off.
type cutOff struct {
	mu    sync.Mutex
	cut   error
	open  []*watch.FakeWatcher
	tries int
}

func (p *cutOff) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut = err; err != nil {
		for _, w := range p.open {
			w.Stop()
		}
		p.open = nil
	}
}

func (p *cutOff) list(ktesting.Action) (bool, k8sruntime.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	return p.cut != nil, nil, p.cut
}

func (p *cutOff) watch(ktesting.Action) (bool, watch.Interface, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries++
	if p.cut != nil {
		return true, nil, p.cut
	}
	w := watch.NewFake()
	p.open = append(p.open, w)
	return true, w, nil
}

func (p *cutOff) tried() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tries
}

// TestNoSnapshotOfWhatIsLongPast cuts pods off, in the ways in which the client
// library goes on by itself and in those of which it tells.
func TestNoSnapshotOfWhatIsLongPast(t *testing.T) {
	for name, cut := range map[string]error{
		"refused connections": syscall.ECONNREFUSED, // retried without a word
		"too many requests":   apierrors.NewTooManyRequests("slow down", 1),
		"server errors":       apierrors.NewInternalError(errors.New("broken")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, pods := newClient(system(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}), &cutOff{}
			client.PrependReactor("list", "pods", pods.list)
			client.PrependWatchReactor("pods", pods.watch)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			clock := clocktesting.NewFakePassiveClock(epoch)
			o := New(client, clock)
			o.BoundStaleness(2 * time.Minute)
			o.Start(ctx)
			t.Cleanup(func() { cancel(); o.Shutdown() })
			if err := o.WaitForSync(ctx); err != nil {
				t.Fatal(err)
			}
			await(t, ctx, func() bool { return watchesOf(o) == len(kinds) })
			clock.SetTime(epoch.Add(time.Hour)) // every watch has been open for long
			wantSnapshot(t, o)

			pods.set(cut)
			await(t, ctx, func() bool { return watchesOf(o) == len(kinds)-1 && pods.tried() > 2 })
			clock.SetTime(epoch.Add(time.Hour + 2*time.Minute))
			wantSnapshot(t, o)
			clock.SetTime(epoch.Add(time.Hour + 2*time.Minute + time.Second))
			_, err := o.Snapshot(ctx)
			var stale *Stale
			if !errors.As(err, &stale) || stale.Resource != "pods" || !stale.Until.Equal(epoch.Add(time.Hour)) || stale.Age != 121*time.Second || stale.Err == nil {
				t.Fatalf("a view two minutes old gives %v", err)
			}
			t.Log(err)

			pods.set(nil)
			await(t, ctx, func() bool { return watchesOf(o) == len(kinds) })
			clock.SetTime(clock.Now().Add(time.Second))
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

// watchesOf counts the kinds that have a watch open.
func watchesOf(o *Observer) (n int) {
	for _, w := range o.watched {
		w.currency.mu.Lock()
		if w.currency.watch != nil {
			n++
		}
		w.currency.mu.Unlock()
	}
	return n
}

func await(t *testing.T, ctx context.Context, done func() bool) {
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

// TestWithoutABoundAnyViewWillDo: commands that look once have none.
func TestWithoutABoundAnyViewWillDo(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(epoch)
	o := New(newClient(system()), clock)
	var stale *Stale
	if _, err := o.Snapshot(t.Context()); errors.As(err, &stale) {
		t.Error(err)
	}
	o.BoundStaleness(time.Minute)
	if _, err := o.Snapshot(t.Context()); !errors.As(err, &stale) || err.Error() != "nodes have not been listed yet: no watch of them could be opened" {
		t.Errorf("got %v", err)
	}
}
