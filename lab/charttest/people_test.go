package charttest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// peopleArgs are arguments of an installation that lets the groups readers, pausers, approvers and runners do what
// their names say.
var peopleArgs = []string{"--set", "config.dryRun=false,config.guards.minPodAge=0s,people.readers[0].kind=Group,people.readers[0].name=readers",
	"--set", "people.pausers[0].kind=Group,people.pausers[0].name=pausers",
	"--set", "people.approvers[0].kind=Group,people.approvers[0].name=approvers",
	"--set", "people.runners[0].kind=Group,people.runners[0].name=runners"}

// runAs runs a command of the program as a member of a group. It returns the output of both streams.
func (r release) runAs(ctx context.Context, group string, args ...string) (string, error) {
	args = append(args, "--kubeconfig", r.kubeconfig, "--as", "jo", "--as-group", group, "--as-group", "system:authenticated",
		"--lease-namespace", r.namespace)
	out, err := exec.CommandContext(ctx, testbed.Evenkeel, args...).CombinedOutput()
	return string(out), err
}

// clientOf returns a client of a member of a group.
func (r release) clientOf(t *testing.T, group string) kubernetes.Interface {
	t.Helper()
	config := must.Get(clientcmd.BuildConfigFromFlags("", r.kubeconfig))(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	config.Impersonate = rest.ImpersonationConfig{UserName: "jo", Groups: []string{group, "system:authenticated"}}
	return kubernetes.NewForConfigOrDie(config)
}

// waitForPeople waits until the API server knows what the chart grants to the groups.
func (r release) waitForPeople(ctx context.Context, t *testing.T) {
	t.Helper()
	for group, a := range map[string]authorizationv1.ResourceAttributes{
		"readers":   {Verb: "list", Resource: "pods"},
		"pausers":   {Verb: "update", Group: "evenkeel.io", Resource: "rebalancers", Namespace: r.namespace},
		"approvers": {Verb: "update", Group: "evenkeel.io", Resource: "rebalanceplans", Namespace: r.namespace},
	} {
		r.waitForGroup(ctx, t, group, a)
	}
}

func (r release) waitForGroup(ctx context.Context, t *testing.T, group string, a authorizationv1.ResourceAttributes) {
	t.Helper()
	eventually(ctx, t, "the permissions of "+group, func() (bool, string) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "jo", Groups: []string{group, "system:authenticated"}, ResourceAttributes: &a}}
		review, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, fmt.Sprint(err)
	})
}

// TestPeople runs the commands for people with the permissions that each list of people grants, and with those of the
// other lists.
func TestPeople(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-people")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	r.install(ctx, t, peopleArgs...)
	r.waitForPeople(ctx, t)
	r.runAsAdministrator(ctx, t, "pause") // creates the Rebalancer, as the first pass does
	r.runAsAdministrator(ctx, t, "resume")
	const ok = ""
	for _, c := range []struct {
		group, command string
		says           string // a part of the output
		fails          string // a part of the error, or ok
	}{
		{"readers", "plan", "Plan: 2 evictions", ok},
		{"readers", "approve", "No plan waits", ok},
		{"readers", "pause", "", "permission to update"},
		{"pausers", "pause --reason release-42", "release-42", ok},
		{"approvers", "approve", "No plan waits", ok},
		{"approvers", "resume", "", "forbidden"},
		{"readers", "plan", "release-42", ok},
		{"pausers", "resume", "no longer paused", ok},
		{"pausers", "plan", "", "permission to"},
		{"pausers", "approve", "No plan waits", ok},
		{"runners", "trigger zones", "no process leads now. The next one takes the request zones-", ok},
		{"approvers", "trigger zones", "", "permission to create rebalanceruns is missing"},
		{"others", "plan", "", "permission to"},
		{"others", "pause", "", "permission to"},
		{"others", "approve", "", "permission to"},
		{"pausers", "logs", "", "permission to list pods"},
		{"others", "logs", "", "permission to get leases"},
	} {
		out, err := r.runAs(ctx, c.group, strings.Fields(c.command)...)
		switch {
		case c.fails == ok && (err != nil || !strings.Contains(out, c.says)):
			t.Errorf("%s as one of %s: %v, want output with %q\n%s", c.command, c.group, err, c.says, out)
		case c.fails != ok && (err == nil || !strings.Contains(out, c.fails)):
			t.Errorf("%s as one of %s: %v, want an error with %q\n%s", c.command, c.group, err, c.fails, out)
		}
	}
	r.uninstall(ctx, t)
}

// kubectlAs runs kubectl as a member of a group in the namespace of the release, and returns its output.
func (r release) kubectlAs(ctx context.Context, t *testing.T, group string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"-n", r.namespace, "--as", "jo", "--as-group", group, "--as-group",
		"system:authenticated"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	out, err := cmd.CombinedOutput()
	t.Logf("$ kubectl %s\n%s", strings.Join(args, " "), out)
	return string(out), err
}

// TestDecideWithKubectl: a person who may decide, and nothing else, sees a plan that waits, approves two of its steps
// with kubectl alone, watches them end, and discards the third. The audit log has the person, and only the account of
// the release evicts.
func TestDecideWithKubectl(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-decide")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 7})
	r.install(ctx, t, slices.Concat(automatic, peopleArgs, []string{"--set", "config.strategies.zones.mode=approve"})...)
	r.waitForPeople(ctx, t)
	r.waitForLog(ctx, t, "leads=true")
	r.runAsAdministrator(ctx, t, "trigger", "zones")
	name := ""
	eventually(ctx, t, "a plan that waits", func() (bool, string) {
		out, err := r.kubectlAs(ctx, t, "approvers", "get", "rbp")
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 4 && f[3] == "Waiting" && f[4] == "3" {
				name = f[0]
			}
		}
		return err == nil && name != "", out
	})
	watching, stop := context.WithCancel(ctx)
	watched := make(chan string)
	go func() {
		out, _ := r.kubectlAs(watching, t, "approvers", "get", "rbp", name, "--watch")
		watched <- out
	}()
	decide := func(decision string) {
		if out, err := r.kubectlAs(ctx, t, "approvers", "patch", "rbp", name, "--type", "merge", "-p", `{"decision":`+decision+`}`); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	waitForStatus := func(path, want string) {
		eventually(ctx, t, path+" "+want, func() (bool, string) {
			out, err := r.kubectlAs(ctx, t, "approvers", "get", "rbp", name, "-o", "jsonpath={"+path+"}")
			return err == nil && out == want, out
		})
	}
	decide(`{"by":"jo","approve":{"steps":[1,2]}}`)
	waitForStatus(".status.steps[*].state", "Evicted Evicted")
	waitForStatus(".status.phase", "Waiting")
	decide(`{"by":"jo","approve":{"steps":[1,2]},"discard":{"steps":[3]}}`)
	waitForStatus(".status.phase", "Completed")
	stop()
	if out := <-watched; !strings.Contains(out, "Running") || !strings.Contains(out, "Completed") {
		t.Errorf("kubectl get --watch does not show the steps end:\n%s", out)
	}
	waitForStatus(".status.steps[*].decidedBy", "jo jo jo")
	decisions := 0
	for _, e := range append(r.auditedRequestsOf(ctx, t, "admin"), r.auditedRequests(ctx, t)...) {
		if e.ObjectRef == nil || e.ObjectRef.Resource != "rebalanceplans" || e.ObjectRef.Subresource != "" || e.Verb != "patch" && e.Verb != "update" {
			continue
		}
		if decisions++; e.ImpersonatedUser == nil || e.ImpersonatedUser.Username != "jo" {
			t.Errorf("somebody else decided: %+v", e.User)
		}
	}
	if decisions != 2 {
		t.Errorf("the audit log has %d decisions, want 2", decisions)
	}
	r.checkRequests(ctx, t, 2)
	r.uninstall(ctx, t)
}

// TestPeopleCreateOnlyTheirConfigMaps checks that no list of people grants to create ConfigMaps, and that another role
// that does, which RBAC cannot limit to a name, grants to create no ConfigMap of Evenkeel.
func TestPeopleCreateOnlyTheirConfigMaps(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-names")
	r.install(ctx, t, peopleArgs...)
	path := "/api/v1/namespaces/" + r.namespace + "/configmaps"
	create := func(name, refused string) attempt {
		return attempt{"create " + name, http.MethodPost, path, object{"metadata": object{"name": name}}, refused}
	}
	for _, group := range []string{"readers", "pausers", "approvers", "runners", "others"} {
		checkAttempts(ctx, t, r.clientOf(t, group), []attempt{create("evenkeel-pause", byRBAC), create("notes", byRBAC)})
	}
	rbac, meta := r.client.RbacV1(), metav1.ObjectMeta{Name: "writers"}
	must.Get(rbac.Roles(r.namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}, metav1.CreateOptions{}))(t)
	must.Get(rbac.RoleBindings(r.namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "writers"},
		Subjects: []rbacv1.Subject{{Kind: "Group", Name: "writers"}}}, metav1.CreateOptions{}))(t)
	r.waitForGroup(ctx, t, "writers", authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: r.namespace})
	checkAttempts(ctx, t, r.clientOf(t, "writers"), []attempt{create("evenkeel-pause", byPolicy), create("evenkeel-state-cluster", byPolicy), create("notes", "")})
	checkAttempts(ctx, t, r.client, []attempt{create("evenkeel-pause", ""),
		{"a generated name", http.MethodPost, path, object{"metadata": object{"generateName": "evenkeel-"}}, ""}})
	r.uninstall(ctx, t)
}
