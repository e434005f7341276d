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
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The kernel counts CPU time in hundredths of a second (USER_HZ) on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// used is what a program took.
type used struct {
	Seconds    float64 `json:"seconds"` // from its start to its end
	CPUSeconds float64 `json:"cpuSeconds"`
	PeakBytes  int64   `json:"peakBytes"`
}

// child is a program to run and measure.
type child struct {
	path  string
	args  []string
	log   string // where its standard error goes
	limit time.Duration
	// onLine sees each line of the log as it is written; may be nil. It may end
	// the program.
	onLine func(c *running, line string)
}

// running is a program at work.
type running struct {
	pid  int
	stop func()
	peak atomic.Int64
}

// run returns what the program printed and took.
func (c child) run(ctx context.Context) ([]byte, used, error) {
	log, err := os.Create(c.log)
	if err != nil {
		return nil, used{}, fmt.Errorf("making the log of %s: %w", filepath.Base(c.path), err)
	}
	defer log.Close()
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	var out bytes.Buffer
	r, started := &running{stop: cancel}, make(chan struct{})
	cmd := exec.CommandContext(limited, c.path, c.args...)
	cmd.Stdout, cmd.Stderr = &out, log
	if c.onLine != nil {
		cmd.Stderr = &lines{to: log, each: func(line string) { <-started; c.onLine(r, line) }}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death signal is tied to the thread that starts the child
	defer runtime.UnlockOSThread()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, used{}, fmt.Errorf("starting %s: %w", c.path, err)
	}
	r.pid = cmd.Process.Pid
	close(started)
	err = r.wait(cmd)
	u := used{Seconds: time.Since(begun).Seconds(), PeakBytes: r.peak.Load(),
		CPUSeconds: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("%w (%w)", context.Cause(limited), err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; its log is %s", filepath.Base(c.path), err, c.log)
	}
	return out.Bytes(), u, err
}

// wait watches the program until it ends.
func (r *running) wait(cmd *exec.Cmd) error {
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() { defer close(watched); r.watch(ended) }()
	defer func() { close(ended); <-watched }()
	return cmd.Wait()
}

// watch reads the peak of the resident memory again and again. The one that the
// kernel reports at the end would do only for a small parent: it starts with the
// parent's own.
func (r *running) watch(ended <-chan struct{}) {
	t := time.NewTicker(2 * tick)
	defer t.Stop()
	for {
		r.look()
		select {
		case <-ended:
			return
		case <-t.C:
		}
	}
}

func (r *running) look() {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.pid))
	if err != nil {
		return // it has ended
	}
	if kib := peakOf(string(data)); kib > 0 {
		r.peak.Store(max(r.peak.Load(), kib<<10))
	}
}

// peakOf reads VmHWM (KiB) of /proc/PID/status; 0 when it is not there.
func peakOf(status string) int64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// cpu is the time the program has used so far.
func (r *running) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.pid))
	if err != nil {
		return 0
	}
	return cpuOf(string(data))
}

// cpuOf adds user and system time of /proc/PID/stat. The second field is the
// program's name in parentheses, which may hold anything.
func cpuOf(stat string) time.Duration {
	_, rest, _ := strings.Cut(stat[max(0, strings.LastIndexByte(stat, ')')):], " ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// lines hands on what is written, and each line of it.
type lines struct {
	to   io.Writer
	each func(line string)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
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
