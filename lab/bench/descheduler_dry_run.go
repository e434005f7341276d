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

	"github.com/evenkeel-project/evenkeel/lab/freeport"
)

// deschedulerLog parses the descheduler's log (with -v=3). A loop begins with "Resetting pod
// evictor counters". In a dry run, "Restoring evicted pods from cache" follows the strategies.
// "Number of evictions/requests" ends the loop.
type deschedulerLog struct {
	all []deschedulerLoop
	cpu func() time.Duration
}

type deschedulerLoop struct {
	begun, planned, ended time.Time
	cpuBegun, cpuEnded    time.Duration
	evictions             int
	byStrategy            map[string]int
}

var (
	strategyOf = regexp.MustCompile(` strategy="([^"]*)"`)
	evictedIn  = regexp.MustCompile(` totalEvicted=(\d+)`)
)

// parseLine parses one line of the log.
func (l *deschedulerLog) parseLine(text string) {
	at, what, ok := parseKlogLine(text)
	if !ok {
		return
	}
	if strings.HasPrefix(what, "Resetting pod evictor counters") {
		l.all = append(l.all, deschedulerLoop{begun: at, cpuBegun: l.cpu(), byStrategy: map[string]int{}})
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

// parseKlogLine splits a line of klog into its time and its message. The header is "Lmmdd hh:mm:ss.uuuuuu threadid
// file:line] " in local time.
func parseKlogLine(text string) (time.Time, string, bool) {
	head, what, ok := strings.Cut(text, "] ")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 || len(fields[0]) != 5 {
		return time.Time{}, "", false
	}
	// klog omits the year, but the benchmark uses only time differences.
	at, err := time.Parse("0102 15:04:05.000000", fields[0][1:]+" "+fields[1])
	return at, what, err == nil
}

// measuredLoop is the number of the measured loop, starting at 1. During the first loop, the descheduler is still
// filling its cache.
const measuredLoop = 2

// measureDeschedulerDryRun runs the descheduler until the measured loop has ended.
func measureDeschedulerDryRun(ctx context.Context, s comparison, measurement *Measurement, policy, kube string) error {
	// The interval is long enough to fill the cache before the second loop.
	interval := max(10*time.Second, time.Duration(s.nodes)*12*time.Millisecond)
	l := &deschedulerLog{}
	var peak int64
	args, err := s.peerArgs(policy, kube, "-v", "3", "--dry-run", "--descheduling-interval", interval.String())
	if err != nil {
		return err
	}
	_, u, err := program{path: s.peer, args: args,
		log: filepath.Join(s.work, measurement.Program+".log"), limit: s.limit,
		onLine: func(r *runningProgram, line string) {
			l.cpu = r.cpuTime
			l.parseLine(line)
			if n := len(l.all); n == measuredLoop && !l.all[n-1].ended.IsZero() && peak == 0 {
				r.samplePeak()
				peak = r.peak.Load()
				r.stop()
			}
		}}.run(ctx)
	measurement.resourceUse = u
	if len(l.all) < measuredLoop || l.all[measuredLoop-1].ended.IsZero() {
		return errors.Join(fmt.Errorf("the descheduler did not finish loop %d", measuredLoop), err)
	}
	counted := l.all[measuredLoop-1]
	for _, one := range l.all[:measuredLoop] {
		measurement.Loops = append(measurement.Loops, one.evictions)
	}
	first := l.all[0]
	measurement.PeakBytes, measurement.CPUSeconds = peak, (counted.cpuEnded - (first.cpuEnded - first.cpuBegun)).Seconds()
	measurement.CycleSeconds = counted.ended.Sub(counted.begun).Seconds()
	measurement.CycleCPUSeconds = (counted.cpuEnded - counted.cpuBegun).Seconds()
	measurement.PlannerSeconds = counted.planned.Sub(counted.begun).Seconds()
	measurement.Evictions, measurement.ByStrategy = counted.evictions, counted.byStrategy
	return nil
}

// peerArgs returns the descheduler's flags and the given further flags.
func (s settings) peerArgs(policy, kube string, more ...string) ([]string, error) {
	port, err := freeport.Get()
	return append([]string{"--kubeconfig", kube, "--policy-config-file", policy,
		"--client-connection-qps", "1000", "--client-connection-burst", "1000",
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(port), "--cert-dir", filepath.Join(s.work, "peer-certs")},
		more...), err
}
