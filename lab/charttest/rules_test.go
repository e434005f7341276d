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

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// permission is one resource of a rule of the release.
type permission struct {
	boundRole
	rule     int
	group    string
	resource string
	names    []string
	verbs    []string
}

// boundRole is a role that is bound to the release's ServiceAccount.
type boundRole struct {
	cluster bool // a ClusterRole
	name    string
	// namespace is where the role is bound; empty means in the whole cluster. A Role is in the same namespace.
	namespace string
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
	for _, role := range r.boundRoles(ctx, t) {
		for i, rule := range r.editRules(ctx, t, role, nil) {
			for _, resource := range rule.Resources {
				list = append(list, permission{role, i, rule.APIGroups[0], resource, rule.ResourceNames, rule.Verbs})
			}
		}
	}
	return list
}

// boundRoles returns the roles that are bound to the release's ServiceAccount, in any namespace.
func (r release) boundRoles(ctx context.Context, t *testing.T) (roles []boundRole) {
	t.Helper()
	ours := func(s []rbacv1.Subject) bool {
		return slices.ContainsFunc(s, func(s rbacv1.Subject) bool {
			return s.Kind == "ServiceAccount" && s.Namespace == r.namespace && s.Name == r.fullname()
		})
	}
	all := must.Get(r.client.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{}))(t)
	for _, b := range all.Items {
		if ours(b.Subjects) {
			roles = append(roles, boundRole{cluster: true, name: b.RoleRef.Name})
		}
	}
	inNamespaces := must.Get(r.client.RbacV1().RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{}))(t)
	for _, b := range inNamespaces.Items {
		if ours(b.Subjects) {
			roles = append(roles, boundRole{b.RoleRef.Kind == "ClusterRole", b.RoleRef.Name, b.Namespace})
		}
	}
	return roles
}

// editRules returns the rules of a role, and replaces them by those that edit returns unless edit is nil.
func (r release) editRules(ctx context.Context, t *testing.T, of boundRole, edit func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) (before []rbacv1.PolicyRule) {
	t.Helper()
	var err error
	if of.cluster {
		var role *rbacv1.ClusterRole
		if role, err = r.client.RbacV1().ClusterRoles().Get(ctx, of.name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if before = role.Rules; edit != nil {
			role.Rules = edit(before)
			_, err = r.client.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
		}
	} else {
		var role *rbacv1.Role
		if role, err = r.client.RbacV1().Roles(of.namespace).Get(ctx, of.name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if before = role.Rules; edit != nil {
			role.Rules = edit(before)
			_, err = r.client.RbacV1().Roles(of.namespace).Update(ctx, role, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return before
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
	before := r.editRules(ctx, t, p.boundRole, p.without)
	r.waitForPermission(ctx, t, p, false)
	return func() {
		r.editRules(ctx, t, p.boundRole, func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return before })
		r.waitForPermission(ctx, t, p, true)
	}
}

func (r release) waitForPermission(ctx context.Context, t *testing.T, p permission, want bool) {
	t.Helper()
	resource, subresource, _ := strings.Cut(p.resource, "/")
	a := authorizationv1.ResourceAttributes{Group: p.group, Resource: resource, Subresource: subresource, Verb: p.verbs[0],
		Namespace: p.namespace}
	if len(p.names) > 0 {
		a.Name = p.names[0]
	}
	eventually(ctx, t, fmt.Sprintf("permission %s to be %v", p, want), func() (bool, string) {
		return r.hasPermission(ctx, t, a) == want, ""
	})
}

// isNamedIn reports whether an output says which permission is missing.
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

// isUsedInAPass is true for all permissions but those for triggers, which have their own test, and for access to the
// metrics, which only the pods of a Deployment use.
func isUsedInAPass(p permission) bool {
	return !strings.HasPrefix(p.resource, "rebalanceruns") && !slices.Contains([]string{"tokenreviews", "subjectaccessreviews"}, p.resource)
}

var variants = []variant{
	{"all", func(url string) []string {
		return append(allPermissions(url), "--set-json", "config.guards.minConfidence=0.99")
	},
		isUsedInAPass, nil},
	{"namespaces", func(string) []string {
		return []string{"--set", "config.dryRun=false,config.guards.minPodAge=0s,config.namespaces.include={shop}"}
	},
		func(p permission) bool { return p.resource == "pods/eviction" && p.namespace == "shop" }, nil},
	{"metrics", func(url string) []string {
		return append(allPermissions(url), "--set", "config.load.source=metricsServer")
	},
		func(p permission) bool { return p.group == "metrics.k8s.io" }, nil},
	{"deletions", func(string) []string {
		return []string{"--set", "config.dryRun=false", "--set-json",
			`config.preset=[],config.strategies={"zones": {"type":"FailedPods","schedule":"@hourly","args":{"minAge":"0s","remove":"deletion"}}}`}
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
			r.attacked = true
			seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
			var busy atomic.Int64
			busy.Store(95)
			r.install(ctx, t, v.args(serveUsage(t, &busy))...)
			r.checkEachPermission(ctx, t, v)
			r.uninstall(ctx, t)
			resetNodes(ctx, t)
		})
	}
}

// checkEachPermission makes a pass with all permissions of the variant, and one without each.
func (r release) checkEachPermission(ctx context.Context, t *testing.T, v variant) {
	t.Helper()
	list := slices.DeleteFunc(r.permissions(ctx, t), func(p permission) bool { return !v.is(p) })
	if len(list) == 0 {
		t.Error("the release has no such permission")
	}
	if v.prepare != nil {
		v.prepare(ctx, t, r)
	}
	pass := r.passOfZones(ctx, t, v.prepare == nil)
	for _, p := range list {
		r.waitForPermission(ctx, t, p, true)
	}
	if v.prepare == nil { // else the pass would take away what the permission is needed for
		out := pass(t)
		for _, p := range list {
			if p.isNamedIn(out) {
				t.Errorf("with all permissions, the program says that %s is missing:\n%s", p, out)
			}
		}
	}
	for _, p := range list {
		t.Run(p.String(), func(t *testing.T) {
			restore := r.remove(ctx, t, p)
			defer restore()
			if out := pass(t); !p.isNamedIn(out) {
				t.Errorf("the program does not name the missing permission:\n%s", out)
			}
		})
	}
}

// passOfZones returns a function that makes a pass of strategy zones with the account of the release, and returns its
// output and error. If seeds is true, each pass begins with an uneven cluster.
func (r release) passOfZones(ctx context.Context, t *testing.T, seeds bool) func(*testing.T) string {
	t.Helper()
	args := []string{"run", "--once", "--strategy", "zones", "--config", r.writeConfig(ctx, t), "--kubeconfig", r.writePodKubeconfig(ctx, t)}
	return func(t *testing.T) string {
		t.Helper()
		r.forget(ctx, t)
		if seeds && podsOfDPerZone(ctx, t, r.client) != "1/1/4" {
			seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
		}
		out, errs, err := r.runEvenkeel(ctx, t, args...)
		return fmt.Sprintf("%s%s%v", out, errs, err)
	}
}

// TestMissingPermissionForTriggersIsNamed does the same for triggers.
func TestMissingPermissionForTriggersIsNamed(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-rules-trigger")
	r.attacked = true
	r.install(ctx, t, automatic...)
	list := slices.DeleteFunc(r.permissions(ctx, t), func(p permission) bool { return !strings.HasPrefix(p.resource, "rebalanceruns") })
	if len(list) != 2 {
		t.Fatalf("the permissions for triggers are %v, want 2", list)
	}
	path := "/apis/evenkeel.io/v1alpha1/namespaces/" + r.namespace + "/rebalanceruns"
	run := `{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalanceRun", "metadata": {"generateName": "a-"}, "spec": {"strategies": ["zones"], "by": "admin"}}`
	for _, p := range list {
		restore := r.remove(ctx, t, p)
		must.Succeed(t, r.client.CoreV1().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(run)).Do(ctx).Error())
		verb := map[string]string{"rebalanceruns": "list", "rebalanceruns/status": "update"}[p.resource]
		r.waitForLog(ctx, t, "cannot "+verb+` resource \"`+p.resource+`\"`)
		restore()
	}
	r.uninstall(ctx, t)
}

// forget deletes the state, the Lease, the Rebalancer and the history of the release, and its marks on nodes. The next
// pass needs every permission.
func (r release) forget(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(r.stateObjects(ctx, t))) {
		if err := r.client.CoreV1().ConfigMaps(r.namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	must.Succeed(t, r.client.CoordinationV1().Leases(r.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	for _, resource := range []string{"rebalancers", "rebalancehistories"} {
		path := "/apis/evenkeel.io/v1alpha1/namespaces/" + r.namespace + "/" + resource
		must.Succeed(t, r.client.CoreV1().RESTClient().Delete().AbsPath(path).Do(ctx).Error())
	}
	resetNodes(ctx, t)
}
