package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// maxBinary bounds the program, in bytes.
const maxBinary = 60 << 20

// TestKnowsTimeZonesInAnEmptyImage: an image that holds the program alone has no
// zoneinfo, and windows in Europe/Berlin must mean the same there. The program
// is asked with every place hidden in which Go looks for the data: $ZONEINFO,
// the system's directories (by an empty root, where the test may make one) and
// $GOROOT.
func TestKnowsTimeZonesInAnEmptyImage(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "evenkeel")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	if info, err := os.Stat(program); err != nil || info.Size() >= maxBinary {
		t.Errorf("the program has %d bytes (%v), want fewer than %d", info.Size(), err, maxBinary)
	}
	conf := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ntimeZone: Europe/Berlin\nstrategies: []\n"
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/evenkeel", "config", "check", "/c.yaml")
	if err := inRoot(cmd, dir); err != nil {
		t.Skipf("cannot hide the system's zone data on %s: %v", runtime.GOOS, err)
	}
	cmd.Env = []string{"ZONEINFO=/none"}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("is valid")) {
		t.Errorf("in an empty image: %v\n%s", err, out)
	}
}
