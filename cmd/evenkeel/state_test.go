package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLivePlanUsesSavedState checks that a plan for a live cluster uses the saved state, or reports that the
// state is unknown. The saved input must give the same plan again.
func TestLivePlanUsesSavedState(t *testing.T) {
	now := time.Now().UTC()
	backedOff := fmt.Sprintf(`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","backoffs":[{"workload":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"d"},"since":%q,"until":%q,"failures":1,"reason":{"code":"LandedElsewhere","message":"it landed on n3"}}]}`,
		now.Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339))
	const maps = "/api/v1/namespaces/ops/configmaps/"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		path   string
		want   string
	}{
		{"a workload is backed off", respondText(200, "application/json", stateConfigMap(t, backedOff)), maps + "evenkeel-state-09", "BackedOff: "},
		{"no state was written yet", respondNotFound, maps, ""},
		{"no permission to read it", respondStatus(403, "Forbidden", "no"), maps, "the planner state is unknown, so the plan ignores backoffs and hourly eviction counts: reading ConfigMap ops/evenkeel-state-00: no; the chart's Role"},
		{"invalid content", respondText(200, "application/json", stateConfigMap(t, "{")), maps + "evenkeel-state-09", "reading ConfigMap ops/evenkeel-state-09: unexpected end of JSON input; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			row := badInput{server: faultAtPath(c.path, c.answer)}
			row.serve(t, dir)
			saved := filepath.Join(dir, "saved.json")
			live := runPlan(t, "plan", "--kubeconfig", filepath.Join(dir, "kubeconfig.yaml"), "--lease-namespace", "ops", "-o", "json", "--save-input", saved)
			again := runPlan(t, "plan", "-f", saved, "-o", "json")
			if withoutNamespace(live) != again {
				t.Errorf("the saved input gives a different plan:\n%s\n%s", live, again)
			}
			text := strings.ReplaceAll(live, `"code":"BackedOff","message":"`, "BackedOff: ")
			text = strings.NewReplacer(`"code": "BackedOff",`, "BackedOff: ").Replace(text)
			if c.want != "" && !strings.Contains(text, c.want) {
				t.Errorf("want %q in:\n%s", c.want, live)
			}
			if unknown := strings.Contains(live, "the planner state is unknown"); unknown != (c.want != "" && !strings.HasPrefix(c.want, "BackedOff")) {
				t.Errorf("plan says that the planner state is unknown: %v\n%s", unknown, live)
			}
		})
	}
}

// TestCaptureContainsState checks that a plan on a captured snapshot leaves a workload in back-off alone, as a plan on
// the cluster does, also if the snapshot is redacted. If the cluster has no release, capture says that the snapshot has
// no state. Without --config, plan says which configuration it uses.
func TestCaptureContainsState(t *testing.T) {
	isolateFromCluster(t)
	now := time.Now().UTC()
	backedOff := fmt.Sprintf(`{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","backoffs":[{"workload":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"d"},"since":%q,"until":%q,"failures":1,"reason":{"code":"LandedElsewhere","message":"it landed on n3"}}]}`,
		now.Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339))
	for holder, want := range map[string]string{"node-7": "BackedOff", "": "2 evictions meet 1 of 1 goals"} {
		releases, warning := map[string]string{}, "warning: no release of Evenkeel was found"
		if holder != "" {
			releases["ops"], warning = holder, ""
		}
		dir := t.TempDir()
		row := badInput{server: &serverFault{paths: map[string]http.HandlerFunc{allLeases: releasesIn(releases),
			"/api/v1/namespaces/ops/configmaps/evenkeel-state-09": respondText(200, "application/json", stateConfigMap(t, backedOff))}}}
		row.serve(t, dir)
		for _, flag := range []string{"", " --redact"} {
			saved := filepath.Join(dir, "saved.json")
			got := invoke(t, connectTimeout, strings.Fields("capture --config builtin -o "+saved+" --kubeconfig "+filepath.Join(dir, "kubeconfig.yaml")+flag), "")
			if got.exit != 0 || (got.stderr == "") != (warning == "") || !strings.Contains(got.stderr, warning) {
				t.Errorf("capture%s: exit %d, stderr %q, want %q", flag, got.exit, got.stderr, warning)
			}
			again := invoke(t, connectTimeout, []string{"plan", "-f", saved}, "")
			if !strings.Contains(again.stdout, want) || !strings.Contains(again.stderr, "warning: the built-in configuration is used") {
				t.Errorf("the plan on the output of capture%s has no %q, or no warning:\n%s%s", flag, want, again.stdout, again.stderr)
			}
			if r := invoke(t, connectTimeout, []string{"plan", "-f", saved, "--config", "builtin"}, ""); r.stderr != "" {
				t.Errorf("a warning despite --config: %s", r.stderr)
			}
		}
	}
}

func runPlan(t *testing.T, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if code := run(args, strings.NewReader(""), &out, &err); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, &err)
	}
	return out.String()
}

func stateConfigMap(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evenkeel-state-09","namespace":"ops","resourceVersion":"7"},"binaryData":{"state.json.gz":"%s"}}`, base64.StdEncoding.EncodeToString(b.Bytes()))
}
