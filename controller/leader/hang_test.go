package leader_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/evenkeel-project/evenkeel/controller/leader"
)

// hangingClient answers no request for a Lease while hang is set.
type hangingClient struct {
	kubernetes.Interface
	hang atomic.Bool
	hung atomic.Int32 // requests that got no answer
}

func (c *hangingClient) CoordinationV1() coordinationclient.CoordinationV1Interface {
	return hangingCoordination{c.Interface.CoordinationV1(), c}
}

type hangingCoordination struct {
	coordinationclient.CoordinationV1Interface
	client *hangingClient
}

func (c hangingCoordination) Leases(namespace string) coordinationclient.LeaseInterface {
	return hangingLeases{c.CoordinationV1Interface.Leases(namespace), c.client}
}

type hangingLeases struct {
	coordinationclient.LeaseInterface
	client *hangingClient
}

// Update answers only if hang is not set. It hangs once.
func (l hangingLeases) Update(ctx context.Context, o *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if l.client.hang.CompareAndSwap(true, false) {
		l.client.hung.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.LeaseInterface.Update(ctx, o, opts)
}

func (l hangingLeases) Get(ctx context.Context, name string, opts metav1.GetOptions) (*coordinationv1.Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.LeaseInterface.Get(ctx, name, opts)
}

// One renewal without an answer must not use up the time in which the leader may renew its Lease.
func TestALeaderSurvivesARenewalWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &hangingClient{Interface: fake.NewClientset()}
		l := &leader.Lease{Client: c, Namespace: "ops", Identity: "a", OnLeadingChange: func(bool) {}}
		err := l.Lead(t.Context(), time.Minute, func(ctx context.Context) error {
			c.hang.Store(true)
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			return nil
		})
		if err != nil || c.hung.Load() != 1 {
			t.Errorf("after %d requests without an answer: %v; want one, and no error", c.hung.Load(), err)
		}
	})
}
