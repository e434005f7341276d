package drills

import (
	"context"
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

// stopFor is the time for which a component is stopped; shortStop applies to short drills.
const (
	stopFor   = 30 * time.Second
	shortStop = 5 * time.Second
)

// repeatFailure unbalances the workload and calls attempt, until the failure has occurred in all
// repetitions or too many attempts missed it. Finally, repeat runs a pass without faults.
func (s *drillRun) repeatFailure(ctx context.Context, attempt func(try int) error) error {
	s.minEvictions = s.reps
	for try := 0; s.completed < s.reps && try < 3*s.reps; try++ {
		if err := s.workload.unbalance(ctx, s.random); err != nil {
			return err
		}
		if err := attempt(try); err != nil {
			return err
		}
	}
	return s.runCleanPass(ctx)
}

// runInterrupted runs a pass and calls f at its n-th request to evict. runInterrupted returns nil if the pass sends
// fewer requests.
func (s *drillRun) runInterrupted(ctx context.Context, h processOptions, n int, f func()) (*process, error) {
	hook, fired := onEviction(n, proxy.Arrived, func(*process) { f() })
	h.args, h.hook = singlePassArgs(time.Minute), hook
	p, err := s.startProcess(h)
	if err != nil {
		return nil, err
	}
	s.waitForPass(ctx, p)
	if !fired.Load() {
		s.logProgress("no eviction: %s", s.exitSummary(p))
		return nil, nil
	}
	s.completed++
	return p, nil
}

// stopComponent returns a drill that stops one component while a pass evicts pods. Alternately, the drill freezes and
// thaws the component, or kills and restarts it.
func stopComponent(name string) func(context.Context, *drillRun) error {
	return func(ctx context.Context, s *drillRun) error {
		s.rules.Slack += 2 * time.Second
		if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
			return err
		}
		return s.repeatFailure(ctx, func(int) error { return s.stopComponentOnce(ctx, name) })
	}
}

func (s *drillRun) stopComponentOnce(ctx context.Context, name string) error {
	comp, err := s.component(name)
	if err != nil {
		return err
	}
	long := stopFor
	if s.options.Short {
		long = shortStop
	}
	stop, start := comp.Freeze, comp.Thaw
	if s.completed%2 == 1 {
		stop, start = comp.Kill, comp.Start
	}
	back := make(chan error, 1)
	p, err := s.runInterrupted(ctx, processOptions{}, 1+s.random.IntN(4), func() {
		if err := stop(); err != nil {
			back <- err
			return
		}
		go func() {
			sleep(ctx, long)
			back <- start()
		}()
	})
	if p == nil {
		return err
	}
	if err := <-back; err != nil {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	s.logProgress("%s was stopped for %s; %s", name, long, s.exitSummary(p))
	if err := s.waitUntilReady(ctx, time.Minute); err != nil {
		return err
	}
	if err := s.workload.waitUntilStable(ctx, stableTimeout); err != nil {
		s.addViolation(auditverifier.ProcessFailure, "", "after %s was stopped: %v", name, err)
	}
	return s.checkComponents()
}

// components lists the components that drills stop.
var components = []string{controlplane.Etcd, controlplane.Scheduler, controlplane.ControllerManager}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
