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

// The kernel counts CPU time in hundredths of a second (USER_HZ) on every architecture that Go supports.
const cpuTick = 10 * time.Millisecond

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

// runningProgram is a running program.
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
		err = fmt.Errorf("%s: %w; its log is %s", filepath.Base(c.path), err, c.log)
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
	t := time.NewTicker(2 * cpuTick)
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
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.pid))
	if err != nil {
		return // the program has ended
	}
	if kib := parsePeakKiB(string(data)); kib > 0 {
		r.peak.Store(max(r.peak.Load(), kib<<10))
	}
}

// parsePeakKiB returns VmHWM in KiB from the text of /proc/PID/status; 0 if it is missing.
func parsePeakKiB(status string) int64 {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// cpuTime returns the CPU time that the program has used so far.
func (r *runningProgram) cpuTime() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.pid))
	if err != nil {
		return 0
	}
	return parseCPUTime(string(data))
}

// parseCPUTime returns the user and system time from the text of /proc/PID/stat. The second field is the program's name in
// parentheses, which can contain any character.
func parseCPUTime(stat string) time.Duration {
	_, rest, _ := strings.Cut(stat[max(0, strings.LastIndexByte(stat, ')')):], " ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * cpuTick
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
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
