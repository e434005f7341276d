package helm_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// policyNames returns the rendered ValidatingAdmissionPolicies without the prefix of the release, sorted. It checks
// that each policy rejects, fails closed, applies to the ServiceAccount only, and has a binding.
func policyNames(t *testing.T, manifests string) (names []string) {
	t.Helper()
	bound := []string{}
	for _, b := range parseObjects(t, manifests, "ValidatingAdmissionPolicyBinding") {
		if got := valueAt(t, b, "spec", "validationActions"); !reflect.DeepEqual(got, []any{"Deny"}) {
			t.Errorf("a binding has the actions %v", got)
		}
		bound = append(bound, valueAt(t, b, "spec", "policyName").(string))
	}
	for _, p := range parseObjects(t, manifests, "ValidatingAdmissionPolicy") {
		name := valueAt(t, p, "metadata", "name").(string)
		if !slices.Contains(bound, name) {
			t.Errorf("policy %s has no binding", name)
		}
		condition := valueAt(t, p, "spec", "matchConditions", 0, "expression").(string)
		if strings.HasSuffix(name, "-names") {
			checkNamesPolicy(t, p)
		} else if strings.HasSuffix(name, "-people") {
			checkOwnNamespace(t, p)
		} else if !strings.HasSuffix(condition, `request.userInfo.username == "system:serviceaccount:ek-system:ek-evenkeel"`) ||
			strings.Contains(condition, "||") || valueAt(t, p, "spec", "failurePolicy") != "Fail" {
			t.Errorf("policy %s applies to others or fails open: %v", name, p["spec"])
		}
		names = append(names, strings.TrimPrefix(name, "ek-system-ek-evenkeel-"))
	}
	slices.Sort(names)
	return names
}

// checkOwnNamespace checks that a policy for every account concerns only the namespace of the release and fails closed.
func checkOwnNamespace(t *testing.T, p manifest) {
	t.Helper()
	if got := fmt.Sprint(valueAt(t, p, "spec", "matchConstraints", "namespaceSelector")); got !=
		"map[matchLabels:map[kubernetes.io/metadata.name:ek-system]]" || valueAt(t, p, "spec", "failurePolicy") != "Fail" {
		t.Errorf("%s concerns the namespaces %s, or fails open", valueAt(t, p, "metadata", "name"), got)
	}
}

// checkNamesPolicy checks the policy about names: it concerns only ConfigMaps of Evenkeel.
func checkNamesPolicy(t *testing.T, p manifest) {
	t.Helper()
	checkOwnNamespace(t, p)
	constraints := valueAt(t, p, "spec", "matchConstraints")
	if got := fmt.Sprint(valueAt(t, constraints, "resourceRules")); got != "[map[apiGroups:[] apiVersions:[*] operations:[CREATE] resources:[configmaps]]]" {
		t.Errorf("it concerns %s", got)
	}
	condition := valueAt(t, p, "spec", "matchConditions", 0, "expression").(string)
	if n := strings.Count(condition, `"evenkeel-state-`); n != 17 {
		t.Errorf("it concerns %s", condition)
	}
	if !strings.Contains(condition, `"evenkeel-pause"`) {
		t.Error("it does not concern evenkeel-pause")
	}
}

// TestPoliciesFollowPermissions checks that each permission that RBAC grants as a whole has its policy.
func TestPoliciesFollowPermissions(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"events names own-objects people", nil},
		{"events evictions names own-objects people", []string{"--set", "config.dryRun=false"}},
		{"events evictions names nodes own-objects people", []string{"--set", "config.dryRun=false,config.evictor.steer=label"}},
		{"deletions events evictions names own-objects people", failedPodsArgs("config.dryRun=false", "deletion")},
		{"events evictions names own-objects people", failedPodsArgs("config.dryRun=false", "eviction")},
		{"events names own-objects people", failedPodsArgs("config.dryRun=true", "deletion")},
		{"events evictions names nodes own-objects people", []string{"--set", "config.dryRun=false,config.hints.enabled=true,config.hints.label=null"}},
		{"events names nodes own-objects people", append(hintArgs("config.dryRun=false,config.load.source=metricsServer", 1), "--set-json",
			"config.preset=[],config.strategies={}")},
		{"events evictions names own-objects people", []string{"--set", "config.dryRun=false,config.namespaces=null,config.evictor=null,config.hints=null"}},
		{"", []string{"--set", "config.dryRun=false,admissionPolicy.enabled=false"}},
		{"events evictions names own-objects people", []string{"--set", "config.dryRun=false", "--kube-version", "1.33.0-gke.1"}},
	} {
		if got := strings.Join(policyNames(t, renderChart(t, c.args...)), " "); got != c.want {
			t.Errorf("%v: got policies %q, want %q", c.args, got, c.want)
		}
	}
}

// failedPodsArgs returns arguments of a release with a FailedPods strategy.
func failedPodsArgs(values, remove string) []string {
	return []string{"--set", values, "--set-json",
		fmt.Sprintf(`config.preset=[],config.strategies={"failed": {"type":"FailedPods","schedule":"@hourly","args":{"remove":%q}}}`, remove)}
}

// TestDeletionsAreLimitedToFailedPods checks the pods and the namespaces that the policy for deletions allows.
func TestDeletionsAreLimitedToFailedPods(t *testing.T) {
	out := renderChart(t, failedPodsArgs("config.dryRun=false,config.namespaces.exclude={a},config.namespaces.include={c}", "deletion")...)
	for _, p := range parseObjects(t, out, "ValidatingAdmissionPolicy") {
		if !strings.HasSuffix(valueAt(t, p, "metadata", "name").(string), "-deletions") {
			continue
		}
		rule := valueAt(t, p, "spec", "matchConstraints", "resourceRules", 0)
		if got := valueAt(t, rule, "operations"); !reflect.DeepEqual(got, []any{"DELETE"}) {
			t.Errorf("operations %v", got)
		}
		const failed = `has(oldObject.status) && has(oldObject.status.phase) && oldObject.status.phase == "Failed"`
		if got := valueAt(t, p, "spec", "validations", 0, "expression"); got != failed {
			t.Errorf("pods: %s", got)
		}
		const namespaces = `!(request.namespace in ["a"]) && request.namespace in ["c"]`
		if got := valueAt(t, p, "spec", "validations", 1, "expression"); got != namespaces {
			t.Errorf("namespaces: %s", got)
		}
		return
	}
	t.Error("there is no policy for deletions")
}

// TestEvictionPolicyFollowsTheConfiguration checks the namespaces and the grace period that the policy allows.
func TestEvictionPolicyFollowsTheConfiguration(t *testing.T) {
	for _, c := range []struct{ values, namespace, grace string }{
		{"config.dryRun=false", `!(request.namespace in ["kube-system"])`, "!has(variables.options.gracePeriodSeconds)"},
		{"config.dryRun=false,config.namespaces.exclude={a,b},config.namespaces.include={c}",
			`!(request.namespace in ["a","b"]) && request.namespace in ["c"]`, "!has(variables.options.gracePeriodSeconds)"},
		{"config.dryRun=false,config.namespaces.exclude={openshift-*,b},config.namespaces.include={team-*},rbac.evictNamespaces={*}",
			`!((["openshift-"].exists(p, request.namespace.startsWith(p)) || request.namespace in ["b"])) && ` +
				`(["team-"].exists(p, request.namespace.startsWith(p)) || request.namespace in [])`, "!has(variables.options.gracePeriodSeconds)"},
		{"config.dryRun=false,config.namespaces.exclude=null,config.evictor.gracePeriodSeconds=45", `!(request.namespace in ["kube-system"])`,
			"!has(variables.options.gracePeriodSeconds) || variables.options.gracePeriodSeconds == 45"},
	} {
		for _, p := range parseObjects(t, renderChart(t, "--set", c.values), "ValidatingAdmissionPolicy") {
			if !strings.HasSuffix(valueAt(t, p, "metadata", "name").(string), "-evictions") {
				continue
			}
			if got := valueAt(t, p, "spec", "validations", 0, "expression"); got != c.namespace {
				t.Errorf("%s: namespaces: %s", c.values, got)
			}
			if got := valueAt(t, p, "spec", "validations", 1, "expression"); got != c.grace {
				t.Errorf("%s: grace period: %s", c.values, got)
			}
		}
	}
}

// TestValuesOfAnEarlierChart renders values that lack the sections of this chart, as with --reuse-values.
func TestValuesOfAnEarlierChart(t *testing.T) {
	const lacking = "admissionPolicy=null,flowSchema=null,config.approvals=null,config.hints=null"
	if got := strings.Join(policyNames(t, renderChart(t, "--set", lacking)), " "); got != "events names own-objects people" {
		t.Errorf("got policies %q, want the default", got)
	}
	const part = "flowSchema.priorityLevel=null"
	if got, want := renderChart(t, "--set", "flowSchema.enabled=true,"+part), renderChart(t, "--set", "flowSchema.enabled=true"); got != want {
		t.Errorf("without the other keys of flowSchema: %s\nwant %s", got, want)
	}
}

// TestFlowSchema checks that the release has no flow by default, makes a priority level unless another is named, and
// refuses servers without the API.
func TestFlowSchema(t *testing.T) {
	if out := renderChart(t); strings.Contains(out, "flowcontrol") {
		t.Error("the release has a FlowSchema by default")
	}
	for _, c := range []struct {
		values, level string
		levels        int
	}{
		{"flowSchema.enabled=true", "ek-system-ek-evenkeel", 1},
		{"flowSchema.enabled=true,flowSchema.priorityLevel=workload-low", "workload-low", 0},
	} {
		out := renderChart(t, "--set", c.values)
		if got := len(parseObjects(t, out, "PriorityLevelConfiguration")); got != c.levels {
			t.Errorf("%s: %d priority levels, want %d", c.values, got, c.levels)
		}
		flows := parseObjects(t, out, "FlowSchema")
		if len(flows) != 2 {
			t.Errorf("%s: %d FlowSchemas, want one for the Lease and one for the rest", c.values, len(flows))
		}
		for _, f := range flows {
			if got := valueAt(t, f, "spec", "priorityLevelConfiguration", "name"); got != c.level {
				t.Errorf("%s: level %s, want %s", c.values, got, c.level)
			}
		}
	}
}
