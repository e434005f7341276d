package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/trigger"
	"github.com/evenkeel-project/evenkeel/plan"
)

// minTriggerInterval is the least time between two passes that people trigger.
const minTriggerInterval = time.Minute

// Triggers provides requests of people for a pass now.
type Triggers interface {
	Pending(ctx context.Context) (*trigger.Request, error)
	// Take ensures that a request is carried out at most once. holder identifies this process.
	Take(ctx context.Context, r *trigger.Request, holder string) error
	Reject(ctx context.Context, r *trigger.Request, why string) error
}

// triggered knows the last triggers of this process.
type triggered struct {
	last  time.Time // when the last triggered pass began
	error string    // the last error, so that the log contains it once
}

// runTriggered runs the strategy that a person triggered, if there is one.
func (c *Controller) runTriggered(ctx context.Context) {
	if c.Triggers == nil || c.Mode != plan.Live {
		return
	}
	strategy, err := c.triggered.next(ctx, &c.Dependencies, c.Strategies)
	text := ""
	if err != nil {
		if text = err.Error(); text != c.triggered.error {
			c.Log.Warn("triggers are not carried out", "error", err)
		}
	}
	c.triggered.error = text
	if strategy != "" {
		c.runPass(ctx, []string{strategy})
	}
}

// next returns the strategy of a request that waits, or "". It answers the request.
func (t *triggered) next(ctx context.Context, d *Dependencies, all []schedule.Strategy) (string, error) {
	r, err := d.Triggers.Pending(ctx)
	if r == nil || err != nil {
		return "", err
	}
	now := d.Clock.Now()
	if why := triggerProblem(r, all, t.last, now); why != "" {
		d.Log.Warn("a trigger is rejected", "strategy", r.Strategy, "by", r.By, "reason", why)
		return "", d.Triggers.Reject(ctx, r, why)
	}
	if err := d.Triggers.Take(ctx, r, d.Holder); err != nil {
		return "", err
	}
	t.last = now
	d.Log.Info("a strategy was triggered", "strategy", r.Strategy, "by", r.By, "at", r.At)
	return r.Strategy, nil
}

// triggerProblem returns the reason why a request is rejected, or "".
func triggerProblem(r *trigger.Request, all []schedule.Strategy, last, now time.Time) string {
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	switch wait := last.Add(minTriggerInterval).Sub(now); {
	case r.Outdated(now):
		return fmt.Sprintf("it was made at %s, more than %s before or after now; trigger again, and check the clock of your machine",
			r.At.UTC().Format(time.RFC3339), trigger.MaxAge)
	case !slices.Contains(known, r.Strategy):
		return fmt.Sprintf("the configuration has no strategy %q (it has: %s)", r.Strategy, strings.Join(known[:min(len(known), maxShownStrategies)], ", "))
	case !last.IsZero() && wait > 0 && wait <= minTriggerInterval:
		return fmt.Sprintf("the last trigger was less than %s ago; trigger again in %s", minTriggerInterval, wait.Round(time.Second))
	}
	return ""
}

// maxShownStrategies bounds the names in a message.
const maxShownStrategies = 20
