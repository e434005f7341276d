package drills

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// cutFor is how long the leader is cut off. The Lease expires after 15 s, so the other replica takes over.
const cutFor = 25 * time.Second

// replicaPair runs two controllers, each behind a proxy of its own. A controller that ends is restarted, as a kubelet
// would do.
type pair struct {
	s   *stage
	one [2]*process

	mu    sync.Mutex
	armed bool
	hits  chan *process
	after int // evictions until the cut
	at    proxy.Moment
}

func (d *pair) hook(p *process, c proxy.Class, _ int, m proxy.Moment) {
	if c != proxy.Eviction {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.armed || m != d.at {
		return
	}
	if d.after--; d.after <= 0 {
		d.armed = false
		p.proxy.Cut(d.s.did%2 == 1)
		d.hits <- p
	}
}

func (d *pair) arm(after int, at proxy.Moment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.after, d.at = true, after, at
}

func (d *pair) disarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = false
}

// restartEnded starts each replica that is not running.
func (d *pair) keep() error {
	for i, p := range d.one {
		if p != nil {
			select {
			case <-p.ended:
				d.s.notes["a replica ended: "+d.s.ending(p)]++
			default:
				continue
			}
		}
		var err error
		d.one[i], err = d.s.start(how{args: []string{"run", "--bind-address", "127.0.0.1:0"}, hook: d.hook, http2: i == 0})
		if err != nil {
			return err
		}
	}
	return nil
}

// cutOffLeader runs two replicas on a schedule and repeatedly cuts off the evicting one in the middle of a wave.
func cutOff(ctx context.Context, s *stage) error {
	s.rules.OnePass = false
	if err := s.configure(ctx, "* * * * *"); err != nil {
		return err
	}
	s.enough = s.reps
	d := &pair{s: s, hits: make(chan *process, 1)}
	for try := 0; s.did < s.reps && try < 2*s.reps+2; try++ {
		if err := d.keep(); err != nil {
			return err
		}
		if err := s.town.unbalance(ctx, s.rnd); err != nil {
			return err
		}
		at := proxy.Arrived
		if s.rnd.IntN(2) == 0 {
			at = proxy.Answered
		}
		d.arm(1+s.rnd.IntN(5), at)
		if err := d.cutOnce(ctx); err != nil {
			return err
		}
	}
	for _, p := range d.one {
		p.terminate()
		if !p.wait(ctx, 30*time.Second) {
			s.violate(witness.Conduct, p.user, "the process did not end within 30s of SIGTERM")
		}
	}
	if err := s.town.settle(ctx, settleTime); err != nil {
		s.violate(witness.Conduct, "", "%v", err)
	}
	return s.clean(ctx)
}

// cutOnce waits for a pass in which the leader is cut off, and then for the leader's end.
func (d *pair) cutOnce(ctx context.Context) error {
	t := time.NewTimer(80 * time.Second)
	defer t.Stop()
	select {
	case p := <-d.hits:
		pause(ctx, cutFor)
		p.proxy.Restore()
		d.s.did++
		d.s.progress("%s was cut off", p.user)
		// A leader that is cut off ends. Until then it may still send an eviction that violates a rule.
		p.waitShort(ctx, 10*time.Second)
	case <-t.C:
		d.disarm()
		d.s.progress("no eviction within 80s")
	case <-ctx.Done():
	}
	return d.s.alive()
}

// waitShort waits for the process to end. It does not kill the process after the limit.
func (p *process) waitShort(ctx context.Context, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
	case <-ctx.Done():
	}
}
