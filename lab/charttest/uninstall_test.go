package charttest

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestUninstallingCannotBeBlocked uninstalls a release whose cleanup never ends, as with an image that cannot be
// pulled: the lab executes no container of another image. The release and the objects of the hooks must be gone.
func TestUninstallingCannotBeBlocked(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-blocked")
	r.install(ctx, t, "--set", "image.repository=registry.example.org/team/missing,cleanup.enabled=true,config.dryRun=false,config.hints.enabled=true",
		"--set", "terminationGracePeriodSeconds=1")
	out, err := r.helm(t, "uninstall", r.name).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "uninstallation completed with 1 error") {
		t.Errorf("helm uninstall: %v, want a report of the job that failed\n%s", err, out)
	}
	eventually(ctx, t, "the objects of the release and of its hooks to be deleted", func() (bool, string) {
		left := r.remainingObjects(ctx, t)
		return len(left) == 0, strings.Join(left, ", ")
	})
}

// TestUninstallingLeavesNothing uninstalls a running release that has evicted, hinted a node and was paused. No hint,
// no ConfigMap and no Lease may stay.
func TestUninstallingLeavesNothing(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-leaves")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	var busy atomic.Int64
	busy.Store(95)
	r.install(ctx, t, slices.Concat(allPermissions(serveUsage(t, &busy)), automatic, []string{"--set", "config.load.interval=5s"})...)
	hinted := func() (bool, string) {
		n1, err := r.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return n1.Labels["example.org/hot"] != "" || len(n1.Spec.Taints) > 0 || n1.Annotations["evenkeel.io/pressure"] != "", "n1 has no hint"
	}
	eventually(ctx, t, "a hint on n1", hinted)
	r.runAsAdministrator(ctx, t, "trigger", "zones")
	waitForZones(ctx, t, "1/2/3") // the replacement avoids n1, which has the hint
	r.runAsAdministrator(ctx, t, "pause")
	if left := r.leftovers(t); len(left) < 4 {
		t.Errorf("before uninstalling there are only %v, so the search does not work", left)
	}
	r.checkForbidden(ctx, t, r.serviceAccountUser())
	r.runHelm(t, "uninstall", r.name)
	eventually(ctx, t, "everything to be removed", func() (bool, string) {
		left := append(r.leftovers(t), r.remainingObjects(ctx, t)...)
		return len(left) == 0, strings.Join(left, ", ")
	})
	if changed := changedNodes(ctx, t); len(changed) > 0 {
		t.Errorf("labels, annotations or taints of nodes are not as before the release: %v", changed)
	}
	if r.checkForbidden(ctx, t, r.serviceAccountUser()+"-cleanup") == 0 {
		t.Error("the cleanup made no requests")
	}
}

// leftovers lists the ConfigMaps and Leases in the namespace of the release, except the one of Kubernetes.
func (r release) leftovers(t *testing.T) (list []string) {
	t.Helper()
	maps := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).List(t.Context(), metav1.ListOptions{}))(t)
	for _, m := range maps.Items {
		if m.Name != "kube-root-ca.crt" {
			list = append(list, "ConfigMap "+m.Name)
		}
	}
	leases := must.Get(r.client.CoordinationV1().Leases(r.namespace).List(t.Context(), metav1.ListOptions{}))(t)
	for _, l := range leases.Items {
		list = append(list, "Lease "+l.Name)
	}
	return list
}
