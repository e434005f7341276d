package drills

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/lab/recording"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// The group of the users under test. Each process runs as a separate user, so the audit log shows which process sent a
// request.
const (
	userGroup = "evenkeel-drills"
	userCount = 1000
)

// auditPolicy logs every write of the users under test with its body, and every eviction by anyone.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  userGroups: [evenkeel-drills, system:serviceaccounts]
  verbs: [create, update, patch, delete, deletecollection]
- level: Request
  resources: [{group: "", resources: [pods/eviction]}]
- level: None
`

// environment is the cluster that all drills share.
type environment struct {
	options   Options
	cluster   *controlplane.Cluster
	dir       string
	ca        []byte
	tokens    []string
	usedUsers int
	recorder  *recording.Recorder
	copies    *proxy.ListCache
	workload  *workload
	auditRead int64 // offset in the audit log
	failed    error
}

func newEnvironment(ctx context.Context, o Options) (*environment, error) {
	dir, err := os.MkdirTemp("", "evenkeel-drills-")
	if err != nil {
		return nil, err
	}
	a := &environment{options: o, dir: dir, copies: proxy.NewListCache()}
	secret := rand.Text()
	var known []controlplane.User
	for i := range userCount {
		a.tokens = append(a.tokens, fmt.Sprintf("%s-%04d", secret, i))
		known = append(known, controlplane.User{Token: a.tokens[i], Name: userName(i), Group: userGroup})
	}
	if a.cluster, err = controlplane.Start(ctx, controlplane.Options{Evenkeel: o.Evenkeel, Kwok: o.Kwok, Programs: o.Programs, Users: known,
		AuditPolicy: []byte(auditPolicy), Progress: o.Progress}); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	if err := a.prepareCluster(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func userName(i int) string { return fmt.Sprintf("evenkeel-%04d", i) }

func (a *environment) close() {
	a.cluster.Stop()
	os.RemoveAll(a.dir)
}

func (a *environment) prepareCluster(ctx context.Context) error {
	a.ca = a.cluster.Config.CAData
	if len(a.ca) == 0 {
		var err error
		if a.ca, err = os.ReadFile(a.cluster.Config.CAFile); err != nil {
			return fmt.Errorf("reading the API server's certificate: %w", err)
		}
	}
	for _, role := range permissionRoles() {
		if _, err := a.cluster.Client.RbacV1().ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := a.grant(ctx, role.Name); err != nil {
			return err
		}
	}
	var err error
	if a.workload, err = createWorkload(ctx, a.cluster.Client); err != nil {
		return fmt.Errorf("creating the workload: %w", err)
	}
	if a.recorder, err = recording.Start(ctx, a.cluster.Client); err != nil {
		return fmt.Errorf("starting the recorder: %w", err)
	}
	return nil
}

// The permissions. Each permission is a ClusterRole, so that a drill can revoke it alone.
const (
	readRole    = "evenkeel-drills-read"
	evictRole   = "evenkeel-drills-evict"
	leaseRole   = "evenkeel-drills-lead"
	stateRole   = "evenkeel-drills-state"
	objectsRole = "evenkeel-drills-objects"
)

func permissionRoles() []rbacv1.ClusterRole {
	rule := func(groups, resources string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: strings.Split(groups, ","), Resources: strings.Split(resources, ","), Verbs: verbs}
	}
	role := func(name string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
		return rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	}
	return []rbacv1.ClusterRole{
		role(readRole, rule("*", "*", "get", "list", "watch"), rule(",events.k8s.io", "events", "create", "patch"),
			rbacv1.PolicyRule{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}}),
		role(evictRole, rule("", "pods/eviction", "create")),
		role(leaseRole, rule("coordination.k8s.io", "leases", "create", "update", "patch")),
		role(stateRole, rule("", "configmaps", "create", "update", "patch", "delete")),
		role(objectsRole, rule("evenkeel.io", "rebalanceplans,rebalancers,rebalancehistories", "create"),
			rule("evenkeel.io", "rebalanceplans,rebalanceruns", "delete"), rule("evenkeel.io", "rebalancehistories", "update"),
			rule("evenkeel.io", "rebalanceplans/status,rebalancers/status,rebalanceruns/status", "update")),
	}
}

// grant grants a permission to all users under test and to all ServiceAccounts of the token drill.
func (a *environment) grant(ctx context.Context, role string) error {
	_, err := a.cluster.Client.RbacV1().ClusterRoleBindings().Create(ctx,
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: userGroup},
				{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:" + tokenNamespace}}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (a *environment) revoke(ctx context.Context, role string) error {
	return a.cluster.Client.RbacV1().ClusterRoleBindings().Delete(ctx, role, metav1.DeleteOptions{})
}

// kubeconfig writes a kubeconfig with which a user connects through a proxy.
func (a *environment) kubeconfig(name, token, namespace string, p *proxy.Proxy) (string, error) {
	path := filepath.Join(a.dir, name+".kubeconfig")
	return path, controlplane.WriteKubeconfig(path, p.URL(), p.CA(), token, namespace)
}

// component returns the process of a control plane component.
func (a *environment) component(name string) (*controlplane.Process, error) {
	p := a.cluster.Component(name)
	if p == nil {
		return nil, fmt.Errorf("component %s does not run as a separate process", name)
	}
	return p, nil
}

// checkComponents returns an error if a component has failed.
func (a *environment) checkComponents() error {
	select {
	case err := <-a.cluster.Failed():
		a.failed = err
	default:
	}
	return a.failed
}

// waitUntilReady waits until the API server answers again.
func (a *environment) waitUntilReady(ctx context.Context, limit time.Duration) error {
	if err := seed.WaitUntil(ctx, limit, func() (bool, error) {
		_, err := a.cluster.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, err
	}); err != nil {
		return fmt.Errorf("waiting for the API server: %w", err)
	}
	return nil
}

// tokenNamespace is the namespace of the drill that uses ServiceAccounts.
const tokenNamespace = "drill-token"
