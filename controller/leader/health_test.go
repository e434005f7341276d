package leader_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/controller/leader"
)

// A process whose pass goes on after the Lease was lost becomes unhealthy. Before and after, it is healthy.
func TestAStuckLeaderBecomesUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fake.NewClientset()
		var cut atomic.Bool
		c.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return cut.Load(), nil, errors.New("connection refused")
		})
		var leads atomic.Bool
		var changes atomic.Int32
		l := &leader.Lease{Client: c, Namespace: "ops", Identity: "a", OnLeadingChange: func(now bool) { leads.Store(now); changes.Add(1) }}
		err := l.Lead(t.Context(), time.Minute, func(ctx context.Context) error {
			time.Sleep(time.Hour)
			if err := l.CheckHealth(); err != nil {
				t.Errorf("while it leads: %v", err)
			}
			cut.Store(true)
			<-ctx.Done()
			time.Sleep(leader.ShutdownTolerance - time.Second)
			if err := l.CheckHealth(); err != nil {
				t.Errorf("while it may still end its pass: %v", err)
			}
			if leads.Load() {
				t.Error("it leads while its pass goes on without the Lease")
			}
			time.Sleep(time.Minute)
			if l.CheckHealth() == nil {
				t.Error("it is healthy although its pass is stuck without the Lease")
			}
			return nil
		})
		if err == nil || l.CheckHealth() != nil {
			t.Errorf("after the pass: error %v, health %v; want an error about the Lease, and good health", err, l.CheckHealth())
		}
		if leads.Load() || changes.Load() != 2 {
			t.Errorf("it leads: %t, after %d changes; want false, after 2", leads.Load(), changes.Load())
		}
	})
}

// A process that waits for the Lease says at once which process holds it, and is healthy. The Lease of a dead process
// becomes free.
func TestWaitingForADeadHolderIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		dead := ops(0, "node-7")
		dead.Spec.RenewTime.Time = began
		var holder string
		var after time.Duration
		calls := 0
		l := &leader.Lease{Client: fake.NewClientset(dead), Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) {}}
		l.OnWaiting = func(h string) {
			calls, holder, after = calls+1, h, time.Since(began)
			if err := l.CheckHealth(); err != nil {
				t.Errorf("a standby is not healthy: %v", err)
			}
		}
		err := l.Lead(t.Context(), time.Minute, func(context.Context) error { return nil })
		if err != nil || calls != 1 || holder != "node-7" || after > time.Second {
			t.Errorf("%d announcements, of %q after %s (%v); want one of node-7 at once", calls, holder, after, err)
		}
		if waited := time.Since(began); waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("waited %s for the Lease of a dead process, want 10 to 20 s", waited)
		}
	})
}
