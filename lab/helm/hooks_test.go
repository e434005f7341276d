package helm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// isHook reports whether Helm makes the object only for a hook.
func isHook(o manifest) bool {
	meta, _ := o["metadata"].(manifest)
	annotations, _ := meta["annotations"].(manifest)
	return annotations["helm.sh/hook"] != nil
}

// hooks returns the objects of an event, as "kind name".
func hooks(t *testing.T, manifests, event string) (list []string) {
	t.Helper()
	for _, o := range allObjects(t, manifests) {
		if isHook(o) && valueAt(t, o, "metadata", "annotations", "helm.sh/hook") == event {
			list = append(list, fmt.Sprint(o["kind"], " ", valueAt(t, o, "metadata", "name")))
		}
	}
	slices.Sort(list)
	return list
}

// hookObject returns the only object of a kind that Helm makes for a hook.
func hookObject(t *testing.T, manifests, kind string) manifest {
	t.Helper()
	var found []manifest
	for _, o := range allObjects(t, manifests) {
		if isHook(o) && o["kind"] == kind {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d hooks of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// TestHooks checks which objects the events of the chart make.
func TestHooks(t *testing.T) {
	job := []string{"Job ek-evenkeel-cleanup", "Role ek-evenkeel-cleanup", "RoleBinding ek-evenkeel-cleanup", "ServiceAccount ek-evenkeel-cleanup"}
	nodes := append(slices.Clone(job), "ClusterRole ek-system-ek-evenkeel-cleanup", "ClusterRoleBinding ek-system-ek-evenkeel-cleanup")
	for _, c := range []struct {
		values string
		after  []string
	}{
		{"kind=Deployment", job},
		{"kind=CronJob", job},
		{"config.dryRun=false,config.hints.enabled=true", append(slices.Clone(nodes), "ConfigMap ek-evenkeel-cleanup")},
		// A dry run that set hints before: it may not patch nodes, but the job removes the hints.
		{"config.dryRun=true,config.hints.enabled=true", append(slices.Clone(nodes), "ConfigMap ek-evenkeel-cleanup")},
		{"config.dryRun=true,config.evictor.steer=taint", append(slices.Clone(nodes), "ConfigMap ek-evenkeel-cleanup")},
		{"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=false", job},
		{"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true,rbac.nodeKeys.taints={a}", nodes},
		{"cleanup.enabled=false", nil},
		{"rbac.create=false", nil},
		{"cleanup=null,tests=null", nil}, // values of an earlier chart
	} {
		out := renderChart(t, "--set", c.values)
		slices.Sort(c.after)
		if got := hooks(t, out, "pre-delete"); got != nil {
			t.Errorf("%s: before the deletion %v, want none", c.values, got)
		}
		if got := hooks(t, out, "post-delete"); !slices.Equal(got, c.after) {
			t.Errorf("%s: after the deletion %v, want %v", c.values, got, c.after)
		}
	}
}

// TestHooksCannotBlockUninstalling checks that the job after the deletion ends by itself, without a second attempt, and
// leaves nothing, and that no hook has the name of a ConfigMap of a person: Helm would replace and delete it.
func TestHooksCannotBlockUninstalling(t *testing.T) {
	out := renderChart(t, "--set", "config.dryRun=false,config.hints.enabled=true,terminationGracePeriodSeconds=100")
	for _, o := range allObjects(t, out) {
		if !isHook(o) {
			continue
		}
		name := valueAt(t, o, "metadata", "name").(string)
		if strings.HasPrefix(name, "evenkeel-") {
			t.Errorf("%s %s is not an object of the hook alone", o["kind"], name)
		}
		if valueAt(t, o, "metadata", "annotations", "helm.sh/hook") != "post-delete" {
			continue
		}
		if policy := valueAt(t, o, "metadata", "annotations", "helm.sh/hook-delete-policy"); policy != "before-hook-creation,hook-succeeded,hook-failed" {
			t.Errorf("%s %s is deleted only %s", o["kind"], name, policy)
		}
	}
	job := hookObject(t, out, "Job")
	if got := fmt.Sprint(valueAt(t, job, "spec", "backoffLimit"), " ", valueAt(t, job, "spec", "activeDeadlineSeconds")); got != "0 190" {
		t.Errorf("backoffLimit and activeDeadlineSeconds are %s, want 0 190", got)
	}
	args := fmt.Sprint(valueAt(t, job, "spec", "template", "spec", "containers", 0, "args"))
	if args != "[cleanup --wait 130s --config /etc/evenkeel/config.yaml]" {
		t.Errorf("the job runs %s", args)
	}
}

// TestCleanupRightsAreLimitedToNames checks the permissions of the job after the deletion.
func TestCleanupRightsAreLimitedToNames(t *testing.T) {
	for values, nodes := range map[string]string{"config.dryRun=true": "", "config.dryRun=false,config.evictor.steer=label": "/nodes get /nodes list /nodes patch"} {
		out := renderChart(t, "--set", values)
		rules := roleRules(t, out, "Role", "ek-evenkeel-cleanup")
		if len(rules) != 21+4 {
			t.Errorf("%s: %d permissions, want to delete 21 ConfigMaps, and to get and delete 2 Leases", values, len(rules))
		}
		for _, p := range rules {
			if strings.Count(p, "/") != 2 {
				t.Errorf("%s: permission %s is not limited to a name", values, p)
			}
		}
		if got := strings.Join(roleRules(t, out, "ClusterRole", "ek-system-ek-evenkeel-cleanup"), " "); got != nodes {
			t.Errorf("%s: permissions for the cluster: %s, want %s", values, got, nodes)
		}
	}
}

// TestHookPodsMeetTheRestrictedLevel checks the pods of the job and of helm test.
func TestHookPodsMeetTheRestrictedLevel(t *testing.T) {
	out := renderChart(t, "--set", "config.dryRun=false,config.hints.enabled=true", "--set-json",
		`affinity={"nodeAffinity":{}}`, "--set-json", `extraVolumes=[{"name":"a","emptyDir":{}}]`, "--set-json", `extraVolumeMounts=[{"name":"a","mountPath":"/a"}]`)
	pods := map[string]any{"cleanup": valueAt(t, hookObject(t, out, "Job"), "spec", "template", "spec"), "test": valueAt(t, hookObject(t, out, "Pod"), "spec")}
	deployment := podTemplates(t, out)[0]
	for name, pod := range pods {
		for _, path := range [][]any{{"securityContext"}, {"affinity"}, {"containers", 0, "securityContext"}, {"containers", 0, "image"}} {
			want := valueAt(t, deployment, append([]any{"spec"}, path...)...)
			if got := valueAt(t, pod, path...); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v is %v, want %v", name, path, got, want)
			}
		}
	}
	// Helm 3 reads the log of the test after it has deleted what the policy says.
	if got := valueAt(t, hookObject(t, out, "Pod"), "metadata", "annotations", "helm.sh/hook-delete-policy"); got != "before-hook-creation" {
		t.Errorf("the pod of helm test is deleted %s", got)
	}
	if got := fmt.Sprint(valueAt(t, pods["test"], "containers", 0, "args")); got != "[plan --config /etc/evenkeel/config.yaml]" {
		t.Errorf("helm test runs %s", got)
	}
	if got := len(valueAt(t, pods["test"], "volumes").([]any)); got != 2 {
		t.Errorf("the pod of helm test has %d volumes, want 2", got)
	}
	if valueAt(t, pods["test"], "serviceAccountName") != "ek-evenkeel" || valueAt(t, pods["cleanup"], "serviceAccountName") != "ek-evenkeel-cleanup" {
		t.Error("a hook runs with the wrong account")
	}
	if out := renderChart(t, "--set", "tests.enabled=false"); len(hooks(t, out, "test")) != 0 {
		t.Error("tests.enabled=false renders a test")
	}
}
