package drills

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/proxy"
)

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
