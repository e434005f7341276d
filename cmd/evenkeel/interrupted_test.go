package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestASignalEndsReading: a command that only shows something ends at once when it is told to stop, even while it
// reads.
func TestASignalEndsReading(t *testing.T) {
	c := exec.Command(os.Args[0], "plan", "-f", "-")
	c.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, c.Start())
	defer func() { _ = c.Process.Kill() }()
	if _, err := in.Write(bytes.Repeat([]byte("# a snapshot that never ends\n"), 10_000)); err != nil { // more than a pipe holds
		t.Fatal(err)
	}
	told := time.Now()
	must.Succeed(t, c.Process.Signal(syscall.SIGTERM))
	err = c.Wait()
	if took := time.Since(told); err == nil || took > 5*time.Second || !strings.Contains(stderr.String(), "interrupted while reading standard input") {
		t.Errorf("%v after %s: %s", err, took, stderr.String())
	}
}
