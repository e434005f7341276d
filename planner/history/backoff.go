package history

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// landedWell reports whether the replacement landed as foretold and became
// Ready.
func landedWell(o plan.Outcome) bool {
	if o.Outcome != plan.Evicted || !o.LandedAsPredicted {
		return false
	}
	switch o.Reason.Code {
	case plan.LandedElsewhere, plan.ReplacementNotReady, plan.ReplacementNotScheduled, plan.OutcomeUnknown:
		return false
	}
	return true
}

// updateBackoffs lets the workloads rest whose pods did not settle, each once for all of
// its evictions, and forgives those whose pods all did.
func updateBackoffs(st plan.PlannerState, settled []plan.Reservation, now time.Time, o Options) (plan.PlannerState, []plan.Backoff) {
	st.Backoffs = slices.Clone(st.Backoffs)
	var givenUp []plan.Backoff
	for len(settled) > 0 {
		w := settled[0].Workload
		var bad *plan.Reason
		went := false
		settled = slices.DeleteFunc(settled, func(r plan.Reservation) bool {
			if r.Workload != w {
				return false
			}
			if tookPlace(*r.Outcome) {
				went = true
				if !landedWell(*r.Outcome) && bad == nil {
					bad = &r.Outcome.Reason
				}
			}
			return true
		})
		i, known := slices.BinarySearchFunc(st.Backoffs, w, func(b plan.Backoff, w plan.ObjectRef) int { return compareWorkloads(b.Workload, w) })
		switch {
		case !went:
		case bad == nil && known:
			st.Backoffs = slices.Delete(st.Backoffs, i, i+1)
		case bad != nil:
			if !known {
				st.Backoffs = slices.Insert(st.Backoffs, i, plan.Backoff{Workload: w})
			}
			b := &st.Backoffs[i]
			b.Failures++
			b.Since, b.Until, b.Reason = now.UTC(), now.UTC().Add(o.backoffDuration(b.Failures)), *bad
			if o.backoffDuration(b.Failures) == o.Max {
				givenUp = append(givenUp, *b)
			}
		}
	}
	return st, givenUp
}

// backoffDuration is how long a workload rests after so many failures in a row.
func (o Options) backoffDuration(failures int) time.Duration {
	d := o.Initial
	for range failures - 1 {
		if d *= 2; d >= o.Max {
			break
		}
	}
	return min(d, o.Max)
}

// ActiveBackoff finds the rest of a workload, if it rests at that time.
func ActiveBackoff(st plan.PlannerState, w plan.ObjectRef, now time.Time) (plan.Backoff, bool) {
	i, known := slices.BinarySearchFunc(st.Backoffs, w, func(b plan.Backoff, w plan.ObjectRef) int { return compareWorkloads(b.Workload, w) })
	if !known || !now.Before(st.Backoffs[i].Until) {
		return plan.Backoff{}, false
	}
	return st.Backoffs[i], true
}

// MayBeReplacement reports whether a pod of the workload that started then may have come in
// place of one that was evicted within the hour: it started after the second in which
// the first was asked to go. Times of pods are whole seconds, so that of a pod of that
// second nobody knows; it was most likely there before.
func MayBeReplacement(st plan.PlannerState, w plan.ObjectRef, started time.Time) bool {
	i, _ := slices.BinarySearchFunc(st.Evictions, plan.EvictionCount{Workload: w}, compareEvictions)
	for ; i < len(st.Evictions) && st.Evictions[i].Workload == w; i++ {
		if first := st.Evictions[i].First; !first.IsZero() && started.After(first.Truncate(time.Second)) {
			return true
		}
	}
	return false
}

// Hour are the evictions that count at one time.
type Hour struct {
	Cluster   int
	Namespace map[string]int
	Workload  map[plan.ObjectRef]int
}

// LastHour counts the evictions that count now, those reserved included.
func LastHour(st plan.PlannerState, now time.Time) Hour {
	h := Hour{Namespace: map[string]int{}, Workload: map[plan.ObjectRef]int{}}
	for _, e := range st.Evictions {
		if withinHour(e, now) {
			h.Cluster += e.Count
			h.Namespace[e.Workload.Namespace] += e.Count
			h.Workload[e.Workload] += e.Count
		}
	}
	return h
}
