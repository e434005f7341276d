package charttest

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
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
		"approvers": {Verb: "create", Resource: "configmaps", Namespace: r.namespace},
	} {
		eventually(ctx, t, "the permissions of "+group, func() (bool, string) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "jo", Groups: []string{group, "system:authenticated"}, ResourceAttributes: &a}}
			review, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && review.Status.Allowed, fmt.Sprint(err)
		})
	}
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
		{"pausers", "approve", "", "permission to get"},
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

// TestPeopleCreateOnlyTheirConfigMaps checks that the permission to create ConfigMaps, which RBAC cannot limit to a
// name, is limited to the ConfigMaps that a person may also update.
func TestPeopleCreateOnlyTheirConfigMaps(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-names")
	r.install(ctx, t, peopleArgs...)
	path := "/api/v1/namespaces/" + r.namespace + "/configmaps"
	create := func(name, refused string) attempt {
		return attempt{"create " + name, http.MethodPost, path, object{"metadata": object{"name": name}}, refused}
	}
	for group, attempts := range map[string][]attempt{
		"pausers": {create("evenkeel-approval", byRBAC), create("evenkeel-pause", byRBAC), create("notes", byRBAC)},
		"approvers": {create("evenkeel-pause", byPolicy), create("evenkeel-state-cluster", byPolicy), create("evenkeel-approval", ""),
			create("evenkeel-waiting-plan", "")},
		"readers": {create("evenkeel-pause", byRBAC), create("notes", byRBAC)},
		"others":  {create("evenkeel-pause", byRBAC)},
	} {
		checkAttempts(ctx, t, r.clientOf(t, group), attempts)
	}
	checkAttempts(ctx, t, r.client, []attempt{create("evenkeel-pause", ""), create("evenkeel-approval", ""),
		{"a generated name", http.MethodPost, path, object{"metadata": object{"generateName": "evenkeel-"}}, ""}})
	r.uninstall(ctx, t)
}
