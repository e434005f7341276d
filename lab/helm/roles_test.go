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

// granted goes through the permissions as "group/resource" and verb, with the names that
// each is limited to.
func granted(t *testing.T, manifests string, f func(what, verb string, names []any)) {
	t.Helper()
	for _, role := range append(objects(t, manifests, "ClusterRole"), objects(t, manifests, "Role")...) {
		for _, rule := range role["rules"].([]any) {
			names, _ := rule.(object)["resourceNames"].([]any)
			for _, group := range at(t, rule, "apiGroups").([]any) {
				for _, resource := range at(t, rule, "resources").([]any) {
					for _, verb := range at(t, rule, "verbs").([]any) {
						f(fmt.Sprintf("%s/%s", group, resource), verb.(string), names)
					}
				}
			}
		}
	}
}

// rules lists the permissions as "group/resource verb", in order.
func rules(t *testing.T, manifests string) (list []string) {
	t.Helper()
	granted(t, manifests, func(what, verb string, _ []any) { list = append(list, what+" "+verb) })
	slices.Sort(list)
	return list
}

// named lists permissions as "group/resource[/name] verb", one for each name that
// they are limited to.
func named(t *testing.T, manifests string) (list []string) {
	t.Helper()
	granted(t, manifests, func(what, verb string, names []any) {
		for _, name := range names {
			list = append(list, fmt.Sprintf("%s/%s %s", what, name, verb))
		}
		if len(names) == 0 {
			list = append(list, what+" "+verb)
		}
	})
	return list
}

// Eviction, and writing down that it is made, are the only permissions that dryRun
// adds, the patching of nodes the only one that steering and hints add, and nothing broad
// is granted.
func TestPermissions(t *testing.T) {
	dry, live := rules(t, render(t)), rules(t, render(t, "--set", "config.dryRun=false"))
	unset := rules(t, render(t, "--set", "config.dryRun=null"))
	const evict = "/pods/eviction create"
	if slices.Contains(dry, evict) || slices.Contains(unset, evict) {
		t.Error("a dry run may evict")
	}
	if added := slices.DeleteFunc(slices.Clone(live), func(r string) bool { return slices.Contains(dry, r) }); !reflect.DeepEqual(added, []string{"/configmaps create", "/configmaps update", "/configmaps update", evict}) {
		t.Errorf("dryRun=false adds %v", added)
	}
	const patch = "/nodes patch"
	steers := rules(t, render(t, "--set", "config.dryRun=false", "--set", "config.evictor.steer=taint"))
	if added := slices.DeleteFunc(slices.Clone(steers), func(r string) bool { return slices.Contains(live, r) }); !reflect.DeepEqual(added, []string{patch}) {
		t.Errorf("steer=taint adds %v", added)
	}
	hints := rules(t, render(t, "--set", "config.dryRun=false", "--set", "config.hints.enabled=true"))
	if !reflect.DeepEqual(hints, steers) {
		t.Errorf("hints.enabled grants %v, steering %v", hints, steers)
	}
	for _, none := range [][]string{{"config.hints.enabled=true"}, {"config.dryRun=false", "config.hints=null"}, {"config.evictor.steer=taint"}, {"config.dryRun=false", "config.evictor.steer=null"}, {"config.dryRun=false", "config.evictor=null"}} {
		if got := rules(t, render(t, "--set", strings.Join(none, ","))); slices.Contains(got, patch) {
			t.Errorf("%v lets the account patch nodes", none)
		}
	}
	only := rules(t, render(t, append(hinted("config.dryRun=false,config.load.source=metricsServer", 1), "--set-json", "config.strategies=[]")...))
	if slices.Contains(only, evict) || !slices.Contains(only, patch) || !slices.Contains(only, "/configmaps update") {
		t.Errorf("hints without strategies grant %v", only)
	}
	if nothing := rules(t, render(t, "--set", "config.dryRun=false,config.evictor.steer=taint", "--set-json", "config.strategies=[]")); slices.Contains(nothing, evict) || slices.Contains(nothing, patch) {
		t.Errorf("without strategies %v is granted", nothing)
	}
	for _, r := range steers {
		for _, never := range []string{"*", "secrets", "nodes/proxy", "delete", "impersonate", "escalate", "bind"} {
			if strings.Contains(r, never) {
				t.Errorf("%s is granted", r)
			}
		}
	}
	for _, rule := range at(t, objects(t, render(t), "Role")[0], "rules").([]any) {
		verbs := at(t, rule, "verbs").([]any)
		names, _ := rule.(object)["resourceNames"].([]any)
		if reflect.DeepEqual(at(t, rule, "resources"), []any{"configmaps"}) {
			ours := !slices.ContainsFunc(names, func(n any) bool {
				return n != "evenkeel-pause" && !strings.HasPrefix(n.(string), "evenkeel-state-")
			})
			if len(names) != 18 || !ours || !reflect.DeepEqual(verbs, []any{"get"}) {
				t.Errorf("in a dry run more than reading what is remembered is granted: %v", rule)
			}
			continue
		}
		if !slices.Contains(verbs, any("create")) && !reflect.DeepEqual(names, []any{"evenkeel-dry-run"}) {
			t.Errorf("leases are not limited to one name: %v", rule)
		}
	}
	if out := render(t, "--set", "rbac.create=false"); strings.Contains(out, "rbac.authorization") {
		t.Error("rbac.create=false makes roles")
	}
}

// documented are the YAML blocks of a page that make roles.
func documented(t *testing.T, page string) string {
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

// TestWhoeverAppliesBesideADryRunMayDoWhatARunMayThatEvicts: apply then carries the
// plan out with the rights of its caller, and measures with them. It does so whatever
// the source of usage: only metrics-server takes more rights.
func TestWhoeverAppliesBesideADryRunMayDoWhatARunMayThatEvicts(t *testing.T) {
	may := named(t, documented(t, "../../docs/reference/apply.md"))
	chart := named(t, render(t, "--set", "config.dryRun=false", "--set", "config.load.source=metricsServer"))
	for _, needed := range append(chart, "coordination.k8s.io/leases/evenkeel-dry-run get") {
		if !slices.Contains(may, needed) {
			t.Errorf("docs/reference/apply.md does not grant %s", needed)
		}
	}
}

// TestOnlyMetricsServerIsReadThroughTheAPI: other sources of usage are asked by
// address.
func TestOnlyMetricsServerIsReadThroughTheAPI(t *testing.T) {
	before := named(t, render(t))
	for source, more := range map[string][]string{
		"metricsServer": {"metrics.k8s.io/nodes list", "metrics.k8s.io/pods list"},
		"prometheus":    nil, "loadWatcher": nil,
	} {
		var got []string
		for _, p := range named(t, render(t, "--set", "config.load.source="+source+",config.load.prometheus.url=http://a,config.load.loadWatcher.url=http://a")) {
			if !slices.Contains(before, p) {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, more) {
			t.Errorf("%s adds %v, want %v", source, got, more)
		}
	}
}

// TestTheReadmeNamesEveryPermission of the chart, by the resource or, where it is
// limited to names, by these.
func TestTheReadmeNamesEveryPermission(t *testing.T) {
	text, err := os.ReadFile(chart + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "## What it may do")
	if !found {
		t.Fatal("the README does not say what the chart may do")
	}
	all := append(named(t, render(t)), named(t, render(t, "--set", "config.dryRun=false", "--set", "config.evictor.steer=label"))...)
	for _, p := range all {
		what, verb, _ := strings.Cut(p, " ")
		parts := strings.SplitN(what, "/", 3)
		switch {
		case len(parts) == 3 && strings.HasPrefix(parts[2], "evenkeel-state-"):
			parts[2] = "evenkeel-state-..."
		case verb == "list" || verb == "watch" || verb == "get" && len(parts) == 2:
			continue // what is read is told in groups
		}
		subject, row := parts[len(parts)-1], ""
		for _, line := range strings.Split(table, "\n") {
			if strings.Contains(strings.ToLower(line), strings.ToLower(subject)) && strings.Contains(line, verb) {
				row = line
			}
		}
		if row == "" {
			t.Errorf("the README has no row for %s", p)
		}
	}
}
