package drills

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

// process is one run of evenkeel with its own user and proxy.
type process struct {
	user    string
	proxy   *proxy.Proxy
	cmd     *exec.Cmd
	log     string // path of the standard error
	ended   chan struct{}
	endedAt time.Time // valid after ended is closed
	err     error
	mu      sync.Mutex
	killed  bool
}

// processOptions configure how a process is started.
type processOptions struct {
	args   []string
	env    []string // added to this process's environment
	faults proxy.Faults
	http2  bool
	hook   func(p *process, c proxy.Class, n int, m proxy.Moment)
	token  string // of a ServiceAccount; empty: the next unused user
	user   string // the user that the token belongs to
	config string // path; empty: the drill's configuration
}

func (p *process) run(file, program string, env, args []string) error {
	p.log = file + ".log"
	log, err := os.Create(p.log)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = log
	p.mu.Lock() // a hook may want to kill the process before it has started
	defer p.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("starting evenkeel: %w", err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.endedAt = time.Now()
		p.proxy.Close()
		close(p.ended)
	}()
	return nil
}

// kill sends SIGKILL. kill returns true if the process was running.
func (p *process) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed || p.cmd.Process.Signal(syscall.SIGKILL) != nil {
		return false
	}
	p.killed = true
	return true
}

// wait waits for the process to end and kills it after the limit. wait returns false if it had to kill the process.
func (p *process) wait(ctx context.Context, limit time.Duration) bool {
	if p.waitWithoutKill(ctx, limit) {
		return true
	}
	p.kill()
	<-p.ended
	return ctx.Err() != nil
}

// waitWithoutKill waits until the process ends, and returns false after the limit.
func (p *process) waitWithoutKill(ctx context.Context, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.ended:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// wasKilled reports whether SIGKILL ended the process.
func (p *process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	st, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return p.killed && ok && st.Signaled()
}

// readOutput returns the reports of an ended process, and the violations that its output and exit code show.
func (p *process) readOutput() ([]auditverifier.Report, []auditverifier.Violation) {
	var wrong []auditverifier.Violation
	bad := func(format string, args ...any) {
		wrong = append(wrong, auditverifier.Violation{Kind: auditverifier.ProcessFailure, At: time.Now(), User: p.user,
			What: fmt.Sprintf(format, args...)})
	}
	log := p.stderr()
	reports, whole, err := auditverifier.ReadReports(p.user, log)
	if at := max(strings.Index(log, "\npanic:"), strings.Index(log, "\nfatal error:")); at >= 0 {
		bad("the process crashed: %s", log[at:min(len(log), at+600)])
		return reports, wrong
	}
	switch {
	case err != nil:
		bad("the log is not JSON: %v", err)
	case !whole && !p.wasKilled():
		bad("the log ends in the middle of a line")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 && code != 1 && !p.wasKilled() {
		bad("the process exited with %d: %s", code, lastBytes(log, 300))
	}
	return reports, wrong
}

func (p *process) stderr() string {
	b, _ := os.ReadFile(p.log)
	return string(b)
}

// lastLine returns the last line of standard error.
func (p *process) lastLine() string {
	lines := strings.Split(strings.TrimSpace(p.stderr()), "\n")
	return lastBytes(lines[len(lines)-1], 300)
}

func lastBytes(s string, n int) string { return s[max(0, len(s)-n):] }
