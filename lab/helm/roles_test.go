package helm_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// eachPermission calls f with the "group/resource", the verb and the allowed resource names of each permission of the
// installed release.
func eachPermission(t *testing.T, manifests string, f func(what, verb string, names []any)) {
	t.Helper()
	var bound []any
	for _, b := range append(parseObjects(t, manifests, "ClusterRoleBinding"), parseObjects(t, manifests, "RoleBinding")...) {
		bound = append(bound, valueAt(t, b, "roleRef", "name"))
	}
	for _, role := range append(parseObjects(t, manifests, "ClusterRole"), parseObjects(t, manifests, "Role")...) {
		if len(bound) > 0 && !slices.Contains(bound, valueAt(t, role, "metadata", "name")) {
			continue // for people
		}
		for _, rule := range role["rules"].([]any) {
			if rule.(manifest)["nonResourceURLs"] != nil {
				continue
			}
			names, _ := rule.(manifest)["resourceNames"].([]any)
			for _, group := range valueAt(t, rule, "apiGroups").([]any) {
				for _, resource := range valueAt(t, rule, "resources").([]any) {
					for _, verb := range valueAt(t, rule, "verbs").([]any) {
						f(fmt.Sprintf("%s/%s", group, resource), verb.(string), names)
					}
				}
			}
		}
	}
}

// sortedPermissions lists the permissions as "group/resource verb", sorted.
func sortedPermissions(t *testing.T, manifests string) (list []string) {
	t.Helper()
	eachPermission(t, manifests, func(what, verb string, _ []any) { list = append(list, what+" "+verb) })
	slices.Sort(list)
	return list
}

// namedPermissions lists the permissions as "group/resource[/name] verb", one for each resource name.
func namedPermissions(t *testing.T, manifests string) (list []string) {
	t.Helper()
	eachPermission(t, manifests, func(what, verb string, names []any) {
		for _, name := range names {
			list = append(list, fmt.Sprintf("%s/%s %s", what, name, verb))
		}
		if len(names) == 0 {
			list = append(list, what+" "+verb)
		}
	})
	return list
}

// TestPermissions checks that dryRun=false adds only the permissions to evict and to record evictions. Steering and
// hints add only the permission to patch nodes. No permission is broad.
func TestPermissions(t *testing.T) {
	dry, live := sortedPermissions(t, renderChart(t)), sortedPermissions(t, renderChart(t, "--set", "config.dryRun=false"))
	unset := sortedPermissions(t, renderChart(t, "--set", "config.dryRun=null"))
	const evict = "/pods/eviction create"
	if slices.Contains(dry, evict) || slices.Contains(unset, evict) {
		t.Error("a dry run has permission to evict")
	}
	added := slices.DeleteFunc(slices.Clone(live), func(r string) bool { return slices.Contains(dry, r) })
	if !reflect.DeepEqual(added, []string{"/configmaps create", "/configmaps update", evict,
		"coordination.k8s.io/leases list", "evenkeel.io/rebalanceruns delete", "evenkeel.io/rebalanceruns get", "evenkeel.io/rebalanceruns list",
		"evenkeel.io/rebalanceruns/status update"}) {
		t.Errorf("dryRun=false adds %v", added)
	}
	const patch = "/nodes patch"
	steers := sortedPermissions(t, renderChart(t, "--set", "config.dryRun=false", "--set", "config.evictor.steer=taint"))
	if added := slices.DeleteFunc(slices.Clone(steers),
		func(r string) bool { return slices.Contains(live, r) }); !reflect.DeepEqual(added, []string{patch}) {
		t.Errorf("steer=taint adds %v", added)
	}
	hints := sortedPermissions(t, renderChart(t, "--set", "config.dryRun=false", "--set", "config.hints.enabled=true"))
	if !reflect.DeepEqual(hints, steers) {
		t.Errorf("hints.enabled grants %v, steering %v", hints, steers)
	}
	const remove = "/pods delete"
	deletes := sortedPermissions(t, renderChart(t, failedPodsArgs("config.dryRun=false", "deletion")...))
	if added := slices.DeleteFunc(slices.Clone(deletes),
		func(r string) bool { return slices.Contains(live, r) }); !reflect.DeepEqual(added, []string{remove}) {
		t.Errorf("a FailedPods strategy with remove: deletion adds %v", added)
	}
	for _, none := range [][]string{failedPodsArgs("config.dryRun=false", "eviction"), failedPodsArgs("config.dryRun=true", "deletion")} {
		if slices.Contains(sortedPermissions(t, renderChart(t, none...)), remove) {
			t.Errorf("%v grants permission to delete pods", none)
		}
	}
	for _, none := range [][]string{{"config.hints.enabled=true"}, {"config.dryRun=false", "config.hints=null"},
		{"config.evictor.steer=taint"}, {"config.dryRun=false", "config.evictor.steer=null"},
		{"config.dryRun=false", "config.evictor=null"}} {
		if got := sortedPermissions(t, renderChart(t, "--set", strings.Join(none, ","))); slices.Contains(got, patch) {
			t.Errorf("%v grants permission to patch nodes", none)
		}
	}
	only := sortedPermissions(t, renderChart(t, append(hintArgs("config.dryRun=false,config.load.source=metricsServer", 1), "--set-json",
		"config.preset=[],config.strategies={}")...))
	if slices.Contains(only, evict) || !slices.Contains(only, patch) || !slices.Contains(only, "/configmaps update") {
		t.Errorf("hints without strategies grant %v", only)
	}
	nothing := sortedPermissions(t, renderChart(t, "--set", "config.dryRun=false,config.evictor.steer=taint",
		"--set-json", "config.preset=[],config.strategies={}"))
	if slices.Contains(nothing, evict) || slices.Contains(nothing, patch) {
		t.Errorf("without strategies the account has permissions %v", nothing)
	}
	for _, r := range steers {
		for _, never := range []string{"*", "secrets", "nodes/proxy", "delete", "impersonate", "escalate", "bind"} {
			if strings.Contains(r, never) && !strings.HasPrefix(r, "evenkeel.io/") {
				t.Errorf("permission %s is too broad", r)
			}
		}
	}
	for _, p := range roleRules(t, renderChart(t), "Role", "ek-evenkeel") {
		if !regexp.MustCompile(`^(/configmaps/evenkeel-(state-\w+|pause) get|coordination.k8s.io/leases(/evenkeel(-dry-run)? \w+| create)|` +
			`evenkeel.io/(rebalanceplans|rebalancers|rebalancehistories)(/status)?(/evenkeel)? \w+)$`).MatchString(p) {
			t.Errorf("a dry run has the permission %s", p)
		}
	}
	if out := renderChart(t, "--set", "rbac.create=false"); strings.Contains(out, "rbac.authorization") {
		t.Error("rbac.create=false renders roles")
	}
}

// documentedRoles returns the YAML blocks of a page that define roles.
func documentedRoles(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], "rbac.authorization.k8s.io/v1") {
			out = append(out, m[1])
		}
	}
	return strings.Join(out, "\n---\n")
}

// TestWhoeverAppliesBesideADryRunMayDoWhatARunMayThatEvicts checks the documented role for apply. Because apply
// executes the plan with the caller's permissions, the role needs the permissions of a run that evicts. The role
// includes metrics-server, the only usage source that needs API permissions.
func TestWhoeverAppliesBesideADryRunMayDoWhatARunMayThatEvicts(t *testing.T) {
	may := namedPermissions(t, documentedRoles(t, "../../docs/reference/approvals.md"))
	chart := namedPermissions(t, renderChart(t, "--set", "config.dryRun=false", "--set", "config.load.source=metricsServer"))
	for _, needed := range append(chart, "coordination.k8s.io/leases/evenkeel-dry-run get") {
		if strings.HasPrefix(needed, "evenkeel.io/") {
			continue // apply keeps no history, and takes no requests
		}
		if strings.HasSuffix(needed, "/evenkeel-dry-run update") {
			continue // apply leads no dry run
		}
		if !slices.Contains(may, needed) {
			t.Errorf("docs/reference/approvals.md does not grant %s", needed)
		}
	}
	for _, p := range may {
		if core := strings.HasPrefix(p, "/events ") || strings.HasPrefix(p, "events "); core && !strings.HasSuffix(p, " list") {
			t.Errorf("docs/reference/approvals.md grants %s, but Evenkeel lists core events, and writes only those of events.k8s.io", p)
		}
	}
}

// TestOnlyMetricsServerIsReadThroughTheAPI checks that only metrics-server needs API permissions. The program reads the
// other sources at their own addresses.
func TestOnlyMetricsServerIsReadThroughTheAPI(t *testing.T) {
	before := namedPermissions(t, renderChart(t))
	for source, more := range map[string][]string{
		"metricsServer": {"metrics.k8s.io/nodes list", "metrics.k8s.io/pods list"},
		"prometheus":    nil, "loadWatcher": nil,
	} {
		var got []string
		values := "config.load.source=" + source + ",config.load.prometheus.url=http://a,config.load.loadWatcher.url=http://a"
		for _, p := range namedPermissions(t, renderChart(t, "--set", values)) {
			if !slices.Contains(before, p) {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, more) {
			t.Errorf("%s adds %v, want %v", source, got, more)
		}
	}
}

// TestThePageNamesEveryPermission checks that docs/security.md has a row for every permission, by resource or by name.
func TestThePageNamesEveryPermission(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "## Permissions")
	if !found {
		t.Fatal("the page has no section \"Permissions\"")
	}
	all := append(namedPermissions(t, renderChart(t)), namedPermissions(t,
		renderChart(t, "--set", "config.dryRun=false", "--set", "config.evictor.steer=label"))...)
	for _, p := range all {
		what, verb, _ := strings.Cut(p, " ")
		parts := strings.SplitN(what, "/", 3)
		switch {
		case len(parts) == 3 && strings.HasPrefix(parts[2], "evenkeel-state-"):
			parts[2] = "evenkeel-state-..."
		case len(parts) == 3 && parts[2] == "status/evenkeel":
			parts = []string{parts[1] + "/status"}
		case verb == "list" || verb == "watch" || verb == "get" && len(parts) == 2:
			continue // the page lists read permissions in groups
		}
		subject, row := parts[len(parts)-1], ""
		for _, line := range strings.Split(table, "\n") {
			if strings.Contains(strings.ToLower(line), strings.ToLower(subject)) && strings.Contains(line, verb) {
				row = line
			}
		}
		if row == "" {
			t.Errorf("the page has no row for permission %s", p)
		}
	}
}
