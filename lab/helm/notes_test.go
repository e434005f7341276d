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
	var out strings.Builder
	for _, args := range [][]string{
		{"--set", "kind=Deployment"},
		{"--set", "kind=CronJob"},
		{"--set", "kind=Deployment,config.dryRun=false"},
		{"--set", "kind=CronJob,config.dryRun=false,config.evictor.steer=taint"},
		{"--set", "kind=CronJob,config.dryRun=false,config.evictor.steer=taint,cleanup.enabled=false"},
		{"--set", "config.dryRun=false,crds.install=false,config.strategies.zones.mode=approve"},
		{"--set", "config.dryRun=false,config.preset="},
		{"--set", "config.dryRun=false,config.preset=zones,config.strategies.zones.mode=dryRun,config.strategies.spread-constraints.mode=dryRun"},
		{"--set", "existingConfigMap=own,rbac.evict=false,rbac.nodeWrites=false"},
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
