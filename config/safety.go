package config

import (
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// BreakerOptions are the options of the breaker.
func (c *Config) BreakerOptions() breaker.Options {
	b := c.Evictor.Breaker
	return breaker.Options{MaxUnreadyNodesFrac: b.MaxUnreadyNodesFrac, MaxPendingPods: b.MaxPendingPods, MaxFailedFrac: b.MaxFailedFrac,
		MaxBadLandingsFrac: b.MaxBadLandingsFrac, Hold: time.Duration(b.Hold)}
}

// BenefitOptions say when a strategy is held that does not pay off.
func (c *Config) BenefitOptions() history.BenefitOptions {
	return history.BenefitOptions{Floor: c.Benefit.Floor, MinEvictions: c.Benefit.MinEvictions, Hold: time.Duration(c.Benefit.Hold)}
}

func (c *Config) checkBreakerAndBenefit(e *decoder) {
	b := c.Evictor.Breaker
	checkFraction(e, "evictor.breaker.maxUnreadyNodesFrac", b.MaxUnreadyNodesFrac)
	checkFraction(e, "evictor.breaker.maxFailedFrac", b.MaxFailedFrac)
	checkFraction(e, "evictor.breaker.maxBadLandingsFrac", b.MaxBadLandingsFrac)
	if strings.HasSuffix(b.MaxPendingPods.String(), "%") {
		e.fieldError("evictor.breaker.maxPendingPods", "a share makes no sense here (want a whole number, or unlimited)")
	}
	if c.Benefit.Floor != 0 {
		checkFraction(e, "benefit.floor", c.Benefit.Floor)
	}
	if c.Benefit.MinEvictions < 1 {
		e.fieldError("benefit.minEvictions", "%d is too small (want 1 or more; to hold no strategy set benefit.floor: 0)", c.Benefit.MinEvictions)
	}
	if c.Benefit.Hold < Duration(time.Minute) {
		e.fieldError("benefit.hold", "%s is too short to make a difference (want 1m or more; to hold no strategy set benefit.floor: 0)", c.Benefit.Hold)
	}
}
