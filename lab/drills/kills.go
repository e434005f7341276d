package drills

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// killPoint is the moment at which a process is killed. It is either the n-th request of a class, on its arrival or
// before its answer, or a time after the start.
type point struct {
	class  proxy.Class
	n      int
	moment proxy.Moment
	after  time.Duration
}

// randomKillPoint draws a kill point. Half of them are at evictions, where a count can be lost.
func (s *stage) point() point {
	pt := point{n: 1 + s.rnd.IntN(8), moment: proxy.Arrived, after: time.Duration(s.rnd.IntN(40)) * time.Millisecond}
	if s.rnd.IntN(2) == 0 {
		pt.moment = proxy.Answered
	}
	if s.rnd.IntN(2) == 0 {
		pt.after = 0
	}
	switch x := s.rnd.IntN(10); {
	case x < 5:
		pt.class = proxy.Eviction
	case x < 7:
		pt.class = proxy.Memory
	case x < 8:
		pt.class, pt.n = proxy.Lease, 2+s.rnd.IntN(4)
	default:
		pt.class, pt.after = "", time.Duration(500+s.rnd.IntN(6000))*time.Millisecond
	}
	return pt
}

// killAt makes the proxy's hook kill the process at a point.
func (s *stage) arm(h *how, pt point) {
	if pt.class == "" {
		return
	}
	h.hook = func(p *process, c proxy.Class, n int, m proxy.Moment) {
		if c != pt.class || n != pt.n || m != pt.moment {
			return
		}
		if pt.after == 0 {
			p.kill()
			return
		}
		time.AfterFunc(pt.after, func() { p.kill() })
	}
}

// killPasses kills passes at random points. The next process starts at once.
func killed(ctx context.Context, s *stage) error {
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	s.enough = s.reps / 2
	for try := 0; s.did < s.reps && try < 4*s.reps; try++ {
		if err := s.town.unbalance(ctx, s.rnd); err != nil {
			return err
		}
		if err := s.killOne(ctx); err != nil {
			return err
		}
	}
	if err := s.town.settle(ctx, settleTime); err != nil {
		s.violate(witness.Conduct, "", "%v", err)
	}
	return s.clean(ctx)
}

func (s *stage) killOne(ctx context.Context) error {
	pt := s.point()
	h := how{args: once(time.Minute), http2: s.rnd.IntN(2) == 0}
	s.arm(&h, pt)
	p, err := s.start(h)
	if err != nil {
		return err
	}
	if pt.class == "" {
		// The process first waits until the dead process's Lease expires. The delay counts from then.
		t := time.AfterFunc(s.leaseLeft()+pt.after, func() { p.kill() })
		defer t.Stop()
	}
	s.finish(ctx, p)
	if p.wasKilled() {
		s.did++
		s.progress("killed at %s %d %s +%s", pt.class, pt.n, pt.moment, pt.after)
	}
	return nil
}

// remainingLease returns how long the Lease of a killed process may still be valid. It assumes that the process
// renewed the Lease just before it died.
func (s *stage) leaseLeft() time.Duration {
	if len(s.processes) < 2 {
		return 0
	}
	p := s.processes[len(s.processes)-2]
	if !p.wasKilled() {
		return 0
	}
	return max(0, 15*time.Second-time.Since(p.end))
}

// hourLimit is the number of pods that all processes together may evict within an hour. The first processes are
// killed in the middle of a wave, so the count must survive kills.
const hourLimit = 9

func hour(ctx context.Context, s *stage) error {
	s.rules.HourCluster, s.rules.HourNamespace = hourLimit, hourLimit
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	if s.rules.HourCluster == 0 {
		s.violate(witness.Conduct, "", "this binary does not support limits.perHour")
		s.rules.HourCluster = hourLimit
	}
	s.enough = hourLimit / 2
	for i := range s.reps {
		if err := s.town.unbalance(ctx, s.rnd); err != nil {
			return err
		}
		var fired atomic.Bool
		h := how{args: once(time.Minute)}
		if i < s.reps/2 {
			n := 1 + s.rnd.IntN(3)
			h.hook = func(p *process, c proxy.Class, k int, m proxy.Moment) {
				if c == proxy.Eviction && k >= n && m == proxy.Answered && fired.CompareAndSwap(false, true) {
					p.kill()
				}
			}
		}
		p, err := s.start(h)
		if err != nil {
			return err
		}
		s.finish(ctx, p)
		s.did++
		s.progress("%s", s.ending(p))
	}
	return s.clean(ctx)
}
