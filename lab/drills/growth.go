package drills

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/witness"
)

// A schedule fires at most once a minute. Strategies that fire every 60, 61, 62, ...
// seconds drift apart, so that from the first minute on one of them is due nearly
// every second: the shipped binary makes hundreds of passes in minutes.
const drifting = 60

func driftingSchedules() (out []string) {
	for i := range drifting {
		out = append(out, fmt.Sprintf("@every %ds", 60+i))
	}
	return out
}

// gogc has the garbage collected whenever the heap has grown by so many percent of
// what lives: many times in a pass, so that what lives is known at quiet moments.
const gogc = 20

// growing keeps one process running for many passes, with something to move in many
// of them, and compares its goroutines and its heap early and late.
func growing(ctx context.Context, s *stage) error {
	s.rules.OnePass = false
	s.rules.Slack += time.Second // its pace holds over hundreds of passes on a machine that is busy with more than that
	s.rules.PerMinute = 600      // it is passes that are wanted
	s.rules.HourOwner, s.rules.HourNamespace, s.rules.HourCluster = 1000, 4000, 8000
	if err := s.configure(ctx, driftingSchedules()...); err != nil {
		return err
	}
	s.enough = s.reps / 4
	p, err := s.start(how{args: []string{"run", "--bind-address", "127.0.0.1:0"}, http2: true, env: []string{fmt.Sprintf("GOGC=%d", gogc)}})
	if err != nil {
		return err
	}
	address, err := p.metricsAddress(ctx)
	if err != nil {
		return err
	}
	hands, stop := context.WithCancel(ctx)
	turned := make(chan error, 1)
	go func() { turned <- s.turn(hands) }()
	samples, err := s.sample(ctx, p, address)
	stop()
	if end := <-turned; hands.Err() == nil || err != nil {
		return fmt.Errorf("watching it grow: %w; unbalancing: %w", err, end)
	}
	p.terminate()
	if !p.wait(ctx, 30*time.Second) {
		s.violate(witness.Conduct, p.user, "it did not end within 30s of SIGTERM")
	}
	s.held(p, measure(samples, warmUp(s.reps)))
	if err := s.town.cordonAllBut(ctx, 0); err != nil { // the hand may have been stopped in the middle
		return err
	}
	return s.town.settle(ctx, settleTime)
}

// turn unbalances again and again until ctx ends. Between, there is time for passes
// that find nothing to do.
func (s *stage) turn(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.town.unbalance(ctx, s.rnd); err != nil && ctx.Err() == nil {
			return err
		}
		pause(ctx, 20*time.Second)
	}
	return nil
}

var serving = regexp.MustCompile(`msg="serving [^"]*" address=(\S+)`)

// metricsAddress is where it says that it serves its metrics.
func (p *process) metricsAddress(ctx context.Context) (at string, err error) {
	err = seed.Until(ctx, time.Minute, func() (bool, error) {
		m := serving.FindStringSubmatch(p.stderr())
		if m == nil {
			return false, fmt.Errorf("it does not say where its metrics are: %s", p.lastLine())
		}
		at = "http://" + m[1] + "/metrics"
		return true, nil
	})
	return at, err
}

// sample reads the metrics four times a second until all passes are made.
func (s *stage) sample(ctx context.Context, p *process, address string) (all []sample, err error) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	file, err := os.Create(strings.TrimSuffix(p.out, ".out") + ".samples") // to be kept when something is wrong
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for said := 0; s.did < s.reps; pause(ctx, 250*time.Millisecond) {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("after %d passes: %w", s.did, ctx.Err())
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("it ended after %d passes: %s", s.did, s.ending(p))
		default:
		}
		now, err := scrape(ctx, client, address)
		if err != nil {
			return nil, err
		}
		all, s.did = append(all, now), min(now.passes, s.reps)
		fmt.Fprintln(file, time.Now().UTC().Format(time.TimeOnly), now)
		if now.passes >= said+50 {
			said = now.passes
			s.progress("%s", now)
		}
	}
	return all, s.alive()
}

// held notes the figures, and a violation for each that is too high.
func (s *stage) held(p *process, f figures) {
	s.progress("%s", f)
	s.notes["goroutines early"], s.notes["goroutines late"] = f.early, f.late
	s.notes["bytes that the live heap grew by with each pass"] = int(f.perPass)
	for _, wrong := range f.wrong() {
		s.violate(witness.Conduct, p.user, "%s (%s)", wrong, f)
	}
}
