package guides

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	if os.Getenv("EVENKEEL_HELM") == "" || os.Getenv("EVENKEEL_PEER_CHART") == "" || os.Getenv("EVENKEEL_LAB") == "" {
		fmt.Fprintln(os.Stderr, "guides: set EVENKEEL_HELM, EVENKEEL_PEER_CHART and EVENKEEL_LAB, or run `make test-guides`")
		os.Exit(1)
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		fmt.Fprintln(os.Stderr, "guides: the guides need kubectl:", err)
		os.Exit(1)
	}
	os.Exit(testbed.MainRunningPods(m, "test-guides", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		return seed.CreateNodesWithStatus(ctx, c.Client, 3, 1, c.KubeletStatus())
	}))
}

// seedUneven creates Deployment d of small pods in a new namespace, one pod on each of n1 and n2 and four on n3, and
// deletes it with the test.
func seedUneven(t *testing.T, ns string) {
	t.Helper()
	app := seed.App{Name: "d", MilliCPU: 50, MemoryMi: 32, Nodes: []string{"n1", "n2", "n3", "n3", "n3", "n3"}, GraceSeconds: 30}
	must.Succeed(t, seed.CreateApps(t.Context(), lab.Client, ns, []seed.App{app}))
	t.Cleanup(func() { deleteNamespace(t, ns) })
}

func deleteNamespace(t *testing.T, ns string) {
	t.Helper()
	if err := seed.DeleteNamespace(context.Background(), lab.Client, ns); err != nil {
		t.Errorf("deleting namespace %s: %v", ns, err)
	}
}

// zones returns the pods of d per zone, such as 2/2/2.
func zones(t *testing.T, ns string) string {
	t.Helper()
	n := must.Get(seed.PodsByZone(t.Context(), lab.Client, ns, "d"))(t)
	return fmt.Sprintf("%d/%d/%d", n["zone-1"], n["zone-2"], n["zone-3"])
}

// evictors returns the accounts whose evictions in the namespace were granted, with their number.
func evictors(t *testing.T, ns string) map[string]int {
	t.Helper()
	out := map[string]int{}
	eventually(t, "the audit log is readable", func() (bool, error) {
		events, err := lab.Evictions(ns)
		if err != nil {
			return false, nil // the API server is writing a line
		}
		clear(out)
		for _, e := range events {
			if e.ResponseStatus != nil && e.ResponseStatus.Code < 300 {
				out[e.User.Username]++
			}
		}
		return true, nil
	})
	return out
}

// uninstall removes the release with its namespace, as the next guide installs it again.
func uninstall(t *testing.T, s *shell) {
	t.Helper()
	s.run(t, "helm uninstall evenkeel --namespace "+namespace)
	deleteNamespace(t, namespace)
	eventually(t, "the namespace is gone", func() (bool, error) {
		_, err := lab.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
