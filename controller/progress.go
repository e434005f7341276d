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

// expect announces what the loop does now, and how long that may take.
func (c *Controller) expect(doing string, within time.Duration) {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	c.progress.doing, c.progress.deadline = doing, c.Clock.Now().Add(within)
}

// expectStep announces a step of a pass.
func (c *Controller) expectStep(doing string) {
	if c.OnStep != nil {
		c.OnStep(doing)
	}
	if c.StepTimeout > 0 {
		c.expect(doing, c.StepTimeout)
	}
}

func (c *Controller) expectNothing() {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	c.progress.doing = ""
}

// CheckProgress returns an error if Run has made no progress for so long that only a restart helps. It is safe for
// concurrent use.
func (c *Controller) CheckProgress() error {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	late := c.Clock.Now().Sub(c.progress.deadline)
	if c.progress.doing == "" || late <= 0 {
		return nil
	}
	return fmt.Errorf("no progress: %s should have ended %s ago", c.progress.doing, late.Round(time.Second))
}
