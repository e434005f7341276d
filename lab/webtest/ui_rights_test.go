package webtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

var (
	look   = []string{"get", "list", "watch"}
	decide = []string{"get", "list", "watch", "update", "patch"}
)

// person is somebody with some of the rights that the pages use.
type person struct {
	name string
	// own are rights in the namespace of the release, where the workloads of the test are as well; all are rights in
	// the whole cluster.
	own, all []rbacv1.PolicyRule
	// shows are texts of the pages, by path.
	shows map[string][]string
	// never are texts that no page may have.
	never []string
}

func rule(verbs []string, group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{group}, Resources: resources}
}

// create creates a ServiceAccount with the rights of the person and returns a kubeconfig with its token.
func (p *person) create(t *testing.T, ns string) (kubeconfig string) {
	t.Helper()
	ctx, meta, rbac := t.Context(), metav1.ObjectMeta{Name: ns + "-" + p.name}, lab.Client.RbacV1()
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: p.name}}
	must.Get(lab.Client.CoreV1().ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: p.name}}, metav1.CreateOptions{}))(t)
	must.Get(rbac.Roles(ns).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: p.own}, metav1.CreateOptions{}))(t)
	must.Get(rbac.RoleBindings(ns).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: meta.Name},
		Subjects: subjects}, metav1.CreateOptions{}))(t)
	must.Get(rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: p.all}, metav1.CreateOptions{}))(t)
	must.Get(rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: meta.Name}}, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		must.Succeed(t, rbac.ClusterRoles().Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
		must.Succeed(t, rbac.ClusterRoleBindings().Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
	})
	last := slices.Concat(p.own, p.all)
	must.Succeed(t, seed.WaitUntil(ctx, 30*time.Second, func() (bool, error) { // until the API server knows the rights
		r := last[len(last)-1]
		a := authorizationv1.ResourceAttributes{Verb: r.Verbs[0], Group: r.APIGroups[0], Resource: r.Resources[0], Namespace: ns}
		review, err := lab.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + ns + ":" + p.name, ResourceAttributes: &a}}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	}))
	return must.Get(lab.ServiceAccountKubeconfig(ctx, ns, p.name))(t)
}

// TestPartialRights opens the pages as people who may see or do a part of what the pages offer. Each page says which
// right is missing, and shows nothing as zero that this person cannot see.
func TestPartialRights(t *testing.T) {
	ns := seedZones(t, [3]int{1, 1, 7}, 1)
	startRelease(t, ns, approveZones)
	createRun(t, ns, "ann")
	name := waitForStoredPlan(t, ns, "Waiting", "").Metadata.Name
	objects := rule(look, "evenkeel.io", "rebalanceplans", "rebalancers", "rebalanceruns", "rebalancehistories")
	list := []string{"get", "list"}
	for _, p := range []person{
		{name: "one-namespace", own: []rbacv1.PolicyRule{objects, rule(look, "", "pods"), rule(look, "apps", "deployments", "replicasets")},
			shows: map[string][]string{"/plans/" + name: {"You may not decide here: update rebalanceplans in namespace " + ns + " is missing."},
				"/cluster": {"list nodes"}}, never: []string{"0 nodes"}},
		{name: "decides", own: []rbacv1.PolicyRule{rule(decide, "evenkeel.io", "rebalanceplans"), rule(look, "evenkeel.io", "rebalancers")},
			shows: map[string][]string{"/plans/" + name: {"3 moves wait for you"}, "/cluster": {"list nodes", "list pods"}}, never: []string{"0 nodes", "0 pods"}},
		{name: "lists", own: []rbacv1.PolicyRule{rule(list, "evenkeel.io", "rebalanceplans", "rebalancers", "rebalanceruns", "rebalancehistories")},
			all:   []rbacv1.PolicyRule{rule(list, "", "nodes", "pods", "namespaces"), rule(list, "apps", "deployments", "replicasets", "statefulsets", "daemonsets")},
			shows: map[string][]string{"/": {"watch rebalanceplans"}, "/cluster": {"n1", "n2", "n3"}}},
	} {
		t.Run(p.name, func(t *testing.T) {
			_, address := startUI(t, p.create(t, ns), ns)
			page, base := openUI(t, views[0], address)
			for _, path := range []string{"/", "/plans", "/plans/" + name, "/cluster", "/history"} {
				page.do(chromedp.Navigate(base + path))
				page.check("ui-rights-"+p.name+"-"+strings.Trim(strings.ReplaceAll(strings.ReplaceAll(path, name, "one"), "/", "-"), "-"), origin(address))
				page.checkShown("body", p.shows[path]...)
				shown := page.shown("body")
				for _, never := range p.never {
					if strings.Contains(shown, never) {
						t.Errorf("%s shows %q:\n%s", path, never, shown)
					}
				}
			}
		})
	}
}
