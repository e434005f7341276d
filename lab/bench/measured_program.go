package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// resourceUse is the time and memory that a program used.
type resourceUse struct {
	Seconds    float64 `json:"seconds"` // wall clock time from start to end
	CPUSeconds float64 `json:"cpuSeconds"`
	PeakBytes  int64   `json:"peakBytes"`
}

// program is a program to run and measure.
type program struct {
	path  string
	args  []string
	log   string // file for its standard error
	limit time.Duration
	// onLine is called with each line of the log as it is written. onLine may stop the program, and it may be nil.
	onLine func(c *runningProgram, line string)
}

// runningProgram is the process of a measured program, and its peak memory so far.
type runningProgram struct {
	pid  int
	stop func()
	peak atomic.Int64
}

// run runs the program and returns its standard output and its resource use.
func (c program) run(ctx context.Context) ([]byte, resourceUse, error) {
	log, err := os.Create(c.log)
	if err != nil {
		return nil, resourceUse{}, fmt.Errorf("creating the log of %s: %w", filepath.Base(c.path), err)
	}
	defer log.Close()
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	var out bytes.Buffer
	r, started := &runningProgram{stop: cancel}, make(chan struct{})
	cmd := exec.CommandContext(limited, c.path, c.args...)
	cmd.Stdout, cmd.Stderr = &out, log
	if c.onLine != nil {
		cmd.Stderr = &lineWriter{to: log, each: func(line string) { <-started; c.onLine(r, line) }}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death signal is bound to the thread that starts the child
	defer runtime.UnlockOSThread()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, resourceUse{}, fmt.Errorf("starting %s: %w", c.path, err)
	}
	r.pid = cmd.Process.Pid
	close(started)
	err = r.wait(cmd)
	u := resourceUse{Seconds: time.Since(begun).Seconds(), PeakBytes: r.peak.Load(),
		CPUSeconds: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(limited), err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; its log is %s", filepath.Base(c.path), err, filepath.Base(c.log))
	}
	return out.Bytes(), u, err
}

// wait samples the program's memory until it ends.
func (r *runningProgram) wait(cmd *exec.Cmd) error {
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() { defer close(watched); r.watchPeak(ended) }()
	defer func() { close(ended); <-watched }()
	return cmd.Wait()
}

// watchPeak samples the peak resident memory of the program. The peak that the kernel reports at the end includes the
// parent's memory, so it is too high if the parent is large.
func (r *runningProgram) watchPeak(ended <-chan struct{}) {
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		r.samplePeak()
		select {
		case <-ended:
			return
		case <-t.C:
		}
	}
}

func (r *runningProgram) samplePeak() {
	p, err := procfs.NewProc(r.pid)
	if err != nil {
		return // the program has ended
	}
	if status, err := p.NewStatus(); err == nil {
		r.peak.Store(max(r.peak.Load(), int64(status.VmHWM)))
	}
}

// cpuTime returns the CPU time that the program has used so far; 0 if the program has ended.
func (r *runningProgram) cpuTime() time.Duration {
	p, err := procfs.NewProc(r.pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// lineWriter is a writer that also calls a function for each line.
type lineWriter struct {
	to   io.Writer
	each func(line string)
	rest []byte
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			break
		}
		l.each(string(l.rest[:i]))
		l.rest = l.rest[i+1:]
	}
	return l.to.Write(p)
}

// loadAverage returns the machine's load average of the last minute.
func loadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := bytes.Cut(data, []byte(" "))
	return string(first)
}
