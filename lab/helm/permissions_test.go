package helm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// strategiesWithModes returns arguments of a release that is no dry run, with a strategy in each mode.
func strategiesWithModes(modes ...string) []string {
	var list []string
	for i, mode := range modes {
		list = append(list, fmt.Sprintf(`"s%d":{"type":"ZoneSpread","schedule":"@hourly","mode":%q}`, i, mode))
	}
	return []string{"--set", "config.dryRun=false,config.evictor.steer=taint", "--set-json", "config.preset=[],config.strategies={" + strings.Join(list, ",") + "}"}
}

// TestPermissionsFollowModes checks that only a strategy whose moves can be executed grants the permissions to evict
// and to steer.
func TestPermissionsFollowModes(t *testing.T) {
	for _, c := range []struct {
		want bool
		args []string
	}{
		{true, strategiesWithModes("automatic")},
		{true, strategiesWithModes("approve")},
		{true, strategiesWithModes("dryRun", "approve")},
		{false, strategiesWithModes("dryRun", "dryRun")},
		{false, strategiesWithModes()},
		{false, append(strategiesWithModes("automatic"), "--set", "config.dryRun=true")},
	} {
		got := sortedPermissions(t, renderChart(t, c.args...))
		for _, permission := range []string{"/pods/eviction create", "/nodes patch"} {
			if slices.Contains(got, permission) != c.want {
				t.Errorf("%v: permission %s, want %v", c.args, permission, c.want)
			}
		}
	}
	failed := []string{"--set", "config.dryRun=false", "--set-json",
		`config.preset=[],config.strategies={"a": {"type":"FailedPods","schedule":"@hourly","mode":"dryRun","args":{"remove":"deletion"}}}`}
	if slices.Contains(sortedPermissions(t, renderChart(t, failed...)), "/pods delete") {
		t.Error("a FailedPods strategy in mode dryRun grants permission to delete pods")
	}
}

// boundNamespaces returns the namespaces in which RoleBindings grant a ClusterRole, and the permissions of the role.
func boundNamespaces(t *testing.T, manifests string) (namespaces, permissions []string) {
	t.Helper()
	const name = "ek-system-ek-evenkeel-evict"
	for _, b := range parseObjects(t, manifests, "RoleBinding") {
		if valueAt(t, b, "roleRef", "kind") == "ClusterRole" {
			if got := fmt.Sprint(valueAt(t, b, "roleRef", "name"), " ", valueAt(t, b, "subjects")); got !=
				name+" [map[kind:ServiceAccount name:ek-evenkeel namespace:ek-system]]" {
				t.Errorf("a binding grants %s", got)
			}
			namespaces = append(namespaces, valueAt(t, b, "metadata", "namespace").(string))
		}
	}
	for _, r := range parseObjects(t, manifests, "ClusterRole") {
		if valueAt(t, r, "metadata", "name") == name {
			for _, rule := range r["rules"].([]any) {
				permissions = append(permissions, fmt.Sprint(valueAt(t, rule, "resources"), valueAt(t, rule, "verbs")))
			}
		}
	}
	return namespaces, permissions
}

// TestEvictionsPerNamespace checks that only the permissions to evict and to delete pods are limited to namespaces, and
// that no ClusterRoleBinding grants them too.
func TestEvictionsPerNamespace(t *testing.T) {
	deletion := failedPodsArgs("config.dryRun=false,config.namespaces.include={shop,web}", "deletion")
	for _, c := range []struct {
		namespaces, permissions string
		args                    []string
	}{
		{"", "", []string{"--set", "config.dryRun=false"}},
		{"", "", []string{"--set", "config.namespaces.include={shop}"}}, // a dry run
		{"shop web", "[pods/eviction] [create]", []string{"--set", "config.dryRun=false,config.namespaces.include={shop,web}"}},
		{"shop web", "[pods/eviction] [create] [pods] [delete]", deletion},
		{"shop", "[pods/eviction] [create]", []string{"--set", "config.dryRun=false,config.namespaces.include={shop},rbac.evictNamespaces={shop}"}},
		{"", "", []string{"--set", "config.dryRun=false,config.namespaces.include={shop},rbac.evictNamespaces={*}"}},
		{"shop", "[pods/eviction] [create]", externalArgs("rbac.evict=true,rbac.nodeWrites=false,rbac.evictNamespaces={shop}")},
		{"", "", externalArgs("rbac.evict=true,rbac.nodeWrites=false")},
	} {
		out := renderChart(t, c.args...)
		namespaces, permissions := boundNamespaces(t, out)
		if got := strings.Join(namespaces, " "); got != c.namespaces {
			t.Errorf("%v: bound in %q, want %q", c.args, got, c.namespaces)
		}
		if got := strings.Join(permissions, " "); got != c.permissions {
			t.Errorf("%v: the role grants %q, want %q", c.args, got, c.permissions)
		}
		for _, r := range parseObjects(t, out, "ClusterRole") {
			text := fmt.Sprint(r["rules"])
			if c.namespaces != "" && valueAt(t, r, "metadata", "name") == "ek-system-ek-evenkeel" &&
				(strings.Contains(text, "eviction") || strings.Contains(text, "delete")) {
				t.Errorf("%v: the whole cluster too: %s", c.args, text)
			}
		}
	}
}

// externalArgs returns arguments of a release whose configuration is in a ConfigMap of its user.
func externalArgs(values string) []string {
	return []string{"--set", "existingConfigMap=mine," + values}
}

// TestExistingConfigMap checks that the pods mount the ConfigMap, that the chart makes none, and that the permissions
// are those of the section rbac, whatever config says.
func TestExistingConfigMap(t *testing.T) {
	for _, c := range []struct {
		values   string
		want     []string
		unwanted []string
	}{
		{"rbac.evict=false,rbac.nodeWrites=false", []string{"coordination.k8s.io/leases/evenkeel-dry-run update", "coordination.k8s.io/leases/evenkeel update", "metrics.k8s.io/nodes list"},
			[]string{"/pods/eviction create", "/nodes patch", "/pods delete", "/configmaps create"}},
		{"rbac.evict=true,rbac.nodeWrites=false", []string{"/pods/eviction create", "/configmaps/evenkeel-state-00 update",
			"coordination.k8s.io/leases/evenkeel update", "coordination.k8s.io/leases/evenkeel-dry-run update"}, []string{"/nodes patch", "/pods delete"}},
		{"rbac.evict=false,rbac.nodeWrites=true,rbac.nodeKeys.taints={a}", []string{"/nodes patch", "/configmaps/evenkeel-state-00 update"},
			[]string{"/pods/eviction create"}},
		{"rbac.evict=false,rbac.delete=true,rbac.nodeWrites=false", []string{"/pods delete"}, []string{"/pods/eviction create"}},
	} {
		for _, config := range []string{"", ",config.dryRun=false,config.evictor.steer=taint"} {
			out := renderChart(t, externalArgs(c.values+config)...)
			got := namedPermissions(t, out)
			for _, p := range c.want {
				if !slices.Contains(got, p) {
					t.Errorf("%s: permission %s is missing", c.values+config, p)
				}
			}
			for _, p := range c.unwanted {
				if slices.Contains(got, p) {
					t.Errorf("%s: permission %s is granted", c.values+config, p)
				}
			}
			if maps := parseObjects(t, out, "ConfigMap"); len(maps) != 0 {
				t.Errorf("%s: the chart makes a ConfigMap", c.values)
			}
			if name := valueAt(t, podTemplates(t, out)[0], "spec", "volumes", 0, "configMap", "name"); name != "mine" {
				t.Errorf("%s: the pods mount ConfigMap %v", c.values, name)
			}
		}
	}
}

// policyExpressions returns the variables and validations of a policy, one a line.
func policyExpressions(t *testing.T, manifests, name string) string {
	t.Helper()
	var out []string
	for _, p := range parseObjects(t, manifests, "ValidatingAdmissionPolicy") {
		if !strings.HasSuffix(valueAt(t, p, "metadata", "name").(string), name) {
			continue
		}
		for _, list := range []string{"variables", "validations"} {
			expressions, _ := valueAt(t, p, "spec").(manifest)[list].([]any)
			for _, x := range expressions {
				out = append(out, valueAt(t, x, "expression").(string))
			}
		}
	}
	return strings.Join(out, "\n")
}

// TestPoliciesWithExistingConfigMap checks that rbac decides about keys and namespaces if the configuration is not
// known.
func TestPoliciesWithExistingConfigMap(t *testing.T) {
	out := renderChart(t, externalArgs("rbac.evict=true,rbac.evictNamespaces={shop},rbac.nodeWrites=true,rbac.nodeKeys.labels={example.org/hot=yes,example.org/hot=very},"+
		"rbac.nodeKeys.taints={example.org/full},config.hints.label=unused,config.evictor.gracePeriodSeconds=9")...)
	for name, want := range map[string][]string{
		"-nodes": {`["evenkeel.io/steer=avoid","example.org/hot=yes","example.org/hot=very"]`, `["evenkeel.io/steer","example.org/hot"]`,
			`["evenkeel.io/steer","example.org/full"]`},
		"-evictions": {`!(request.namespace in ["kube-system"]) && request.namespace in ["shop"]`,
			"!has(variables.options.gracePeriodSeconds) || variables.options.gracePeriodSeconds > 0"},
		"-own-objects": {`["evenkeel","evenkeel-dry-run"]`, "evenkeel-state-00"},
	} {
		got := policyExpressions(t, out, name)
		for _, text := range want {
			if !slices.Contains(strings.Split(got, "\n"), text) && !(name == "-own-objects" && strings.Contains(got, text)) {
				t.Errorf("policy %s has no %s:\n%s", name, text, got)
			}
		}
		if strings.Contains(got, "unused") {
			t.Errorf("policy %s follows config:\n%s", name, got)
		}
	}
}

// TestKubeSystemIsExcluded checks that the policy of a release with an existing ConfigMap permits no evictions in
// kube-system unless the values name it.
func TestKubeSystemIsExcluded(t *testing.T) {
	for values, want := range map[string]string{
		"rbac.evict=true,rbac.nodeWrites=false":                                      `!(request.namespace in ["kube-system"])`,
		"rbac.evict=true,rbac.nodeWrites=false,rbac.evictNamespaces={*}":             `!(request.namespace in ["kube-system"])`,
		"rbac.evict=true,rbac.nodeWrites=false,rbac.evictNamespaces={*,kube-system}": `!(request.namespace in [])`,
		"rbac.evict=true,rbac.nodeWrites=false,rbac.evictNamespaces={shop}":          `!(request.namespace in ["kube-system"]) && request.namespace in ["shop"]`,
	} {
		got := policyExpressions(t, renderChart(t, externalArgs(values)...), "-evictions")
		if !slices.Contains(strings.Split(got, "\n"), want) {
			t.Errorf("%s: the policy has no %s:\n%s", values, want, got)
		}
	}
}

// TestKubeSystemIsExcludedByDefault checks that a configuration without namespaces.exclude has the default of the
// program, and that an empty list is kept.
func TestKubeSystemIsExcludedByDefault(t *testing.T) {
	for values, want := range map[string]string{
		"config.namespaces.exclude=null": `!(request.namespace in ["kube-system"])`,
		"config.namespaces=null":         `!(request.namespace in ["kube-system"])`,
		"config.namespaces.exclude=[]":   `!(request.namespace in [])`,
	} {
		got := policyExpressions(t, renderChart(t, "--set-json", "config.dryRun=false,"+values), "-evictions")
		if !slices.Contains(strings.Split(got, "\n"), want) {
			t.Errorf("%s: the policy has no %s:\n%s", values, want, got)
		}
	}
}

// TestEvictionsFollowTheNamespacesOfStrategies checks that the chart grants evictions only in the namespaces of the
// strategies if each strategy that can be executed names its own.
func TestEvictionsFollowTheNamespacesOfStrategies(t *testing.T) {
	strategy := func(name, mode, namespaces string) string {
		return fmt.Sprintf(`%q:{"type":"ZoneSpread","schedule":"@hourly","mode":%q,"namespaces":{"include":%s}}`, name, mode, namespaces)
	}
	a, b := strategy("a", "automatic", `["shop","web"]`), strategy("b", "approve", `["web","db"]`)
	for _, c := range []struct{ strategies, values, want string }{
		{a + "," + b, "config.dryRun=false", "shop web db"},
		{a + "," + strategy("c", "dryRun", "[]"), "config.dryRun=false", "shop web"},
		{a + "," + strategy("c", "automatic", "[]"), "config.dryRun=false", ""},
		{a, "config.dryRun=false,config.namespaces.include={shop,web,db}", "shop web db"},
		{a, "config.dryRun=false,rbac.evictNamespaces={*}", ""},
		{a, "config.dryRun=false,rbac.evictNamespaces={shop,web}", "shop web"},
		{a, "config.dryRun=true", ""},
	} {
		out := renderChart(t, "--set", c.values, "--set-json", "config.preset=[],config.strategies={"+c.strategies+"}")
		var got []string
		for _, b := range parseObjects(t, out, "RoleBinding") {
			if strings.HasSuffix(valueAt(t, b, "metadata", "name").(string), "-evict") {
				got = append(got, valueAt(t, b, "metadata", "namespace").(string))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s with %s: evictions in %q, want %q", c.values, c.strategies, got, c.want)
		}
		everywhere := slices.Contains(sortedPermissions(t, out), "/pods/eviction create")
		if live := strings.Contains(c.values, "dryRun=false"); everywhere != (live && c.want == "") && len(got) == 0 {
			t.Errorf("%s with %s: evictions everywhere: %v", c.values, c.strategies, everywhere)
		}
		if want := strings.Join(got, `","`); c.want != "" && !strings.Contains(policyExpressions(t, out, "-evictions"), `request.namespace in ["`+want+`"]`) {
			t.Errorf("%s with %s: the policy says %s", c.values, c.strategies, policyExpressions(t, out, "-evictions"))
		}
	}
	_, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart, "--set", "config.dryRun=false,rbac.evictNamespaces={shop}",
		"--set-json", "config.preset=[],config.strategies={" + a + "}"}, imageArgs)...)
	if err == nil || !strings.Contains(errs, "has web, in which rbac.evictNamespaces permits no evictions") {
		t.Errorf("a namespace of a strategy without a permission: %v %s", err, errs)
	}
}

// TestAuthorizedMetrics checks the permissions for checking clients, and the role for reading metrics.
func TestAuthorizedMetrics(t *testing.T) {
	before := sortedPermissions(t, renderChart(t))
	out := renderChart(t, "--set", "metrics.authorize=true,tls.secretName=a,metrics.readers[0].name=prometheus,metrics.readers[0].namespace=monitoring")
	var added []string
	for _, r := range parseObjects(t, out, "ClusterRole") {
		for _, rule := range r["rules"].([]any) {
			if urls := rule.(manifest)["nonResourceURLs"]; urls != nil {
				added = append(added, fmt.Sprint(urls, rule.(manifest)["verbs"]))
				continue
			}
			for _, resource := range valueAt(t, rule, "resources").([]any) {
				p := fmt.Sprintf("%s/%s %s", valueAt(t, rule, "apiGroups", 0), resource, valueAt(t, rule, "verbs", 0))
				if !slices.Contains(before, p) && rule.(manifest)["apiGroups"].([]any)[0] != "evenkeel.io" { // a role for people
					added = append(added, p)
				}
			}
		}
	}
	slices.Sort(added)
	if got := strings.Join(added, ", "); got != "[/metrics] [get], authentication.k8s.io/tokenreviews create, authorization.k8s.io/subjectaccessreviews create" {
		t.Errorf("metrics.authorize adds %s", got)
	}
	for _, b := range parseObjects(t, out, "ClusterRoleBinding") {
		if strings.HasSuffix(valueAt(t, b, "metadata", "name").(string), "-metrics-reader") {
			if got := fmt.Sprint(valueAt(t, b, "subjects")); got != "[map[kind:ServiceAccount name:prometheus namespace:monitoring]]" {
				t.Errorf("metrics.readers binds %s", got)
			}
			return
		}
	}
	t.Error("metrics.readers is bound to nothing")
}

// TestWrongPermissions checks the messages about values of rbac that are missing, or that contradict the configuration.
func TestWrongPermissions(t *testing.T) {
	for values, want := range map[string]string{
		"existingConfigMap=mine":                                                                                    "want rbac.evict: true or false, rbac.nodeWrites: true or false",
		"existingConfigMap=mine,rbac.evict=true":                                                                    "existingConfigMap is mine, so the chart cannot see what Evenkeel has to do (want rbac.nodeWrites: true or false)",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true":                                               "want rbac.nodeKeys: the labels and taints of hints",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=false,kind=CronJob":                                 "which existingConfigMap hides (want kind Deployment",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=false,extraFiles.a=b":                               "extraFiles has a, but existingConfigMap is set",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true,rbac.nodeKeys.labels={a}":                      `a label in rbac.nodeKeys.labels is "a" (want key=value`,
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true,rbac.nodeKeys.labels={node.kubernetes.io/a=b}": "rbac.nodeKeys.labels has node.kubernetes.io/a, which belongs to Kubernetes",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=true,rbac.nodeKeys.taints={k8s.io/a}":               "rbac.nodeKeys.taints has k8s.io/a, which belongs to Kubernetes",
		"existingConfigMap=mine,rbac.evict=true,rbac.nodeWrites=false,rbac.nodeKeys.taints={a}":                     "rbac.nodeKeys is set, but rbac.nodeWrites is false",
		"rbac.evict=false":            "rbac.evict is set, but this permission follows from config",
		"rbac.nodeWrites=true":        "rbac.nodeWrites is set, but this permission follows from config",
		"rbac.evictNamespaces={shop}": "config.namespaces.include is empty, so Evenkeel would plan evictions in all namespaces",
		"rbac.evictNamespaces={shop},config.namespaces.include={shop,web}": "config.namespaces.include, or that of a strategy, has web, in which rbac.evictNamespaces permits no evictions",
		"config.dryRun=false,config.namespaces.include={shop,team-*}":      "has team-*, but a RoleBinding is for one namespace (want rbac.evictNamespaces: [\"*\"]",
		"rbac.evictNamespaces={Shop}":                                      `a namespace in rbac.evictNamespaces is "Shop" (want a name`,
		"metrics.authorize=true":                                           "metrics.authorize is true, but tls.secretName is empty",
		"metrics.readers[0].name=a,metrics.readers[0].namespace=b":         "metrics.readers is set, but needs metrics.authorize: true",
	} {
		if out, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart, "--set", values}, imageArgs)...); err == nil {
			t.Errorf("helm accepts %s:\n%s", values, out)
		} else if !strings.Contains(errs, want) {
			t.Errorf("%s: the error does not contain %q: %s", values, want, errs)
		}
	}
}
