package controller

import (
	"fmt"
	"sync"
	"time"
)

// loopSlack is how late the loop of Run may be. It covers the requests between two passes.
const loopSlack = 5 * time.Minute

// stepSlack bounds a step of a pass, in addition to the waits that the configuration sets: planning, requests that are
// repeated, the pace of a batch, and clean-up.
const stepSlack = 30 * time.Minute

// StepTimeout returns the longest time between two signs of progress of a pass. The longest step is a batch of
// evictions, which waits for the end of each pod and then for its replacement.
func StepTimeout(maxGracePeriod, verifyTimeout time.Duration) time.Duration {
	return maxGracePeriod + verifyTimeout + stepSlack
}

// progress is the deadline for the next sign of progress of the loop of Run.
type progress struct {
	mu       sync.Mutex
	doing    string // what the loop does; empty: Run does not run, or waits for a change of the configuration
	deadline time.Time
}

// expect announces what the loop does now, and until when it shows progress again.
func (p *progress) expect(doing string, deadline time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.deadline = doing, deadline
}

func (p *progress) expectNothing() { p.expect("", time.Time{}) }

// expectStep announces a step of the pass.
func (p *pass) expectStep(doing string) {
	if p.OnStep != nil {
		p.OnStep(doing)
	}
	if p.StepTimeout > 0 {
		p.progress.expect(doing, p.Clock.Now().Add(p.StepTimeout))
	}
}

// CheckProgress returns an error if Run has made no progress for so long that only a restart helps. It is safe for
// concurrent use.
func (c *Controller) CheckProgress() error {
	p := &c.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	late := c.Clock.Now().Sub(p.deadline)
	if p.doing == "" || late <= 0 {
		return nil
	}
	return fmt.Errorf("no progress: %s should have ended %s ago", p.doing, late.Round(time.Second))
}
