package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// ActiveBackground returns the evictions in the background that have not ended: the pod still runs, and their time is
// not over.
func ActiveBackground(st plan.PlannerState, s *cluster.Snapshot, now time.Time) []plan.BackgroundEviction {
	return slices.DeleteFunc(slices.Clone(st.Background), func(b plan.BackgroundEviction) bool {
		return podEnded(s, b) || !now.Before(b.Until)
	})
}

func podEnded(s *cluster.Snapshot, b plan.BackgroundEviction) bool {
	p := s.PodByUID(b.Pod.UID)
	return p == nil || p.Terminating || p.Terminal
}

// FollowBackground removes the evictions in the background that have ended. If the pod of an eviction still runs when
// its time is over, the workload backs off. The eviction counts against the hourly limits in either case. The second
// result are the evictions that took too long.
func FollowBackground(
	st plan.PlannerState, s *cluster.Snapshot, now time.Time, o Options,
) (plan.PlannerState, []plan.BackgroundEviction) {
	var late []plan.BackgroundEviction
	for _, b := range st.Background {
		if !podEnded(s, b) && !now.Before(b.Until) {
			late = append(late, b)
		}
	}
	st.Background = ActiveBackground(st, s, now)
	st.Backoffs = slices.Clone(st.Backoffs)
	for _, b := range late {
		i, known := findBackoff(st, b.Workload)
		if !known {
			st.Backoffs = slices.Insert(st.Backoffs, i, plan.Backoff{Workload: b.Workload})
		}
		addFailure(&st.Backoffs[i], plan.Reason{Code: plan.EvictionInBackground, Message: fmt.Sprintf(
			"the eviction of %s did not end within %s (evictor.background.timeout)", b.Pod, b.Until.Sub(b.Since))}, now, o)
	}
	return st, late
}
