package charttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		fmt.Fprintln(os.Stderr, "charttest: the tests of manifests need kubectl:", err)
		os.Exit(1)
	}
	os.Exit(testbed.MainRunningPods(m, "test-chart", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		if err := seed.CreateNodesWithStatus(ctx, c.Client, 3, 1, c.KubeletStatus()); err != nil {
			return err
		}
		if err := createMonitoringKinds(ctx, c); err != nil {
			return fmt.Errorf("creating the kinds of the Prometheus Operator: %w", err)
		}
		return rememberNodes(ctx, c.Client)
	}))
}

// newRelease returns a release whose pods the lab does not execute.
func newRelease(name, namespace string) release {
	return release{name: name, namespace: namespace, kubeconfig: lab.Kubeconfig, client: lab.Client, fake: true,
		since: time.Now()}
}

// newRunningRelease returns a release whose pods run as processes of the program under test.
func newRunningRelease(name, namespace string) release {
	r := newRelease(name, namespace)
	r.fake = false
	return r
}

const graceSeconds = 30

// seedThreeZones creates Deployment d in namespace shop with the given pods per zone.
func seedThreeZones(ctx context.Context, t *testing.T, client kubernetes.Interface, podsPerZone [3]int) {
	t.Helper()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := seed.DeleteNamespace(ctx, client, "shop"); err != nil {
			t.Error(err)
		}
	})
	must.Succeed(t, seed.CreateApps(ctx, client, "shop", seed.ThreeZoneApps(podsPerZone, graceSeconds)))
}

// seedAgain replaces namespace shop, as seedThreeZones made it. Its RoleBindings stay.
func seedAgain(ctx context.Context, t *testing.T, client kubernetes.Interface, podsPerZone [3]int) {
	t.Helper()
	bindings := must.Get(client.RbacV1().RoleBindings("shop").List(ctx, metav1.ListOptions{}))(t)
	must.Succeed(t, seed.DeleteNamespace(ctx, client, "shop"))
	must.Succeed(t, seed.CreateApps(ctx, client, "shop", seed.ThreeZoneApps(podsPerZone, graceSeconds)))
	for _, b := range bindings.Items {
		b.UID, b.ResourceVersion = "", ""
		if _, err := client.RbacV1().RoleBindings("shop").Create(ctx, &b, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// podOfD returns the name of pod i of Deployment d.
func podOfD(ctx context.Context, t *testing.T, client kubernetes.Interface, i int) string {
	t.Helper()
	name := must.Get(seed.PodName(ctx, client, "shop", "d", i))(t)
	return name
}

// createNamespace creates a namespace that enforces the restricted Pod Security level.
func createNamespace(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if _, err := lab.Client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func podsOfDPerZone(ctx context.Context, t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	zones := must.Get(seed.PodsByZone(ctx, client, "shop", "d"))(t)
	return fmt.Sprintf("%d/%d/%d", zones["zone-1"], zones["zone-2"], zones["zone-3"])
}
