package helm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// roleRules returns the rules of a role as "group/resource[/name] verb".
func roleRules(t *testing.T, manifests, kind, name string) (list []string) {
	t.Helper()
	for _, r := range allObjects(t, manifests) {
		if r["kind"] != kind || valueAt(t, r, "metadata", "name") != name {
			continue
		}
		for _, rule := range r["rules"].([]any) {
			names, _ := rule.(manifest)["resourceNames"].([]any)
			for _, resource := range valueAt(t, rule, "resources").([]any) {
				for _, verb := range valueAt(t, rule, "verbs").([]any) {
					what := fmt.Sprintf("%s/%s", valueAt(t, rule, "apiGroups", 0), resource)
					for _, n := range names {
						list = append(list, fmt.Sprintf("%s/%s %s", what, n, verb))
					}
					if len(names) == 0 {
						list = append(list, fmt.Sprintf("%s %s", what, verb))
					}
				}
			}
		}
	}
	return list
}

// boundSubjects returns the subjects of each binding, by the name of the binding.
func boundSubjects(t *testing.T, manifests string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
		for _, b := range parseObjects(t, manifests, kind) {
			if got, want := valueAt(t, b, "roleRef", "kind"), strings.TrimSuffix(kind, "Binding"); got != want {
				t.Errorf("%s %s refers to a %s", kind, valueAt(t, b, "metadata", "name"), got)
			}
			found[valueAt(t, b, "roleRef", "name").(string)] = fmt.Sprint(valueAt(t, b, "subjects"))
		}
	}
	return found
}

// peopleArgs returns arguments with one subject of the kind for each list of people.
func peopleArgs(lists ...string) []string {
	var values []string
	for _, list := range lists {
		values = append(values, fmt.Sprintf("people.%s[0].kind=Group,people.%s[0].name=%s", list, list, list))
	}
	return []string{"--set", "config.dryRun=false," + strings.Join(values, ",")}
}

// TestPeople checks that each list of people binds its role and no other, and what the roles grant.
func TestPeople(t *testing.T) {
	const group = "[map[apiGroup:rbac.authorization.k8s.io kind:Group name:%s]]"
	for list, c := range map[string]struct{ role, writes string }{
		"readers":   {"ek-evenkeel-reader", ""},
		"pausers":   {"ek-evenkeel-pauser", "rebalancers update, rebalancers patch"},
		"approvers": {"ek-evenkeel-approver", "rebalanceplans update, rebalanceplans patch"},
		"runners":   {"ek-evenkeel-runner", "rebalanceruns create, rebalanceruns delete, rebalanceplans create"},
	} {
		out := renderChart(t, peopleArgs(list)...)
		want := map[string]string{"ek-system-ek-evenkeel-find": fmt.Sprintf(group, list), c.role: fmt.Sprintf(group, list)}
		if list == "readers" {
			want["ek-system-ek-evenkeel-reader"] = fmt.Sprintf(group, list)
		}
		for name, subjects := range boundSubjects(t, out) {
			if strings.Contains(subjects, "ServiceAccount") {
				continue
			}
			if want[name] != subjects {
				t.Errorf("%s: role %s is bound to %s", list, name, subjects)
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("%s: not bound: %v", list, want)
		}
		var writes []string
		for _, p := range roleRules(t, out, "Role", c.role) {
			object, ours := strings.CutPrefix(p, "evenkeel.io/")
			switch verb := p[strings.LastIndex(p, " ")+1:]; {
			case ours && !slices.Contains([]string{"get", "list", "watch"}, verb):
				writes = append(writes, object)
			case !ours && strings.Count(p, "/") < 2:
				t.Errorf("%s: %s is not limited to a name", list, p)
			}
		}
		if got := strings.Join(writes, ", "); got != c.writes {
			t.Errorf("%s may write %s, want %s", list, got, c.writes)
		}
	}
}

// TestReadersReadWhatTheControllerReads checks that the role for readers has every read permission of the controller on
// objects of the cluster, and no permission to write.
func TestReadersReadWhatTheControllerReads(t *testing.T) {
	out := renderChart(t, append(peopleArgs("readers"), "--set", "config.load.source=metricsServer")...)
	reader := roleRules(t, out, "ClusterRole", "ek-system-ek-evenkeel-reader")
	for _, p := range roleRules(t, out, "ClusterRole", "ek-system-ek-evenkeel") {
		verb := p[strings.LastIndex(p, " ")+1:]
		if slices.Contains([]string{"get", "list", "watch"}, verb) && !strings.Contains(p, "leases") && !slices.Contains(reader, p) {
			t.Errorf("the role for readers lacks %s", p)
		}
	}
	for _, p := range append(reader, roleRules(t, out, "Role", "ek-evenkeel-reader")...) {
		if verb := p[strings.LastIndex(p, " ")+1:]; !slices.Contains([]string{"get", "list", "watch"}, verb) || strings.Contains(p, "secrets") {
			t.Errorf("the role for readers grants %s", p)
		}
	}
}

// TestAggregateToView checks that the role for readers joins view only on request, and the role to see the objects of
// Evenkeel always.
func TestAggregateToView(t *testing.T) {
	for values, want := range map[string]int{"people.aggregateToView=true": 2, "people.readers[0].kind=User,people.readers[0].name=a": 1} {
		n := 0
		for _, r := range parseObjects(t, renderChart(t, "--set", values), "ClusterRole") {
			if labels := valueAt(t, r, "metadata", "labels").(manifest); labels["rbac.authorization.k8s.io/aggregate-to-view"] != nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d roles are aggregated to view, want %d", values, n, want)
		}
	}
}
