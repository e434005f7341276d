package drills

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// stopFor is how long a component is stopped; shortStop is the value in the short form.
const (
	stopFor   = 30 * time.Second
	shortStop = 5 * time.Second
)

// onEviction returns a hook that calls f once, at the n-th request to evict.
func onEviction(n int, f func()) (func(*process, proxy.Class, int, proxy.Moment), *atomic.Bool) {
	fired := &atomic.Bool{}
	return func(_ *process, c proxy.Class, k int, m proxy.Moment) {
		if c == proxy.Eviction && k >= n && m == proxy.Arrived && fired.CompareAndSwap(false, true) {
			f()
		}
	}, fired
}

// repeat unbalances the workload and calls attempt until all repetitions have taken place or too many attempts failed
// to trigger the fault. Then it runs a clean pass.
func (s *stage) again(ctx context.Context, attempt func(try int) error) error {
	s.enough = s.reps
	for try := 0; s.did < s.reps && try < 3*s.reps; try++ {
		if err := s.town.unbalance(ctx, s.rnd); err != nil {
			return err
		}
		if err := attempt(try); err != nil {
			return err
		}
	}
	return s.clean(ctx)
}

// runInterrupted runs a pass and calls f at its n-th request to evict. It returns nil if the pass sends fewer
// requests.
func (s *stage) interrupted(ctx context.Context, h how, n int, f func()) (*process, error) {
	hook, fired := onEviction(n, f)
	h.args, h.hook = once(time.Minute), hook
	p, err := s.start(h)
	if err != nil {
		return nil, err
	}
	s.finish(ctx, p)
	if !fired.Load() {
		s.progress("no eviction: %s", s.ending(p))
		return nil, nil
	}
	s.did++
	return p, nil
}

// stopComponent returns a drill that stops one component in the middle of a wave. It freezes the component in one
// repetition, and kills and restarts it in the next.
func stopped(name string) func(context.Context, *stage) error {
	return func(ctx context.Context, s *stage) error {
		s.rules.Slack += 2 * time.Second
		if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
			return err
		}
		return s.again(ctx, func(int) error { return s.stopOnce(ctx, name) })
	}
}

func (s *stage) stopOnce(ctx context.Context, name string) error {
	comp, err := s.component(name)
	if err != nil {
		return err
	}
	long := stopFor
	if s.o.Short {
		long = shortStop
	}
	stop, start := comp.Freeze, comp.Thaw
	if s.did%2 == 1 {
		stop, start = comp.Kill, comp.Start
	}
	back := make(chan error, 1)
	p, err := s.interrupted(ctx, how{}, 1+s.rnd.IntN(4), func() {
		if err := stop(); err != nil {
			back <- err
			return
		}
		go func() {
			pause(ctx, long)
			back <- start()
		}()
	})
	if p == nil {
		return err
	}
	if err := <-back; err != nil {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	s.progress("%s was stopped for %s; %s", name, long, s.ending(p))
	if err := s.ready(ctx, time.Minute); err != nil {
		return err
	}
	if err := s.town.settle(ctx, settleTime); err != nil {
		s.violate(witness.Conduct, "", "after %s was stopped: %v", name, err)
	}
	return s.alive()
}

// components lists the components that drills stop.
var components = []string{controlplane.Etcd, controlplane.Scheduler, controlplane.ControllerManager}
