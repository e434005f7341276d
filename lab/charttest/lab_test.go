package charttest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(testbed.Main(m, "test-chart", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		return seed.CreateNodes(ctx, c.Client, 3, 1)
	}))
}

func newRelease(name, namespace string) release {
	return release{name: name, namespace: namespace, kubeconfig: lab.Kubeconfig, client: lab.Client}
}

// seedThreeZones creates Deployment d in namespace shop with the given pods per zone.
func seedThreeZones(ctx context.Context, t *testing.T, client kubernetes.Interface, podsPerZone [3]int) {
	t.Helper()
	const graceSeconds = 30
	if err := seed.CreateApps(ctx, client, "shop", seed.ThreeZoneApps(podsPerZone, graceSeconds)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := seed.DeleteNamespace(ctx, client, "shop"); err != nil {
			t.Error(err)
		}
	})
}

func podsOfDPerZone(ctx context.Context, t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	zones, err := seed.PodsByZone(ctx, client, "shop", "d")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d/%d/%d", zones["zone-1"], zones["zone-2"], zones["zone-3"])
}
