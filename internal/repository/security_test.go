package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const (
	securityPage = "docs/security.md"
	// fullChart is the chart rendered with every permission that it can grant.
	fullChart = "lab/helm/testdata/deployment-steer.yaml"
)

// tableRows returns the cells of all rows of the tables whose header has the given cells.
func tableRows(page string, header ...string) (rows [][]string) {
	inTable := false
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) >= len(header) && slices.Equal(cells[len(cells)-len(header):], header):
			inTable = true
		case inTable && !strings.HasPrefix(line, "|---"):
			rows = append(rows, cells)
		}
	}
	return rows
}

// existingTests returns the names of all tests of the repository, including the lab's modules.
func existingTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	must.Succeed(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range name.FindAllStringSubmatch(readText(t, path), -1) {
			found[m[1]] = true
		}
		return nil
	}))
	return found
}

// TestSecurityPageNamesTests checks that every test on the page exists, and that every promise about an attack or a
// failure has one row, which names one test. A scenario is written as TestScenarios/name.
func TestSecurityPageNamesTests(t *testing.T) {
	page := readText(t, securityPage)
	exists := existingTests(t)
	name := regexp.MustCompile(`\b((?:Test|Fuzz)[A-Z]\w*)(?:/([\w-]+))?`)
	for _, m := range name.FindAllStringSubmatch(page, -1) {
		if !exists[m[1]] {
			t.Errorf("%s names %s, which does not exist", securityPage, m[1])
		}
		if m[1] != "TestScenarios" {
			continue
		}
		if _, err := os.Stat("planner/testdata/scenarios/" + m[2] + ".txtar"); err != nil {
			t.Errorf("%s names scenario %s: %v", securityPage, m[2], err)
		}
	}
	rows := tableRows(page, "test")
	if len(rows) < 100 {
		t.Errorf("found %d rows with tests, so the search does not work", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		first := strings.ToLower(row[0])
		if seen[first] {
			t.Errorf("%s has two rows for: %s", securityPage, row[0])
		}
		seen[first] = true
		if n := len(name.FindAllString(row[len(row)-1], -1)); n != 1 {
			t.Errorf("%s names %d tests, want 1, for: %s", securityPage, n, row[0])
		}
	}
}

// permissions returns one string for each verb on each resource: where, API group, resource with its name, verb. If
// resources begins with a resource and a name, the other elements are names too.
func permissions(where, group string, resources, verbs []string) (list []string) {
	named, _, hasName := strings.Cut(resources[0], " ")
	for i, r := range resources {
		if hasName && i > 0 {
			r = named + " " + r
		}
		for _, verb := range verbs {
			list = append(list, strings.Join([]string{where, group, r, verb}, ": "))
		}
	}
	return list
}

// grantedPermissions returns the permissions of the roles in a file that are bound.
func grantedPermissions(t *testing.T, path string) (list []string) {
	t.Helper()
	text := readText(t, path)
	for _, doc := range strings.Split(text, "\n---\n") {
		var role struct {
			Kind     string
			Metadata struct {
				Name        string
				Annotations map[string]string
			}
			Rules []struct{ APIGroups, Resources, ResourceNames, Verbs []string }
		}
		must.Succeed(t, yaml.Unmarshal([]byte(doc), &role))
		if !strings.Contains(text, "\n  kind: "+role.Kind+"\n  name: "+role.Metadata.Name+"\n") {
			continue // no binding refers to it
		}
		for _, r := range role.Rules {
			resources := r.Resources
			if len(r.ResourceNames) > 0 {
				for i, n := range r.ResourceNames {
					if strings.HasPrefix(n, "evenkeel-state-") {
						r.ResourceNames[i] = "evenkeel-state-..."
					}
				}
				resources = slices.Compact(r.ResourceNames)
				resources[0] = r.Resources[0] + " " + resources[0]
			}
			where := map[string]string{"ClusterRole": "cluster", "Role": "its namespace"}[role.Kind]
			if role.Metadata.Annotations["helm.sh/hook"] == "post-delete" {
				where += ", after uninstalling"
			}
			for _, group := range r.APIGroups {
				list = append(list, permissions(where, group, resources, r.Verbs)...)
			}
		}
	}
	return list
}

// TestSecurityPageListsPermissions compares the table of permissions with the roles of the rendered charts and of the
// manifests in deploy: each permission that one of them grants is in the table, and fullChart grants the whole table.
func TestSecurityPageListsPermissions(t *testing.T) {
	var documented []string
	for _, row := range tableRows(readText(t, securityPage), "where", "API group", "resources", "verbs", "what for") {
		for i := range row {
			row[i] = strings.NewReplacer("`", "", "core", "").Replace(row[i])
		}
		documented = append(documented, permissions(row[0], row[1], strings.Split(row[2], ", "), strings.Split(row[3], ", "))...)
	}
	files := []string{"deploy/install.yaml"}
	for _, pattern := range []string{"lab/helm/testdata/deployment*.yaml", "lab/helm/testdata/cronjob*.yaml", "deploy/kustomize/*/evenkeel.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < 2 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		for _, p := range grantedPermissions(t, file) {
			if !slices.Contains(documented, p) {
				t.Errorf("%s does not list the permission %q of %s", securityPage, p, file)
			}
		}
	}
	full := grantedPermissions(t, fullChart)
	for _, p := range documented {
		if !slices.Contains(full, p) {
			t.Errorf("%s lists the permission %q, which %s does not grant", securityPage, p, fullChart)
		}
	}
}

// TestPolicyNamesTheKeysOfHints checks that the policy of the chart allows the keys that Evenkeel writes to nodes.
func TestPolicyNamesTheKeysOfHints(t *testing.T) {
	text := readText(t, fullChart)
	quoted := func(s string) string { return `\"` + s + `\"` }
	for _, want := range []string{
		"[" + quoted(hints.Key+"="+hints.Value) + "," + quoted(pressure.Key+"=true") + "]",
		"[" + quoted(pressure.Key) + "," + quoted(hints.RunAnnotation) + "," + quoted(hints.ExpiresAnnotation) + "," +
			quoted(hints.KindAnnotation) + "]",
		"[" + quoted(hints.Key) + "," + quoted(pressure.Key) + "]",
	} {
		if !strings.Contains(text, "expression: \""+want+"\"") {
			t.Errorf("%s does not contain %s", fullChart, want)
		}
	}
}
