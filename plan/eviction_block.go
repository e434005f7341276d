package plan

import "time"

// EvictionBlock is a reason why the controller does not evict. Paused and BreakerOpen
// block all evictions. StrategyIneffective suspends one strategy.
type EvictionBlock struct {
	Reason Reason `json:"reason"`
	// Strategy is the suspended strategy. It is empty if all evictions are blocked.
	Strategy string    `json:"strategy,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	// Until is the earliest time at which the block ends by itself. Zero means unknown.
	Until time.Time `json:"until,omitzero"`
}

// ActiveAt reports whether the pause is active at a time.
func (p *Pause) ActiveAt(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || now.Before(p.Until))
}

// Block returns the pause as an EvictionBlock. The message says who paused evictions, since
// when, until when, and why.
func (p *Pause) Block() EvictionBlock {
	text := "evictions are paused"
	if !p.Since.IsZero() {
		text += " since " + p.Since.UTC().Format(time.RFC3339)
	}
	text += " by " + p.By
	if !p.Until.IsZero() {
		text += ", until " + p.Until.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return EvictionBlock{Reason: Reason{Code: Paused, Message: text}, Since: p.Since, Until: p.Until}
}
