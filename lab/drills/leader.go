package drills

import (
	"context"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

// cutFor is the time for which the leader has no connection. A Lease expires after 15 s, so the other replica takes
// over during the cut.
const cutFor = 25 * time.Second

// replicaPair runs two controllers, each behind a proxy of its own. The pair restarts a controller that ends, as a
// kubelet would do.
type replicaPair struct {
	run       *drillRun
	processes [2]*process

	mu     sync.Mutex
	armed  bool
	hits   chan *process
	after  int // evictions until the cut
	moment proxy.Moment
}

func (d *replicaPair) onRequest(p *process, c proxy.Class, _ int, m proxy.Moment) {
	if c != proxy.Eviction {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.armed || m != d.moment {
		return
	}
	if d.after--; d.after <= 0 {
		d.armed = false
		p.proxy.Cut(d.run.completed%2 == 1)
		d.hits <- p
	}
}

func (d *replicaPair) armCut(after int, at proxy.Moment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.after, d.moment = true, after, at
}

func (d *replicaPair) disarmCut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = false
}

// restartEnded starts each replica that is not running.
func (d *replicaPair) restartEnded() error {
	for i, p := range d.processes {
		if p != nil {
			select {
			case <-p.ended:
				d.run.notes["a replica ended: "+d.run.exitSummary(p)]++
			default:
				continue
			}
		}
		var err error
		d.processes[i], err = d.run.startProcess(processOptions{args: []string{"run", "--bind-address", "127.0.0.1:0"},
			hook: d.onRequest, http2: i == 0})
		if err != nil {
			return err
		}
	}
	return nil
}

// cutOffLeader runs two replicas on a schedule, and repeatedly cuts the connection of the leader while it evicts.
func cutOffLeader(ctx context.Context, s *drillRun) error {
	s.rules.OnePass = false
	if err := s.configure(ctx, "* * * * *"); err != nil {
		return err
	}
	s.minEvictions = s.reps
	d := &replicaPair{run: s, hits: make(chan *process, 1)}
	for try := 0; s.completed < s.reps && try < 2*s.reps+2; try++ {
		if err := d.restartEnded(); err != nil {
			return err
		}
		if err := s.workload.unbalance(ctx, s.random); err != nil {
			return err
		}
		at := proxy.Arrived
		if s.random.IntN(2) == 0 {
			at = proxy.Answered
		}
		d.armCut(1+s.random.IntN(5), at)
		if err := d.cutLeaderOnce(ctx); err != nil {
			return err
		}
	}
	for _, p := range d.processes {
		s.stopProcess(ctx, p)
	}
	return s.runStableCleanPass(ctx)
}

// cutLeaderOnce waits for a pass in which the leader loses its connection, and then until the leader ends.
func (d *replicaPair) cutLeaderOnce(ctx context.Context) error {
	t := time.NewTimer(80 * time.Second)
	defer t.Stop()
	select {
	case p := <-d.hits:
		sleep(ctx, cutFor)
		p.proxy.Restore()
		d.run.completed++
		d.run.logProgress("%s was cut off", p.user)
		// A leader without a connection ends. Until the leader ends, it may still send an eviction that violates a
		// rule.
		p.waitWithoutKill(ctx, 10*time.Second)
	case <-t.C:
		d.disarmCut()
		d.run.logProgress("no eviction within 80s")
	case <-ctx.Done():
	}
	return d.run.checkComponents()
}
