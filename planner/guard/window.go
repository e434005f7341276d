package guard

import (
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

var outsideWindow = Rule{plan.OutsideWindow, func(in Input) (string, bool) {
	if why, open := in.Options.Windows.Open(in.Now); !open {
		return why + " (windows)", true
	}
	for _, w := range in.asked().Windows {
		if why, open := w.Windows.Open(in.Now); !open {
			return why + " (" + w.Source.String() + ")", true
		}
	}
	return "", false
}}

// AllowedUntil is when the windows that are open now close for this pod; zero
// when that is more than a day ahead.
func AllowedUntil(in Input) time.Time {
	end := in.Options.Windows.Until(in.Now)
	for _, w := range in.asked().Windows {
		if u := w.Windows.Until(in.Now); !u.IsZero() && (end.IsZero() || u.Before(end)) {
			end = u
		}
	}
	return end
}
