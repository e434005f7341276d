package drills

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// maxDelay is the longest time for which the faulty proxy delays a request. Watches that the proxy silences also end
// within it.
const maxDelay = 3 * time.Second

// runFaultyPasses sends each pass through a proxy that disturbs 1 to 30 % of its requests.
func faultyPasses(ctx context.Context, s *stage) error {
	s.rules.Slack += maxDelay
	if err := s.configure(ctx, "0 0 1 1 *"); err != nil {
		return err
	}
	s.enough = s.reps / 2
	for i := range s.reps {
		if err := s.town.unbalance(ctx, s.rnd); err != nil {
			return err
		}
		f := proxy.Faults{Rate: 0.01 + 0.29*s.rnd.Float64(), MaxDelay: maxDelay, StaleFor: time.Minute}
		p, err := s.start(how{args: once(time.Minute), faults: f, http2: i%2 == 0})
		if err != nil {
			return err
		}
		s.finish(ctx, p)
		s.did++
		s.progress("%.0f%% faults, %s", 100*f.Rate, s.ending(p))
	}
	if err := s.town.settle(ctx, settleTime); err != nil {
		s.violate(witness.Conduct, "", "%v", err)
	}
	return s.clean(ctx)
}

// exitSummary describes in a few words how a process ended.
func (s *stage) ending(p *process) string {
	if p.wasKilled() {
		return "killed"
	}
	if p.cmd.ProcessState.ExitCode() == 0 {
		return "exit 0"
	}
	return "exit 1: " + p.lastLine()
}
