package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// loops follows the peer's log. A loop begins with "Resetting pod evictor
// counters"; when the strategies have run, a dry one says "Restoring evicted pods
// from cache"; the end is "Number of evictions/requests". (With -v=3.)
type loops struct {
	all []loop
	cpu func() time.Duration
}

type loop struct {
	begun, planned, ended time.Time
	cpuBegun, cpuEnded    time.Duration
	evictions             int
	byStrategy            map[string]int
}

var (
	strategyOf = regexp.MustCompile(` strategy="([^"]*)"`)
	evictedIn  = regexp.MustCompile(` totalEvicted=(\d+)`)
)

// line takes one line of the log.
func (l *loops) line(text string) {
	at, what, ok := logLine(text)
	if !ok {
		return
	}
	if strings.HasPrefix(what, "Resetting pod evictor counters") {
		l.all = append(l.all, loop{begun: at, cpuBegun: l.cpu(), byStrategy: map[string]int{}})
	}
	if len(l.all) == 0 {
		return
	}
	now := &l.all[len(l.all)-1]
	switch {
	case strings.HasPrefix(what, `"Evicted pod`):
		if m := strategyOf.FindStringSubmatch(what); m != nil {
			now.byStrategy[m[1]]++
		}
	case strings.HasPrefix(what, "Restoring evicted pods"):
		now.planned = at
	case strings.HasPrefix(what, `"Number of evictions/requests"`):
		now.ended, now.cpuEnded = at, l.cpu()
		if m := evictedIn.FindStringSubmatch(what); m != nil {
			now.evictions, _ = strconv.Atoi(m[1])
		}
	}
}

// logLine takes the header off a line of klog, which is
// "Lmmdd hh:mm:ss.uuuuuu threadid file:line] message" in local time.
func logLine(text string) (time.Time, string, bool) {
	head, what, ok := strings.Cut(text, "] ")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 || len(fields[0]) != 5 {
		return time.Time{}, "", false
	}
	// Without its year: only differences are taken.
	at, err := time.Parse("0102 15:04:05.000000", fields[0][1:]+" "+fields[1])
	return at, what, err == nil
}

// countedLoop is the first that is valid: in the one before, the peer's copy of
// the cluster is still being filled.
const countedLoop = 2

// peerDry lets the peer go round until the loop that counts has ended.
func peerDry(ctx context.Context, s comparison, cell *Cell, policy, kube string) error {
	args, err := s.peerArgs(policy, kube)
	if err != nil {
		return err
	}
	// The copy is complete long before a second loop that begins so late.
	interval := max(10*time.Second, time.Duration(s.nodes)*12*time.Millisecond)
	l := &loops{}
	var peak int64
	_, u, err := child{path: s.peer, args: append(args, "--dry-run", "--descheduling-interval", interval.String()),
		log: filepath.Join(s.work, cell.Program+".log"), limit: s.limit,
		onLine: func(r *running, line string) {
			l.cpu = r.cpu
			l.line(line)
			if n := len(l.all); n == countedLoop && !l.all[n-1].ended.IsZero() && peak == 0 {
				r.look()
				peak = r.peak.Load()
				r.stop()
			}
		}}.run(ctx)
	cell.used = u
	if len(l.all) < countedLoop || l.all[countedLoop-1].ended.IsZero() {
		return errors.Join(fmt.Errorf("the peer has not ended its loop %d", countedLoop), err)
	}
	counted := l.all[countedLoop-1]
	for _, one := range l.all[:countedLoop] {
		cell.Loops = append(cell.Loops, one.evictions)
	}
	first := l.all[0]
	cell.PeakBytes, cell.CPUSeconds = peak, (counted.cpuEnded - (first.cpuEnded - first.cpuBegun)).Seconds()
	cell.CycleSeconds, cell.CycleCPUSeconds = counted.ended.Sub(counted.begun).Seconds(), (counted.cpuEnded - counted.cpuBegun).Seconds()
	cell.PlannerSeconds = counted.planned.Sub(counted.begun).Seconds()
	cell.Evictions, cell.ByStrategy = counted.evictions, counted.byStrategy
	return nil
}

// peerArgs are the peer's flags but those that say how often it goes round.
func (s comparison) peerArgs(policy, kube string) ([]string, error) {
	port, err := freePort()
	return []string{"--kubeconfig", kube, "--policy-config-file", policy, "-v", "3",
		"--client-connection-qps", "1000", "--client-connection-burst", "1000",
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(port), "--cert-dir", filepath.Join(s.work, "peer-certs")}, err
}
