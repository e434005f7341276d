package settings

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// WithDiscarded returns the options with the discarded moves that hold at the time now, as rules of the strategies in
// mode approve. It returns o itself if there are none.
func (o *Options) WithDiscarded(moves []plan.DiscardedMove, now time.Time) *Options {
	out := o
	for _, d := range moves {
		i := o.StrategyIndex(d.Strategy)
		if i < 0 || o.Strategies[i].Mode != plan.Approve || !now.Before(d.Until) {
			continue
		}
		if out == o {
			changed := *o
			changed.Strategies = slices.Clone(o.Strategies)
			out = &changed
		}
		s := &out.Strategies[i]
		if s.Own == nil {
			s.Own = &StrategyRules{Scope: o.Guards.Scope}
		}
		if s.Own.Discarded == nil {
			own := *s.Own
			own.Discarded = map[string]plan.DiscardedMove{}
			s.Own = &own
		}
		if known, twice := s.Own.Discarded[d.PodUID]; !twice || known.Until.Before(d.Until) {
			s.Own.Discarded[d.PodUID] = d
		}
	}
	return out
}
