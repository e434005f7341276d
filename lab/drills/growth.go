package drills

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// A schedule is due at most once a minute. The drill configures strategies with intervals of 60, 61, 62, ... seconds.
// The schedules drift apart, so that after the first minute one of them is due nearly every second. The process
// therefore makes hundreds of passes within minutes.
const driftingCount = 60

func driftingSchedules() (out []string) {
	for i := range driftingCount {
		out = append(out, fmt.Sprintf("@every %ds", 60+i))
	}
	return out
}

// runGrowth keeps one process running for many passes, most of them with pods to move. The drill compares the
// goroutines and the live heap in early and late passes.
func runGrowth(ctx context.Context, s *drillRun) error {
	s.rules.OnePass = false
	s.rules.Slack += time.Second // allow longer delays: the test machine is busy during hundreds of passes
	s.rules.PerMinute = 600      // a high pace, because the drill needs many passes
	s.rules.HourOwner, s.rules.HourNamespace, s.rules.HourCluster = 1000, 4000, 8000
	if err := s.configure(ctx, driftingSchedules()...); err != nil {
		return err
	}
	s.minEvictions = s.reps / 4
	p, err := s.startProcess(processOptions{args: []string{"run", "--bind-address", "127.0.0.1:0"}, http2: true,
		env: []string{fmt.Sprintf("GOGC=%d", gogc)}})
	if err != nil {
		return err
	}
	address, err := p.metricsAddress(ctx)
	if err != nil {
		return err
	}
	hands, stop := context.WithCancel(ctx)
	turned := make(chan error, 1)
	go func() { turned <- s.unbalanceRepeatedly(hands) }()
	samples, err := s.collectSamples(ctx, p, address)
	stop()
	if end := <-turned; hands.Err() == nil || err != nil {
		return fmt.Errorf("sampling metrics: %w; unbalancing the workload: %w", err, end)
	}
	s.stopProcess(ctx, p)
	s.recordGrowth(p, computeGrowth(samples, warmUpPasses(s.reps)))
	if err := s.workload.cordonAllBut(ctx, 0); err != nil { // the last unbalancing may have been interrupted
		return err
	}
	return s.workload.waitUntilStable(ctx, stableTimeout)
}

// unbalanceRepeatedly unbalances the workload until ctx ends. During the pauses, passes find nothing to evict.
func (s *drillRun) unbalanceRepeatedly(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.workload.unbalance(ctx, s.random); err != nil && ctx.Err() == nil {
			return err
		}
		sleep(ctx, 20*time.Second)
	}
	return nil
}

var serving = regexp.MustCompile(`"msg":"serving [^"]*","address":"([^"]+)"`)

// metricsAddress returns the metrics URL from the log of the process.
func (p *process) metricsAddress(ctx context.Context) (at string, err error) {
	err = seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		m := serving.FindStringSubmatch(p.stderr())
		if m == nil {
			return false, fmt.Errorf("the process has not logged its metrics address: %s", p.lastLine())
		}
		at = "http://" + m[1] + "/metrics"
		return true, nil
	})
	return at, err
}

// collectSamples reads the metrics four times a second until the process has made all passes.
func (s *drillRun) collectSamples(ctx context.Context, p *process, address string) (all []metricsSample, err error) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	file, err := os.Create(strings.TrimSuffix(p.log, ".log") + ".samples") // kept if the drill finds a violation
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for said := 0; s.completed < s.reps; sleep(ctx, 250*time.Millisecond) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("after %d passes: %w", s.completed, ctx.Err())
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("the process ended after %d passes: %s", s.completed, s.exitSummary(p))
		default:
		}
		now, err := scrapeMetrics(ctx, client, address)
		if err != nil {
			return nil, err
		}
		all, s.completed = append(all, now), min(now.passes, s.reps)
		fmt.Fprintln(file, time.Now().UTC().Format(time.TimeOnly), now)
		if now.passes >= said+50 {
			said = now.passes
			s.logProgress("%s", now)
		}
	}
	return all, s.checkComponents()
}

// recordGrowth notes the figures, and adds a violation for each figure that exceeds its limit.
func (s *drillRun) recordGrowth(p *process, f growthFigures) {
	s.logProgress("%s", f)
	s.notes["goroutines early"], s.notes["goroutines late"] = f.early, f.late
	s.notes["live heap growth in bytes per pass"] = int(f.growthPerPass)
	for _, wrong := range f.exceededLimits() {
		s.addViolation(auditverifier.ProcessFailure, p.user, "%s (%s)", wrong, f)
	}
}
