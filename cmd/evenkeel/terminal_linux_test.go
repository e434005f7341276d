package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/pty"
)

// onTerminal runs the program with a terminal of 80 columns as standard output and as standard error, and returns what
// the terminal receives.
func onTerminal(t *testing.T, timeout time.Duration, args ...string) string {
	t.Helper()
	user, tty := pty.Open(t, 80)
	received := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, user) // ends with an error when the terminal is closed
		received <- b.String()
	}()
	(&globalFlags{syncTimeout: timeout}).run(args, strings.NewReader(""), tty, tty)
	must.Succeed(t, tty.Close())
	return strings.ReplaceAll(<-received, "\r\n", "\n")
}

// TestTablesOnATerminal checks that a table has colors and fits the terminal, and that NO_COLOR and other formats have
// no colors.
func TestTablesOnATerminal(t *testing.T) {
	isolateFromCluster(t)
	dir := (&badInput{}).prepare(t)
	plan := []string{"plan", "-f", dir + "/three-zones.yaml"}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	colored := onTerminal(t, connectTimeout, plan...)
	if !strings.HasPrefix(colored, "\x1b[1;32m▲ Deployment") {
		t.Errorf("the terminal receives %.100q, want colors", colored)
	}
	t.Setenv("NO_COLOR", "1")
	plain := onTerminal(t, connectTimeout, plan...)
	if strings.Contains(plain, "\x1b") || !strings.HasPrefix(plain, "▲ Deployment") {
		t.Errorf("with NO_COLOR the terminal receives %.100q", plain)
	}
	for line := range strings.Lines(plain) {
		if len(line) > 81 {
			t.Errorf("a line of %d characters on a terminal of 80 columns: %s", len(line)-1, line)
		}
	}
	t.Setenv("NO_COLOR", "")
	if got := onTerminal(t, connectTimeout, append(plan, "-o", "json")...); strings.Contains(got, "\x1b") || !strings.HasPrefix(got, "{\n") {
		t.Errorf("with -o json the terminal receives %.100q", got)
	}
}

// TestProgressOnATerminal checks that the program says what it waits for, unless the log does, and that the line is
// gone before the error.
func TestProgressOnATerminal(t *testing.T) {
	isolateFromCluster(t)
	r := badInput{server: &serverFault{paths: map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}}}
	dir := r.prepare(t)
	r.serve(t, dir)
	plan := []string{"plan", "--kubeconfig", dir + "/kubeconfig.yaml"}
	got := onTerminal(t, 4*time.Second, plan...)
	line, rest, _ := strings.Cut(got, "evenkeel: ")
	if !strings.HasPrefix(line, "\rlooking for the release of Evenkeel (2s)") || !strings.Contains(line, "\rreading the cluster at http://") || !strings.HasSuffix(line, " \r") || !strings.HasPrefix(rest, "reading the cluster at ") {
		t.Errorf("the terminal receives %q", got)
	}
	if got := onTerminal(t, 4*time.Second, append(plan, "--log-format", "json")...); strings.Contains(got, "\r") {
		t.Errorf("with a log in JSON the terminal receives %q", got)
	}
	null := must.Get(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer null.Close()
	var stderr bytes.Buffer
	(&globalFlags{syncTimeout: 4 * time.Second}).run(plan, strings.NewReader(""), null, &stderr)
	if strings.Contains(stderr.String(), "\r") || !strings.HasPrefix(stderr.String(), "evenkeel: ") {
		t.Errorf("without a terminal, standard error is %q", stderr.String())
	}
}
