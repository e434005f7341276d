package e2e

import (
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecuritySecondReleaseRefuses starts a release in one namespace, and makes a pass of a second release in another.
// The second release evicts only after the first one has ended. A dry run may coexist.
func TestSecuritySecondReleaseRefuses(t *testing.T) {
	skipIfShort(t)
	older := seedApps(t, nil)
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	port := freePort(t)
	first := startRun(t, lab.Kubeconfig, testbed.ConfigFile(t, strings.ReplaceAll(zonesConfig, "0 * * * *", "0 0 29 2 *")), older, port)
	waitForMetric(t, "http://"+port, "evenkeel_leader 1")
	waitUntilLeaseIsOlder(t, older)

	once := []string{"run", "--once", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns}
	r := runEvenkeel(t, once...)
	want := "OtherReleaseActive: the older release in namespace " + older + " may evict in this cluster"
	if r.code != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit %d, want 1 and %q on stderr", r.code, want)
	}
	checkEvictions(t, ns, 0)
	dry := []string{"run", "--once", "--config", testbed.ConfigFile(t, zonesConfig+"dryRun: true\n"), "--lease-namespace", ns}
	if r := runEvenkeel(t, dry...); r.code != 0 {
		t.Errorf("a dry run exits %d, want 0", r.code)
	}

	_ = first.cmd.Process.Signal(syscallTerm)
	if err := first.cmd.Wait(); err != nil {
		t.Errorf("the first release did not exit cleanly: %v", err)
	}
	if r := runEvenkeel(t, once...); r.code != 0 {
		t.Errorf("after the first release has ended: exit %d, want 0", r.code)
	}
	checkEvictions(t, ns, 2)
}

// waitUntilLeaseIsOlder waits until a Lease that is created now is younger than that of the release. The API server
// stores the time of creation in whole seconds.
func waitUntilLeaseIsOlder(t *testing.T, namespace string) {
	t.Helper()
	lease := must.Get(lab.Client.CoordinationV1().Leases(namespace).Get(t.Context(), "evenkeel", metav1.GetOptions{}))(t)
	later := func() (bool, error) { return time.Since(lease.CreationTimestamp.Time) > time.Second, nil }
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, later))
}

// TestSecurityLeasesAreListedByName checks that the permission of the chart suffices to find other releases, and shows
// no other Lease.
func TestSecurityLeasesAreListedByName(t *testing.T) {
	skipIfShort(t)
	const user = "lease-lister"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"evenkeel"}, Verbs: []string{"list"}}}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}}
	if _, err := lab.Client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	conf := rest.CopyConfig(lab.Config)
	conf.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	client := must.Get(kubernetes.NewForConfig(conf))(t)
	list := func(selector string) error {
		_, err := client.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		return err
	}
	allowed := func() (bool, error) { return list("metadata.name=evenkeel") == nil, nil } // the authorizer sees a new role later
	if err := seed.WaitUntil(t.Context(), time.Minute, allowed); err != nil {
		t.Errorf("listing by name: %v", list("metadata.name=evenkeel"))
	}
	for _, selector := range []string{"", "metadata.name=kube-scheduler", "metadata.namespace=kube-system"} {
		if err := list(selector); !apierrors.IsForbidden(err) {
			t.Errorf("listing with selector %q: %v, want a refusal", selector, err)
		}
	}
}
