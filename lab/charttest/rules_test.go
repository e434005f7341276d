package charttest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// permission is one resource of a rule of the release.
type permission struct {
	cluster  bool // in a ClusterRole
	role     string
	rule     int
	group    string
	resource string
	names    []string
	verbs    []string
}

func (p permission) String() string {
	names := ""
	if len(p.names) > 0 {
		names = " " + p.names[len(p.names)-1]
	}
	return fmt.Sprintf("%s %s.%s%s", strings.Join(p.verbs, ","), p.resource, p.group, names)
}

// permissions returns the permissions of the roles that are bound to the release's ServiceAccount.
func (r release) permissions(ctx context.Context, t *testing.T) (list []permission) {
	t.Helper()
	clusterRoles, roles := r.boundRoles(ctx, t)
	add := func(cluster bool, role string, rules []rbacv1.PolicyRule) {
		for i, rule := range rules {
			for _, resource := range rule.Resources {
				list = append(list, permission{cluster, role, i, rule.APIGroups[0], resource, rule.ResourceNames, rule.Verbs})
			}
		}
	}
	for _, name := range clusterRoles {
		role, err := r.client.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		add(true, name, role.Rules)
	}
	for _, name := range roles {
		role, err := r.client.RbacV1().Roles(r.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		add(false, name, role.Rules)
	}
	return list
}

// boundRoles returns the names of the roles that are bound to the release's ServiceAccount.
func (r release) boundRoles(ctx context.Context, t *testing.T) (clusterRoles, roles []string) {
	t.Helper()
	ours := func(s []rbacv1.Subject) bool {
		return slices.ContainsFunc(s, func(s rbacv1.Subject) bool {
			return s.Kind == "ServiceAccount" && s.Namespace == r.namespace && s.Name == r.fullname()
		})
	}
	all, err := r.client.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all.Items {
		if ours(b.Subjects) {
			clusterRoles = append(clusterRoles, b.RoleRef.Name)
		}
	}
	own, err := r.client.RbacV1().RoleBindings(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range own.Items {
		if ours(b.Subjects) && b.RoleRef.Kind == "Role" {
			roles = append(roles, b.RoleRef.Name)
		}
	}
	return clusterRoles, roles
}

// without returns rules without a permission.
func (p permission) without(rules []rbacv1.PolicyRule) (out []rbacv1.PolicyRule) {
	for i, rule := range rules {
		rule = *rule.DeepCopy()
		if i == p.rule {
			rule.Resources = slices.DeleteFunc(rule.Resources, func(s string) bool { return s == p.resource })
		}
		if len(rule.Resources) > 0 {
			out = append(out, rule)
		}
	}
	return out
}

// remove removes a permission, waits until the API server denies it, and returns a function that restores it.
func (r release) remove(ctx context.Context, t *testing.T, p permission) (restore func()) {
	t.Helper()
	change := func(edit func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		t.Helper()
		if p.cluster {
			role, err := r.client.RbacV1().ClusterRoles().Get(ctx, p.role, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			before := role.Rules
			role.Rules = edit(before)
			if _, err := r.client.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			return before
		}
		role, err := r.client.RbacV1().Roles(r.namespace).Get(ctx, p.role, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before := role.Rules
		role.Rules = edit(before)
		if _, err := r.client.RbacV1().Roles(r.namespace).Update(ctx, role, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		return before
	}
	before := change(p.without)
	r.waitForPermission(ctx, t, p, false)
	return func() {
		change(func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return before })
		r.waitForPermission(ctx, t, p, true)
	}
}

func (r release) waitForPermission(ctx context.Context, t *testing.T, p permission, want bool) {
	t.Helper()
	resource, subresource, _ := strings.Cut(p.resource, "/")
	a := authorizationv1.ResourceAttributes{Group: p.group, Resource: resource, Subresource: subresource, Verb: p.verbs[0]}
	if !p.cluster {
		a.Namespace = r.namespace
	}
	if len(p.names) > 0 {
		a.Name = p.names[0]
	}
	eventually(ctx, t, fmt.Sprintf("permission %s to be %v", p, want), func() (bool, string) {
		return r.hasPermission(ctx, t, a) == want, ""
	})
}

// names reports whether an output says which permission is missing.
func (p permission) isNamedIn(output string) bool {
	resource, _, _ := strings.Cut(p.resource, "/")
	for line := range strings.Lines(output) {
		if strings.Contains(line, resource) && (strings.Contains(line, "permission") || strings.Contains(line, "cannot ")) {
			return true
		}
	}
	return slices.ContainsFunc(p.names, func(name string) bool {
		// A policy denies to create what the account may not update.
		return strings.Contains(output, name) && (strings.Contains(output, "cannot ") || strings.Contains(output, "Only an account that may update"))
	})
}

// variant is an installation with permissions of its own.
type variant struct {
	name string
	args func(usageURL string) []string
	is   func(permission) bool // which permissions to remove
	// prepare makes the cluster need the permission.
	prepare func(context.Context, *testing.T, release)
}

var variants = []variant{
	{"all", func(url string) []string {
		return append(allPermissions(url), "--set-json", "config.guards.minConfidence=0.99")
	},
		func(p permission) bool { return !slices.Contains(p.names, "evenkeel-trigger") }, nil}, // a single pass takes no triggers
	{"metrics", func(url string) []string {
		return append(allPermissions(url), "--set", "config.load.source=metricsServer")
	},
		func(p permission) bool { return p.group == "metrics.k8s.io" }, nil},
	{"deletions", func(string) []string {
		return []string{"--set", "config.dryRun=false", "--set-json",
			`config.strategies=[{"name":"zones","type":"FailedPods","schedule":"@hourly","args":{"minAge":"0s","remove":"deletion"}}]`}
	}, func(p permission) bool { return p.resource == "pods" && slices.Equal(p.verbs, []string{"delete"}) },
		func(ctx context.Context, t *testing.T, r release) { r.failPod(ctx, t, podOfD(ctx, t, r.client, 0)) }},
}

// TestEachMissingPermissionIsNamed removes each resource of each rule of the release in turn. A pass must then say
// which permission is missing: a permission whose absence is never noticed is superfluous.
func TestEachMissingPermissionIsNamed(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			ctx := t.Context()
			r := newRelease("keel", "ek-rules-"+v.name)
			seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
			var busy atomic.Int64
			busy.Store(95)
			r.install(ctx, t, v.args(serveUsage(t, &busy))...)
			list := slices.DeleteFunc(r.permissions(ctx, t), func(p permission) bool { return !v.is(p) })
			if len(list) == 0 {
				t.Error("the release has no such permission")
			}
			if v.prepare != nil {
				v.prepare(ctx, t, r)
			}
			config, kubeconfig := r.writeConfig(ctx, t), r.writePodKubeconfig(ctx, t)
			for _, p := range list {
				t.Run(p.String(), func(t *testing.T) { r.checkWithout(ctx, t, p, config, kubeconfig, v.prepare == nil) })
			}
			r.uninstall(ctx, t)
		})
	}
}

// checkWithout makes a pass without a permission. If seeds is true, the pass begins with an uneven cluster.
func (r release) checkWithout(ctx context.Context, t *testing.T, p permission, config, kubeconfig string, seeds bool) {
	t.Helper()
	restore := r.remove(ctx, t, p)
	defer restore()
	r.forget(ctx, t)
	if seeds && podsOfDPerZone(ctx, t, r.client) != "1/1/4" {
		seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	}
	out, errs, err := r.runEvenkeel(ctx, t, "run", "--once", "--strategy", "zones", "--config", config, "--kubeconfig", kubeconfig)
	if !p.isNamedIn(out + errs) {
		t.Errorf("the program does not name the missing permission (%v):\n%s%s", err, out, errs)
	}
}

// TestMissingPermissionForTriggersIsNamed does the same for triggers, which only a Deployment takes.
func TestMissingPermissionForTriggersIsNamed(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-rules-trigger")
	r.install(ctx, t, automatic...)
	list := slices.DeleteFunc(r.permissions(ctx, t), func(p permission) bool { return !slices.Contains(p.names, "evenkeel-trigger") })
	if len(list) != 1 {
		t.Fatalf("%d permissions for triggers, want 1", len(list))
	}
	restore := r.remove(ctx, t, list[0])
	r.waitForLog(ctx, t, "triggers are not carried out")
	text, err := r.logs(ctx)
	if err != nil || !list[0].isNamedIn(text) {
		t.Errorf("the program does not name the missing permission (%v):\n%s", err, text)
	}
	restore()
	r.uninstall(ctx, t)
}

// forget deletes the state and the Lease of the release and its marks on nodes. The next pass needs every permission.
func (r release) forget(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(r.stateObjects(ctx, t))) {
		if err := r.client.CoreV1().ConfigMaps(r.namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if err := r.client.CoordinationV1().Leases(r.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	nodes, err := r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		patchNode(ctx, t, n.Name, `{"metadata":{"labels":{"example.org/hot":null},"annotations":{"evenkeel.io/pressure":null}},"spec":{"taints":null}}`)
	}
}
