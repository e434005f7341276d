package history

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// updateBackoffs adds one failure to each workload with a bad landing or a refusal by admission. It
// removes the backoff of a workload whose replacements all landed well.
func updateBackoffs(st plan.PlannerState, recorded []plan.Reservation, now time.Time, o Options) (plan.PlannerState, []plan.Backoff) {
	st.Backoffs = slices.Clone(st.Backoffs)
	var longest []plan.Backoff
	recorded = slices.DeleteFunc(recorded, func(r plan.Reservation) bool { return !affectsBackoff(*r.Outcome) })
	for len(recorded) > 0 {
		w := recorded[0].Workload
		var bad *plan.Reason
		recorded = slices.DeleteFunc(recorded, func(r plan.Reservation) bool {
			if r.Workload == w && bad == nil && !r.Outcome.LandedWell() {
				bad = &r.Outcome.Reason
			}
			return r.Workload == w
		})
		i, known := findBackoff(st, w)
		switch {
		case bad == nil && known:
			st.Backoffs = slices.Delete(st.Backoffs, i, i+1)
		case bad != nil:
			if !known {
				st.Backoffs = slices.Insert(st.Backoffs, i, plan.Backoff{Workload: w})
			}
			if b := &st.Backoffs[i]; addFailure(b, *bad, now, o) {
				longest = append(longest, *b)
			}
		}
	}
	return st, longest
}

// affectsBackoff reports whether an outcome begins or ends a backoff. If admission refuses an eviction, the workload
// backs off, because the next pass would otherwise choose the same pod again.
func affectsBackoff(o plan.Outcome) bool {
	return countsAsEviction(o) && o.Outcome != plan.InProgress && !o.Pending || o.Reason.Code == plan.BlockedByAdmission
}

// addFailure extends a backoff after a failure. It reports whether the backoff has reached MaxBackoff.
func addFailure(b *plan.Backoff, why plan.Reason, now time.Time, o Options) bool {
	b.Failures++
	b.Since, b.Until, b.Reason = now.UTC(), now.UTC().Add(o.backoffDuration(b.Failures)), why
	return o.backoffDuration(b.Failures) == MaxBackoff
}

// findBackoff returns the index of a workload's backoff. If the workload has no backoff, the result is the index at
// which to insert one, and false.
func findBackoff(st plan.PlannerState, w plan.ObjectRef) (int, bool) {
	return slices.BinarySearchFunc(st.Backoffs, w, func(b plan.Backoff, w plan.ObjectRef) int { return b.Workload.Compare(w) })
}

// backoffDuration returns the backoff after a number of consecutive failures.
func (o Options) backoffDuration(failures int) time.Duration {
	d := o.Initial
	for range failures - 1 {
		if d *= 2; d >= MaxBackoff {
			break
		}
	}
	return min(d, MaxBackoff)
}

// ActiveBackoff returns the backoff of a workload, or false if it has none at that time.
func ActiveBackoff(st plan.PlannerState, w plan.ObjectRef, now time.Time) (plan.Backoff, bool) {
	i, known := findBackoff(st, w)
	if !known || !now.Before(st.Backoffs[i].Until) {
		return plan.Backoff{}, false
	}
	return st.Backoffs[i], true
}

// MayBeReplacement reports whether a pod of the workload started after Evenkeel evicted another of its pods in the
// last hour. Start times are whole seconds. A pod that started in the second of the first eviction counts as older.
func MayBeReplacement(st plan.PlannerState, w plan.ObjectRef, started time.Time) bool {
	i, _ := slices.BinarySearchFunc(st.Evictions, plan.EvictionCount{Workload: w}, compareEvictions)
	for ; i < len(st.Evictions) && st.Evictions[i].Workload == w; i++ {
		if first := st.Evictions[i].First; !first.IsZero() && started.After(first.Truncate(time.Second)) {
			return true
		}
	}
	return false
}

// HourlyCounts are the numbers of evictions that count against the hourly limits.
type HourlyCounts struct {
	Cluster   int
	Namespace map[string]int
	Workload  map[plan.ObjectRef]int
}

// CountLastHour counts the executed and reserved evictions of the last hour.
func CountLastHour(st plan.PlannerState, now time.Time) HourlyCounts {
	return countLastHour(st, now, func(plan.EvictionCount) bool { return true })
}

// CountLastHourFor counts those that count for the strategy. Entries of versions that did not store the strategy do not
// count.
func CountLastHourFor(st plan.PlannerState, strategy string, now time.Time) HourlyCounts {
	return countLastHour(st, now, func(e plan.EvictionCount) bool { return e.Strategy == strategy })
}

func countLastHour(st plan.PlannerState, now time.Time, counts func(plan.EvictionCount) bool) HourlyCounts {
	h := HourlyCounts{Namespace: map[string]int{}, Workload: map[plan.ObjectRef]int{}}
	for _, e := range st.Evictions {
		if withinHour(e, now) && counts(e) {
			h.Cluster += e.Count
			h.Namespace[e.Workload.Namespace] += e.Count
			h.Workload[e.Workload] += e.Count
		}
	}
	return h
}
