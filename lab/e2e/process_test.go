package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

var syscallTerm os.Signal = syscall.SIGTERM

// freePort returns an address on which no process listens.
func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(freeport.Listen())(t)
	defer l.Close()
	return l.Addr().String()
}

// TestSavedInputReplaysToTheSameBytes plans on the live cluster, and then on the input that the first plan saved.
func TestSavedInputReplaysToTheSameBytes(t *testing.T) {
	seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	config := testbed.ConfigFile(t, zonesConfig)
	saved := filepath.Join(t.TempDir(), "input.json")
	live := runEvenkeel(t, "plan", "--config", config, "-o", "json", "--save-input", saved)
	again := runEvenkeel(t, "plan", "--config", config, "-o", "json", "-f", saved)
	// A snapshot belongs to no release.
	if want := regexp.MustCompile(`,\n    "namespace": "[a-z0-9-]+"`).ReplaceAllString(live.stdout, ""); live.code != 0 || want != again.stdout {
		t.Errorf("exit %d; the replayed plan differs:\n%s\n%s", live.code, live.stdout, again.stdout)
	}
}

// TestRedactedCaptureGivesTheSameMoves checks that planning on a redacted snapshot still finds moves.
func TestRedactedCaptureGivesTheSameMoves(t *testing.T) {
	seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	file := filepath.Join(t.TempDir(), "capture.yaml")
	if r := runEvenkeel(t, "capture", "--redact", "-o", file); r.code != 0 {
		t.Fatalf("exit %d", r.code)
	}
	r := runEvenkeel(t, "plan", "-f", file, "--config", testbed.ConfigFile(t, zonesConfig), "--detailed-exitcode")
	if r.code != 2 {
		t.Errorf("exit %d, want 2 because moves are planned", r.code)
	}
}
