package history

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// landedWell reports whether the replacement landed as predicted and became Ready.
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

// updateBackoffs adds one failure to each workload with a bad landing. It removes the backoff of a
// workload whose replacements all landed well.
func updateBackoffs(st plan.PlannerState, settled []plan.Reservation, now time.Time, o Options) (plan.PlannerState, []plan.Backoff) {
	st.Backoffs = slices.Clone(st.Backoffs)
	var longest []plan.Backoff
	for len(settled) > 0 {
		w := settled[0].Workload
		var bad *plan.Reason
		evicted := false
		settled = slices.DeleteFunc(settled, func(r plan.Reservation) bool {
			if r.Workload != w {
				return false
			}
			if tookPlace(*r.Outcome) {
				evicted = true
				if !landedWell(*r.Outcome) && bad == nil {
					bad = &r.Outcome.Reason
				}
			}
			return true
		})
		i, known := slices.BinarySearchFunc(st.Backoffs, w, func(b plan.Backoff, w plan.ObjectRef) int { return compareWorkloads(b.Workload, w) })
		switch {
		case !evicted:
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
				longest = append(longest, *b)
			}
		}
	}
	return st, longest
}

// backoffDuration returns the backoff after a number of consecutive failures.
func (o Options) backoffDuration(failures int) time.Duration {
	d := o.Initial
	for range failures - 1 {
		if d *= 2; d >= o.Max {
			break
		}
	}
	return min(d, o.Max)
}

// ActiveBackoff returns the backoff of a workload, or false if it has none at that time.
func ActiveBackoff(st plan.PlannerState, w plan.ObjectRef, now time.Time) (plan.Backoff, bool) {
	i, known := slices.BinarySearchFunc(st.Backoffs, w, func(b plan.Backoff, w plan.ObjectRef) int { return compareWorkloads(b.Workload, w) })
	if !known || !now.Before(st.Backoffs[i].Until) {
		return plan.Backoff{}, false
	}
	return st.Backoffs[i], true
}

// MayBeReplacement reports whether a pod of the workload may replace a pod that Evenkeel evicted within
// the last hour, judged by its start time. Start times are whole seconds, so a pod that started in
// the second of the first eviction is ambiguous. The function treats it as an older pod.
func MayBeReplacement(st plan.PlannerState, w plan.ObjectRef, started time.Time) bool {
	i, _ := slices.BinarySearchFunc(st.Evictions, plan.EvictionCount{Workload: w}, compareEvictions)
	for ; i < len(st.Evictions) && st.Evictions[i].Workload == w; i++ {
		if first := st.Evictions[i].First; !first.IsZero() && started.After(first.Truncate(time.Second)) {
			return true
		}
	}
	return false
}

// Hour holds the evictions that count against the hourly limits.
type Hour struct {
	Cluster   int
	Namespace map[string]int
	Workload  map[plan.ObjectRef]int
}

// LastHour counts the executed and reserved evictions of the last hour.
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
