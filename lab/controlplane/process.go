package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a separate process that belongs to a cluster. It ends with this process.
type Process struct {
	argv    []string
	log     string
	cluster *Cluster
	ctx     context.Context

	mu     sync.Mutex
	child  *os.Process
	killed bool // Kill was called, so the end is expected
	ended  chan struct{}
}

// Component returns the process of a component; nil if the component runs in this process.
func (c *Cluster) Component(name string) *Process { return c.processes[name] }

// Spawn starts another process beside the components. The process ends with the cluster. If the process ends earlier,
// Failed reports the end of its output.
func (c *Cluster) Spawn(name string, argv ...string) (*Process, error) {
	err := c.startProcess(c.lifetime, name, argv)
	return c.processes[name], err
}

// startProcess starts a process. If the process ends before Stop, Failed reports an error.
func (c *Cluster) startProcess(ctx context.Context, name string, argv []string) error {
	p := &Process{argv: argv, log: c.filePath(name + "-process.log"), cluster: c, ctx: ctx}
	c.processes[name] = p
	return p.Start()
}

// Start starts the process; it can be called again after Kill.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.killed, p.ended = false, make(chan struct{})
	ended, started := p.ended, make(chan error, 1)
	p.cluster.running.Go(func() {
		defer close(ended)
		defer log.Close()
		runtime.LockOSThread() // the death signal is bound to the thread that starts the child
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		stop := context.AfterFunc(p.ctx, func() { _ = cmd.Process.Kill() })
		defer stop()
		if err := cmd.Wait(); p.ctx.Err() == nil && !p.isKilled() {
			tail, _ := os.ReadFile(p.log)
			p.cluster.failed <- fmt.Errorf("%v ended: %w\n%s", p.argv[:min(3, len(p.argv))], err, tail[max(0, len(tail)-2000):])
		}
	})
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", p.argv[0], err)
	}
	p.child = cmd.Process
	return nil
}

func (p *Process) isKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// Freeze suspends the process with SIGSTOP. The connections of a frozen process stay open, but their requests get no
// answers. Freeze returns when every thread has stopped: on a busy machine, a thread goes on for a while after the
// signal.
func (p *Process) Freeze() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	threads := fmt.Sprintf("/proc/%d/task/*/stat", p.child.Pid)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if allStopped(threads) {
			return nil
		}
	}
	return fmt.Errorf("process %d goes on after SIGSTOP", p.child.Pid)
}

// allStopped reports whether the state of each of these threads is T. The name of a thread may contain anything, and
// ends with the last parenthesis. A system without these files cannot tell.
func allStopped(threads string) bool {
	files, _ := filepath.Glob(threads)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if _, after, found := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " "); err == nil && found && after[0] != 'T' {
			return false
		}
	}
	return true
}

// Thaw resumes a frozen process.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.child.Signal(s)
}

// Kill sends SIGKILL and waits until the process has ended.
func (p *Process) Kill() error {
	p.mu.Lock()
	p.killed = true
	err, ended := p.child.Kill(), p.ended
	p.mu.Unlock()
	if err != nil {
		return err
	}
	<-ended
	return nil
}

// startComponent starts a component. A component that ends before Stop is a failure.
func (c *Cluster) startComponent(ctx context.Context, name string, args []string) {
	if c.programs != "" {
		if err := c.startProcess(ctx, name, append([]string{filepath.Join(c.programs, name)}, args...)); err != nil {
			c.failed <- err
		}
		return
	}
	c.running.Go(func() {
		err := Linked(ctx, name, args)
		if name == Etcd {
			close(c.etcdEnded)
		}
		if ctx.Err() == nil {
			c.failed <- fmt.Errorf("%s ended: %w", name, err)
		}
	})
}
