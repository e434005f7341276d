package drills

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

// killPoint defines when a process is killed. A kill point is either the n-th request of a class, on its arrival or
// before its answer, or a time after the start.
type killPoint struct {
	class   proxy.Class
	request int
	moment  proxy.Moment
	delay   time.Duration
}

// randomKillPoint draws a kill point. Half of the kill points are at evictions, where a killed process can lose a
// count.
func (s *drillRun) randomKillPoint() killPoint {
	pt := killPoint{request: 1 + s.random.IntN(8), moment: proxy.Arrived, delay: time.Duration(s.random.IntN(40)) * time.Millisecond}
	if s.random.IntN(2) == 0 {
		pt.moment = proxy.Answered
	}
	if s.random.IntN(2) == 0 {
		pt.delay = 0
	}
	switch x := s.random.IntN(10); {
	case x < 5:
		pt.class = proxy.Eviction
	case x < 7:
		pt.class = proxy.State
	case x < 8:
		pt.class, pt.request = proxy.Lease, 2+s.random.IntN(4)
	default:
		pt.class, pt.delay = "", time.Duration(500+s.random.IntN(6000))*time.Millisecond
	}
	return pt
}

// killAtPoint makes the proxy's hook kill the process at the kill point.
func (s *drillRun) killAtPoint(h *processOptions, pt killPoint) {
	if pt.class == "" {
		return
	}
	h.hook = func(p *process, c proxy.Class, n int, m proxy.Moment) {
		if c != pt.class || n != pt.request || m != pt.moment {
			return
		}
		if pt.delay == 0 {
			p.kill()
			return
		}
		time.AfterFunc(pt.delay, func() { p.kill() })
	}
}

// killPasses kills passes at random points. After each kill, the next process starts at once.
func killPasses(ctx context.Context, s *drillRun) error {
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	s.minEvictions = s.reps / 2
	for try := 0; s.completed < s.reps && try < 4*s.reps; try++ {
		if err := s.workload.unbalance(ctx, s.random); err != nil {
			return err
		}
		if err := s.killPass(ctx); err != nil {
			return err
		}
	}
	return s.runStableCleanPass(ctx)
}

func (s *drillRun) killPass(ctx context.Context) error {
	pt := s.randomKillPoint()
	h := processOptions{args: singlePassArgs(time.Minute), http2: s.random.IntN(2) == 0}
	s.killAtPoint(&h, pt)
	p, err := s.startProcess(h)
	if err != nil {
		return err
	}
	if pt.class == "" {
		// The process first waits until the Lease of the killed process expires, so the delay starts at that time. The
		// delay counts from then.
		t := time.AfterFunc(s.remainingLease()+pt.delay, func() { p.kill() })
		defer t.Stop()
	}
	s.waitForPass(ctx, p)
	if p.wasKilled() {
		s.completed++
		s.logProgress("killed at %s %d %s +%s", pt.class, pt.request, pt.moment, pt.delay)
	}
	return nil
}

// remainingLease returns how long the Lease of a killed process may still be valid. The result assumes that the process
// renewed the Lease just before it was killed.
func (s *drillRun) remainingLease() time.Duration {
	if len(s.processes) < 2 {
		return 0
	}
	p := s.processes[len(s.processes)-2]
	if !p.wasKilled() {
		return 0
	}
	return max(0, 15*time.Second-time.Since(p.endedAt))
}

// hourLimit is the number of pods that all processes together may evict per hour. The first processes are killed while
// they evict, so the count must survive a kill.
const hourLimit = 9

func checkHourLimitAcrossKills(ctx context.Context, s *drillRun) error {
	s.rules.HourCluster, s.rules.HourNamespace = hourLimit, hourLimit
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	s.minEvictions = hourLimit / 2
	for i := range s.reps {
		if err := s.workload.unbalance(ctx, s.random); err != nil {
			return err
		}
		h := processOptions{args: singlePassArgs(time.Minute)}
		if i < s.reps/2 {
			h.hook, _ = onEviction(1+s.random.IntN(3), proxy.Answered, func(p *process) { p.kill() })
		}
		p, err := s.startProcess(h)
		if err != nil {
			return err
		}
		s.waitForPass(ctx, p)
		s.completed++
		s.logProgress("%s", s.exitSummary(p))
	}
	return s.runCleanPass(ctx)
}

// maxDelay is the longest time for which the proxy delays a request. A watch that the proxy silences ends within
// maxDelay, too.
const maxDelay = 3 * time.Second

// runFaultyPasses sends each pass through a proxy that disturbs 1 to 30 % of its requests.
func runFaultyPasses(ctx context.Context, s *drillRun) error {
	s.rules.Slack += maxDelay
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	s.minEvictions = s.reps / 2
	for i := range s.reps {
		if err := s.workload.unbalance(ctx, s.random); err != nil {
			return err
		}
		f := proxy.Faults{Rate: 0.01 + 0.29*s.random.Float64(), MaxDelay: maxDelay, StaleFor: time.Minute}
		p, err := s.startProcess(processOptions{args: singlePassArgs(time.Minute), faults: f, http2: i%2 == 0})
		if err != nil {
			return err
		}
		s.waitForPass(ctx, p)
		s.completed++
		s.logProgress("%.0f%% faults, %s", 100*f.Rate, s.exitSummary(p))
	}
	return s.runStableCleanPass(ctx)
}

// exitSummary describes in a few words how a process ended.
func (s *drillRun) exitSummary(p *process) string {
	if p.wasKilled() {
		return "killed"
	}
	if p.cmd.ProcessState.ExitCode() == 0 {
		return "exit 0"
	}
	return "exit 1: " + p.lastLine()
}

// onEviction returns a hook that calls f once, at the n-th eviction request, and a flag that is true after the call.
func onEviction(n int, at proxy.Moment, f func(*process)) (func(*process, proxy.Class, int, proxy.Moment), *atomic.Bool) {
	fired := &atomic.Bool{}
	return func(p *process, c proxy.Class, k int, m proxy.Moment) {
		if c == proxy.Eviction && k >= n && m == at && fired.CompareAndSwap(false, true) {
			f(p)
		}
	}, fired
}
