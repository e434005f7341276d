package helm_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// named lists permissions as "group/resource[/name] verb", one for each name that
// they are limited to.
func named(t *testing.T, manifests string) []string {
	t.Helper()
	var list []string
	for _, role := range append(objects(t, manifests, "ClusterRole"), objects(t, manifests, "Role")...) {
		for _, rule := range role["rules"].([]any) {
			names, limited := rule.(object)["resourceNames"].([]any)
			if !limited {
				names = []any{""}
			}
			for _, group := range at(t, rule, "apiGroups").([]any) {
				for _, resource := range at(t, rule, "resources").([]any) {
					for _, name := range names {
						for _, verb := range at(t, rule, "verbs").([]any) {
							list = append(list, strings.Replace(fmt.Sprintf("%s/%s/%s %s", group, resource, name, verb), "/ ", " ", 1))
						}
					}
				}
			}
		}
	}
	return list
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
		case len(parts) == 3 && strings.HasPrefix(parts[2], "evenkeel-memory-"):
			parts[2] = "evenkeel-memory-..."
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
