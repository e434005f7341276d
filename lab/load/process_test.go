package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// process is a running `evenkeel run` process that holds the Lease.
type process struct {
	config, url string
	log         testbed.Buffer
	ended       chan struct{}
}

// kubeconfig writes the program's kubeconfig and returns its path.
func kubeconfig(t *testing.T) string {
	t.Helper()
	path := must.Get(stack.UserKubeconfig(programUser))(t)
	return path
}

// startProgram runs the program until the test ends.
func startProgram(t *testing.T, ns, config string) *process {
	t.Helper()
	l := must.Get(freeport.Listen())(t)
	l.Close()
	p := &process{config: config, url: "http://" + l.Addr().String(), ended: make(chan struct{})}
	cmd := exec.Command(testbed.Evenkeel, append([]string{"run", "--config", config, "--bind-address", l.Addr().String(),
		"--lease-namespace", ns, "--kubeconfig", kubeconfig(t)}, testbed.ReportFlags...)...)
	cmd.Stderr = &p.log
	must.Succeed(t, cmd.Start())
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("the program ended before the test: %v", err)
		}
		<-p.ended
		if t.Failed() {
			t.Logf("evenkeel run:\n%s", p.log.String())
		}
	})
	return p
}

// waitUntil waits until the condition is true, and fails if the program ends first.
func (p *process) waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	waitUntil(t, what, func() bool {
		select {
		case <-p.ended:
			t.Fatalf("the program ended before the condition was met: %s", what)
		default:
		}
		return is()
	})
}

// waitForMetric waits until /metrics has a line with the given prefix.
func (p *process) waitForMetric(t *testing.T, line string) {
	t.Helper()
	p.waitUntil(t, "/metrics has "+line, func() bool { return strings.Contains(httpGet(p.url+"/metrics"), "\n"+line) })
}

// httpGet returns the body of a successful response; otherwise an empty string.
func httpGet(url string) string {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return string(data)
}

// reports returns all reports that the program has written.
func (p *process) reports() []testbed.Report { return testbed.Reports(p.log.String()) }

// waitForReports waits for at least n reports.
func (p *process) waitForReports(t *testing.T, n int) []testbed.Report {
	t.Helper()
	p.waitUntil(t, fmt.Sprintf("there are %d reports", n), func() bool { return len(p.reports()) >= n })
	return p.reports()
}

// replaceConfig replaces the configuration of the running program atomically, like a mounted volume.
func (p *process) replaceConfig(t *testing.T, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(p.config+".new", []byte(configHeader+text), 0o600))
	must.Succeed(t, os.Rename(p.config+".new", p.config))
}

// configHeader is the start of every configuration that evicts, which allows evictions of pods of any age.
const configHeader = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: false\nguards: {minPodAge: 0s}\n"

// configFile writes a configuration that evicts: configHeader and text.
func configFile(t *testing.T, text string) string {
	t.Helper()
	return writeConfig(t, configHeader+text)
}

// writeConfig writes a whole configuration to a file and returns its path.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// runEvenkeel runs a command of the program and waits until it ends.
func runEvenkeel(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, append(args, "--kubeconfig", kubeconfig(t))...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("evenkeel %s: exit %d\n%s\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String(), errs.String())
		}
	})
	return out.String(), cmd.ProcessState.ExitCode()
}

// runSinglePass makes one pass and returns its report.
func runSinglePass(t *testing.T, ns, config string) testbed.Report {
	t.Helper()
	stdout, code := runEvenkeel(t, "run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns)
	var r testbed.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, report: %v", code, err)
	}
	return r
}
