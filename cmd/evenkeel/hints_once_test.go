package main

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const hintsOnceConfig = configHead + `dryRun: DRYRUN
load: {source: metricsServer}
hints: {enabled: true, rules: [{name: hot, resource: cpu, above: 0.80, for: FOR}]}
strategies:
  zones: {type: ZoneSpread, schedule: "0 0 1 MONTH *"}
`

// runOnceWithHints makes one pass in a cluster where node n1 uses nearly all of its CPU, and where the API server
// forbids patching nodes. The next scheduled pass is always months away.
func runOnceWithHints(t *testing.T, dryRun, samples string) (got programResult, patched []string) {
	t.Helper()
	isolateFromCluster(t)
	f := fakeMetricsServer(map[string]string{"n1": "9", "n2": "1", "n3": "1"})
	f.paths["/api/v1/nodes/"] = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			patched = append(patched, strings.TrimPrefix(r.URL.Path, "/api/v1/nodes/"))
		}
		respondStatus(403, "Forbidden", `nodes "n1" is forbidden: User "a" cannot patch resource "nodes"`)(w, r)
	}
	r := badInput{server: f}
	dir := r.prepare(t)
	r.serve(t, dir)
	conf := strings.NewReplacer("DRYRUN", dryRun, "FOR", samples, "MONTH", strconv.Itoa(int(time.Now().Month()+5)%12+1)).Replace(hintsOnceConfig)
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "hinted.yaml"), []byte(conf), 0o600))
	return invoke(t, connectTimeout, argsInDir(dir, "run --once --kubeconfig kubeconfig.yaml --config hinted.yaml --lease-timeout 10s"), ""), patched
}

// TestSinglePassWritesHints checks that a dry run only logs the hint, that a live pass writes the
// hint, and that a failed write makes the pass return an error.
func TestSinglePassWritesHints(t *testing.T) {
	got, patched := runOnceWithHints(t, "true", "1")
	if got.exit != 0 || len(patched) > 0 || !strings.Contains(got.stderr, "dry run: a pressure hint would be written") || strings.Count(got.stderr, "node=n1") != 1 {
		t.Errorf("dry run: exit %d, patched %v\n%s", got.exit, patched, got.stderr)
	}
	if want := "would be written (a dry run writes no hints)"; !strings.Contains(got.stdout, want) {
		t.Errorf("dry run: want %q\n%s", want, got.stdout)
	}
	const warned = "pressure hints may expire before they are renewed"
	if strings.Contains(got.stderr, warned) {
		t.Errorf("a dry run warns about hints.ttl although it writes no hints: %s", got.stderr)
	}
	got, patched = runOnceWithHints(t, "false", "1")
	if !strings.Contains(got.stderr, warned) {
		t.Errorf("no warning, although hints.ttl is 10 minutes and the next pass is months away: %s", got.stderr)
	}
	if got.exit != 1 || len(patched) == 0 || patched[0] != "n1" || !strings.Contains(got.stderr, "pressure hints could not be written to 1 of 1 nodes") || !strings.Contains(got.stderr, "permission to patch nodes is missing") {
		t.Errorf("exit %d, patched %v\n%s", got.exit, patched, got.stderr)
	}
	if want := "not written yet; the plan assumes no hint"; !strings.Contains(got.stdout, want) {
		t.Errorf("want %q: the plan must not assume a hint that was not written\n%s", want, got.stdout)
	}
	got, patched = runOnceWithHints(t, "false", "2")
	if want := "hints rule hot needs 2 consecutive samples of cpu (for), but one pass takes only one, and metricsServer has no history"; got.exit != 1 || len(patched) > 0 || !strings.Contains(got.stderr, want) {
		t.Errorf("exit %d, patched %v\n%s", got.exit, patched, got.stderr)
	}
}

// TestHintsFailWithoutUsage checks that a pass without any usage data fails, although no node needs a hint.
func TestHintsFailWithoutUsage(t *testing.T) {
	r := badInput{server: &serverFault{}}
	dir := r.prepare(t)
	r.serve(t, dir)
	conf := configHead + "dryRun: true\nload: {source: metricsServer}\nhints: {enabled: true, taint: evenkeel.io/pressure, rules: [{name: hot, resource: cpu, above: 0.80, for: 1}]}\nstrategies: {}\n"
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "hinted.yaml"), []byte(conf), 0o600))
	for _, command := range []string{"run --once", "plan --detailed-exitcode"} {
		got := invoke(t, connectTimeout, argsInDir(dir, command+" --kubeconfig kubeconfig.yaml --config hinted.yaml"), "")
		if want := "nothing could be judged: hints: no usage data: metricsServer gave no answer; "; got.exit != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit %d: %s", command, got.exit, got.stderr)
		}
		if want := "Plan: could judge nothing: hints: no usage data: metricsServer gave no answer; "; !strings.Contains(got.stdout, want) {
			t.Errorf("%s: the report does not contain %q:\n%s", command, want, got.stdout)
		}
	}
}

// TestShortTTLWarning checks the warning for a hints.ttl that is less than twice the time between two
// scheduled passes.
func TestShortTTLWarning(t *testing.T) {
	for text, warns := range map[string]bool{
		"dryRun: false\nhints: {enabled: true, ttl: 19m}":  true,
		"dryRun: false\nhints: {enabled: true, ttl: 20m}":  false,
		"dryRun: false\nhints: {enabled: false, ttl: 10m}": false,
		"dryRun: true\nhints: {enabled: true, ttl: 19m}":   false,
	} {
		conf := must.Get(config.Load("config.yaml", []byte(configHead+`load: {source: metricsServer}
strategies:
  zones: {type: ZoneSpread, schedule: "@hourly"}
  more: {type: ZoneSpread, schedule: "*/10 * * * *"}
`+strings.Replace(text, "enabled: true", "enabled: true, rules: [{name: hot, resource: cpu, above: 0.8}]", 1))))(t)
		var log strings.Builder
		warnAboutShortTTL(conf, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), slog.New(slog.NewTextHandler(&log, nil)))
		if (log.Len() > 0) != warns {
			t.Errorf("%s: %q", text, log.String())
		}
	}
}
