package helm_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestNotes compares what helm prints after the installation, for each kind and mode, with testdata/notes.txt.
func TestNotes(t *testing.T) {
	const golden = "testdata/notes.txt"
	approve := `config.preset=[],config.strategies={"zones": {"type":"ZoneSpread","schedule":"0 * * * *","on":{"nodeAdded":"5m"},"mode":"approve"}}`
	var out strings.Builder
	for _, args := range [][]string{
		{"--set", "kind=Deployment"},
		{"--set", "kind=CronJob"},
		{"--set", "kind=Deployment,config.dryRun=false"},
		{"--set", "kind=CronJob,config.dryRun=false,config.evictor.steer=taint"},
		{"--set", "kind=CronJob,config.dryRun=false,config.evictor.steer=taint,cleanup.enabled=false"},
		{"--set", "config.dryRun=false,crds.install=false", "--set-json", approve},
		append(hintArgs("config.dryRun=false,config.load.source=metricsServer", 1), "--set-json", "config.preset=[],config.strategies={}"),
	} {
		installed, errs, err := runHelm(t, slices.Concat([]string{"install", "ek", chart, "--namespace", "ek-system", "--dry-run=client"},
			imageArgs, args)...)
		if err != nil {
			t.Fatalf("%v: %s", args, errs)
		}
		_, notes, _ := strings.Cut(installed, "NOTES:\n")
		fmt.Fprintf(&out, "== %s\n%s\n", strings.Join(args, " "), strings.TrimSpace(notes))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(golden); err != nil || out.String() != string(want) {
		t.Errorf("%s differs; run `go test . -update` to rewrite it (%v)\n%s", golden, err, out.String())
	}
}

func TestNotesSayWhetherItEvicts(t *testing.T) {
	notes := func(args ...string) string {
		out, errs, err := runHelm(t, slices.Concat([]string{"install", "ek", chart, "--namespace", "ek-system", "--dry-run=client"}, imageArgs, args)...)
		if err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		_, text, _ := strings.Cut(out, "NOTES:")
		return text
	}
	text := notes()
	if !strings.Contains(text, "DRY RUN") || !strings.Contains(text, "--set config.dryRun=false") || strings.Contains(text, "EVICTS") {
		t.Errorf("notes of a dry run: %s", text)
	}
	text = notes("--set", "config.dryRun=false")
	if !strings.Contains(text, "EVICTS") || strings.Contains(text, "DRY RUN") || strings.Contains(text, "hints clear") ||
		strings.Contains(text, "kubectl delete") || !strings.Contains(text, "`helm uninstall` also removes the state") {
		t.Errorf("notes of a live release: %s", text)
	}
	const noJob = "cleanup.enabled=false," // then people do what the job after the deletion does
	text = notes("--set", noJob+"config.dryRun=false")
	if !strings.Contains(text, "kubectl delete configmaps --namespace ek-system --selector app.kubernetes.io/managed-by=evenkeel") {
		t.Errorf("the notes of a live release do not say how to delete what uninstalling leaves: %s", text)
	}
	only := append(hintArgs(noJob+"config.dryRun=false,config.load.source=metricsServer", 1), "--set-json", "config.preset=[],config.strategies={}")
	text = notes(only...)
	if !strings.Contains(text, "HINTS NODES") || strings.Contains(text, "EVICTS") || strings.Contains(text, "DRY RUN") {
		t.Errorf("unexpected notes for a release that writes hints but does not evict: %s", text)
	}
	stop, clears := strings.Index(text, "--replicas=0"), strings.Index(text, "evenkeel hints clear")
	if gone := strings.Index(text, "helm uninstall ek"); stop < 0 || clears < stop || gone < clears {
		t.Errorf("the notes do not list the steps before uninstalling in order: %s", text)
	}
	if text := notes("--set", "config.dryRun=false", "--set-json", "config.preset=[],config.strategies={}"); !strings.Contains(text, "DOES NOTHING") {
		t.Errorf("unexpected notes for a release without strategies and hints: %s", text)
	}
	text = notes(hintArgs(noJob+"kind=CronJob,config.dryRun=false,config.load.source=metricsServer", 1)...)
	if !strings.Contains(text, "EVICTS") || !strings.Contains(text, "cronJob.suspend=true") ||
		!strings.Contains(text, "evenkeel hints clear") {
		t.Errorf("notes of jobs that hint: %s", text)
	}
}
