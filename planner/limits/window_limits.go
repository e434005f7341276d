package limits

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// limitPicker returns one limit.
type limitPicker func(*Options) plan.CountLimit

// effective returns the limit that applies to a number of pods, and its configuration key. Of the
// open windows with limits, the most generous one counts, but never more than the limit of the
// configuration. The parameter key is the key of the latter.
func (l *Counter) effective(key string, pods int, pick limitPicker) (plan.CountLimit, string) {
	limit := pick(&l.options)
	if len(l.windows) == 0 {
		return limit, key
	}
	best := 0
	for i := range l.windows {
		if pick(&l.windows[i].Options).For(pods) > pick(&l.windows[best].Options).For(pods) {
			best = i
		}
	}
	if w := pick(&l.windows[best].Options); w.For(pods) < limit.For(pods) {
		return w, l.windows[best].Key + strings.TrimPrefix(key, "limits")
	}
	return limit, key
}

// ofWindow reports whether the limit is that of a window.
func (a Allowance) ofWindow() bool { return strings.HasPrefix(a.configKey, windowPrefix) }

// WindowKeys returns the configuration keys of the window limits that apply now.
func (l *Counter) WindowKeys() []string {
	var out []string
	for _, w := range l.windows {
		out = append(out, w.Key)
	}
	return out
}

// RefuseAgain checks a planned eviction for a strategy just before it is executed. It checks the
// limits per hour, which other passes use too, and the limits of windows, which may be stricter
// than those of the windows that were open when the plan was made. The limits per hour include
// those of the strategy.
func (l *Counter) RefuseAgain(strategy int, pod cluster.PodID) (plan.Reason, bool) {
	all := l.Allowances(pod)
	r, refused := strictestExceeded(slices.DeleteFunc(all[:], func(a Allowance) bool { return a.Code != plan.LimitPerHour && !a.ofWindow() }))
	if own := l.OfStrategy(strategy); own != nil && !refused {
		return own.RefuseAgain(NoStrategy, pod)
	}
	return r, refused
}

// AddReservations counts the evictions that this pass has reserved, so that the limits of windows apply to the whole
// pass. It does nothing if no limits of windows apply.
func (l *Counter) AddReservations(runs []plan.OpenRun) {
	if len(l.windows) == 0 {
		return
	}
	var moves []plan.Move
	for _, run := range runs {
		for _, r := range run.Reservations {
			if o := r.Outcome; o == nil || o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome || o.Outcome == plan.InProgress {
				moves = append(moves, plan.Move{Pod: r.Pod, Owner: r.Workload, From: r.From, Strategy: r.Strategy})
			}
		}
	}
	l.AddEarlierMoves(moves)
}
