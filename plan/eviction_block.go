package plan

import "time"

// EvictionBlock keeps evictions from being made: all of them while people have paused
// them (Paused) or the breaker is open (BreakerOpen), those of one strategy while
// it does not pay off (StrategyIneffective).
type EvictionBlock struct {
	Reason Reason `json:"reason"`
	// Strategy is set where the hold is of one alone.
	Strategy string    `json:"strategy,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	// Until is when it ends by itself, at the earliest; zero: nobody can say.
	Until time.Time `json:"until,omitzero"`
}

// ActiveAt reports whether the pause holds at a time.
func (p *Pause) ActiveAt(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || now.Before(p.Until))
}

// Block says that people want no evictions: who, since when, until when, and why.
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
