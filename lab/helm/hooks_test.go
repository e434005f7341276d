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
	rights := append(slices.Clone(job), "ClusterRole ek-system-ek-evenkeel-cleanup", "ClusterRoleBinding ek-system-ek-evenkeel-cleanup")
	const policy = " ek-system-ek-evenkeel-cleanup-nodes"
	nodes := append(slices.Clone(rights), "ValidatingAdmissionPolicy"+policy, "ValidatingAdmissionPolicyBinding"+policy)
	network := append(slices.Clone(job), "NetworkPolicy ek-evenkeel-cleanup")
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
		{"admissionPolicy.enabled=false,existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true,rbac.nodeKeys.taints={a}", rights},
		{"networkPolicy.enabled=true", job},
		{"networkPolicy.enabled=true,networkPolicy.egress.enabled=true", network},
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
	if args != "[cleanup --lease-namespace ek-system --wait 130s --config /etc/evenkeel/config.yaml --hints-timeout 40s]" {
		t.Errorf("the job runs %s", args)
	}
}

// TestCleanupRightsAreLimitedToNames checks the permissions of the job after the deletion.
func TestCleanupRightsAreLimitedToNames(t *testing.T) {
	for values, nodes := range map[string]string{"config.dryRun=true": "", "config.dryRun=false,config.evictor.steer=label": "/nodes get /nodes list /nodes patch"} {
		out := renderChart(t, "--set", values)
		rules := roleRules(t, out, "Role", "ek-evenkeel-cleanup")
		if len(rules) != 2*21+4+2 {
			t.Errorf("%s: %d permissions, want to get and delete 21 ConfigMaps and 2 Leases, and to list 2 kinds", values, len(rules))
		}
		for _, p := range rules {
			if strings.Count(p, "/") != 2 && p != "apps/deployments list" && p != "batch/cronjobs list" {
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
	// A pod that failed stays, so that people can read its log.
	if got := valueAt(t, hookObject(t, out, "Pod"), "metadata", "annotations", "helm.sh/hook-delete-policy"); got != "before-hook-creation,hook-succeeded" {
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

// TestHookPodsHaveTheMetadataOfPods checks that the pods of hooks have the labels, the annotations and the service
// links that the values give to pods, but not the labels that select the controller.
func TestHookPodsHaveTheMetadataOfPods(t *testing.T) {
	out := renderChart(t, "--set", "commonLabels.team=a,commonAnnotations.note=b,podLabels.cost=c,podAnnotations.mesh=d,podSpec.enableServiceLinks=true")
	job := valueAt(t, hookObject(t, out, "Job"), "spec", "template")
	for component, pod := range map[string]any{"cleanup": job, "test": hookObject(t, out, "Pod")} {
		labels, annotations := valueAt(t, pod, "metadata", "labels").(manifest), valueAt(t, pod, "metadata", "annotations").(manifest)
		if labels["team"] != "a" || labels["cost"] != "c" || labels["app.kubernetes.io/component"] != component {
			t.Errorf("%s: labels %v", component, labels)
		}
		if annotations["note"] != "b" || annotations["mesh"] != "d" {
			t.Errorf("%s: annotations %v", component, annotations)
		}
		if links := valueAt(t, pod, "spec", "enableServiceLinks"); links != true {
			t.Errorf("%s: enableServiceLinks %v", component, links)
		}
	}
}

// TestCleanupNeedsNoObjectOfTheRelease checks that the pod of the job uses no Secret and no ConfigMap that extraObjects
// may have made, and that it has an egress of its own.
func TestCleanupNeedsNoObjectOfTheRelease(t *testing.T) {
	out := renderChart(t, "--set", "networkPolicy.enabled=true,networkPolicy.egress.enabled=true,networkPolicy.egress.apiServerPorts={8443}",
		"--set-json", `extraEnvFrom=[{"secretRef":{"name":"env"}}]`, "--set-json",
		`extraEnv=[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},`+
			`{"name":"C","valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}},{"name":"D","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]`)
	for kind, want := range map[string]string{"Job": "POD_NAMESPACE A D", "Pod": "POD_NAMESPACE A B C D"} {
		pod := any(hookObject(t, out, kind))
		if kind == "Job" {
			pod = valueAt(t, pod, "spec", "template")
		}
		container := valueAt(t, pod, "spec", "containers", 0).(manifest)
		var names []string
		for _, e := range container["env"].([]any) {
			names = append(names, e.(manifest)["name"].(string))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: variables %s, want %s", kind, got, want)
		}
		if _, has := container["envFrom"]; has != (kind == "Pod") {
			t.Errorf("%s: envFrom: %v", kind, has)
		}
	}
	policy := hookObject(t, out, "NetworkPolicy")
	labels := fmt.Sprint(valueAt(t, policy, "spec", "podSelector", "matchLabels"))
	if got := fmt.Sprint(valueAt(t, policy, "spec", "egress")); !strings.Contains(got, "8443") || !strings.Contains(labels, "cleanup") {
		t.Errorf("egress %s for %s", got, labels)
	}
}

// TestCleanupIsLimitedLikeTheRelease checks that the policy for the account of the job permits the same patches of
// nodes as that of the release, and exists before the account.
func TestCleanupIsLimitedLikeTheRelease(t *testing.T) {
	out := renderChart(t, "--set", "config.dryRun=false,config.hints.enabled=true,config.load.source=metricsServer", "--set-json",
		`config.hints.rules=[{"name":"cpu","resource":"cpu","above":0.8}]`)
	policy := hookObject(t, out, "ValidatingAdmissionPolicy")
	var own manifest
	for _, p := range parseObjects(t, out, "ValidatingAdmissionPolicy") {
		if valueAt(t, p, "metadata", "name") == "ek-system-ek-evenkeel-nodes" {
			own = p
		}
	}
	for _, field := range []string{"matchConstraints", "variables", "validations"} {
		if got, want := fmt.Sprint(valueAt(t, policy, "spec", field)), fmt.Sprint(valueAt(t, own, "spec", field)); got != want {
			t.Errorf("%s: %s\nwant %s", field, got, want)
		}
	}
	condition := valueAt(t, policy, "spec", "matchConditions", 0, "expression").(string)
	if !strings.HasSuffix(condition, `== "system:serviceaccount:ek-system:ek-evenkeel-cleanup"`) {
		t.Errorf("it applies if %s", condition)
	}
	weight := valueAt(t, policy, "metadata", "annotations", "helm.sh/hook-weight")
	account := valueAt(t, hookObject(t, out, "ServiceAccount"), "metadata", "annotations", "helm.sh/hook-weight")
	if weight != "-10" || account != "-5" {
		t.Errorf("the policy has the weight %v, the account %v", weight, account)
	}
}
