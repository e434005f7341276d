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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// report is what tests look at in a RunReport.
type report struct {
	Started string
	Plan    struct {
		Moves  []struct{ From, To string }
		Bound  struct{ MinEvictions int }
		Before struct {
			Nodes []struct {
				Name string
				Used map[string]float64
			}
		}
		Rejections struct{ Counts map[string]int }
	}
	Inputs []struct {
		Source   string
		Coverage float64
		Problems []string
	}
	Outcomes []struct {
		Pod               struct{ Name string }
		Outcome, Landed   string
		LandedAsPredicted *bool
	}
	Stopped *struct{ Code, Message string }
}

// buffer is written by one and read by another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// process is `evenkeel run`, leading.
type process struct {
	config, url    string
	stdout, stderr buffer
	ended          chan struct{}
}

// kubeconfig is the program's own.
func kubeconfig(t *testing.T) string {
	t.Helper()
	path, err := bed.UserKubeconfig(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs the program until the test ends.
func start(t *testing.T, ns, config string) *process {
	t.Helper()
	l, err := freeport.Listen()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := &process{config: config, url: "http://" + l.Addr().String(), ended: make(chan struct{})}
	cmd := exec.Command(testbed.Evenkeel, "run", "--config", config, "--bind-address", l.Addr().String(), "--lease-namespace", ns, "--kubeconfig", kubeconfig(t))
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("the program ended by itself: %v", err)
		}
		<-p.ended
		if t.Failed() {
			t.Logf("evenkeel run:\n%s\n%s", p.stdout.String(), p.stderr.String())
		}
	})
	return p
}

// await waits for something to become true while the program runs.
func (p *process) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	await(t, what, func() bool {
		select {
		case <-p.ended:
			t.Fatalf("the program ended by itself, before %s", what)
		default:
		}
		return is()
	})
}

// awaitMetric waits until /metrics has a line with this beginning.
func (p *process) awaitMetric(t *testing.T, line string) {
	t.Helper()
	p.await(t, "/metrics has "+line, func() bool { return strings.Contains(get(p.url+"/metrics"), "\n"+line) })
}

// get is the body of an answer; empty where there is none.
func get(url string) string {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return string(data)
}

// reports are those so far.
func (p *process) reports() (out []report) {
	for line := range strings.Lines(p.stdout.String()) {
		var r report
		if strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(line), &r) == nil {
			out = append(out, r)
		}
	}
	return out
}

// awaitReports waits until there are so many reports.
func (p *process) awaitReports(t *testing.T, n int) []report {
	t.Helper()
	p.await(t, fmt.Sprintf("there are %d reports", n), func() bool { return len(p.reports()) >= n })
	return p.reports()
}

// change replaces the configuration under the running program, as a mounted volume
// does.
func (p *process) change(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(p.config+".new", []byte(header+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.config+".new", p.config); err != nil {
		t.Fatal(err)
	}
}

// header begins every configuration: it evicts, pods of any age.
const header = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: false\nguards: {minPodAge: 0s}\n"

func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(header+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// evenkeel runs a command to its end.
func evenkeel(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

// once makes one pass.
func once(t *testing.T, ns, config string) report {
	t.Helper()
	stdout, code := evenkeel(t, "run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns)
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, report: %v", code, err)
	}
	return r
}
