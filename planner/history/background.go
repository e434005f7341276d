package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// CommitTimeout is longer than an eviction without an answer may take to commit.
const CommitTimeout = 3 * time.Minute

// ActiveBackground returns the evictions of earlier passes that are in flight: the pod still runs, or its replacement
// is not Ready, and their time is not over.
func ActiveBackground(st plan.PlannerState, s *cluster.Snapshot, now time.Time) []plan.BackgroundEviction {
	return slices.DeleteFunc(slices.Clone(st.Background), func(b plan.BackgroundEviction) bool {
		return !now.Before(b.Until) || hasEnded(s, b, now)
	})
}

func hasEnded(s *cluster.Snapshot, b plan.BackgroundEviction, now time.Time) bool {
	switch p := s.PodByUID(b.Pod.UID); {
	case p == nil || p.Terminal:
		return !lacksReplacement(s, b)
	case p.Terminating:
		return false
	}
	return b.AwaitsReplacement && !now.Before(b.Since.Add(CommitTimeout)) // the pod was not evicted
}

// lacksReplacement reports whether the workload of an evicted pod wants more pods than are Ready.
func lacksReplacement(s *cluster.Snapshot, b plan.BackgroundEviction) bool {
	var w *cluster.Workload
	for i := range s.Workloads {
		x := &s.Workloads[i]
		if (plan.ObjectRef{APIVersion: x.APIVersion, Kind: x.Kind, Namespace: x.Namespace, Name: x.Name}) == b.Workload {
			w = x
		}
	}
	if w == nil {
		w = s.WorkloadWithoutPods(b.Workload.Kind, b.Workload.Namespace, b.Workload.Name)
	}
	switch {
	case w == nil:
		return false
	case w.Replicas < 0: // unknown
		return b.AwaitsReplacement
	}
	ready := 0
	for _, id := range w.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating {
			ready++
		}
	}
	return ready < int(w.Replicas)
}

func podRuns(s *cluster.Snapshot, b plan.BackgroundEviction) bool {
	p := s.PodByUID(b.Pod.UID)
	return p != nil && !p.Terminating && !p.Terminal
}

// FollowBackground removes the evictions in the background that have ended. If another program
// executes an eviction, and the pod still runs when its time is over, the workload backs off. The
// eviction counts against the hourly limits in either case. The second result are the evictions
// that took too long.
func FollowBackground(
	st plan.PlannerState, s *cluster.Snapshot, now time.Time, o Options,
) (plan.PlannerState, []plan.BackgroundEviction) {
	var late []plan.BackgroundEviction
	for _, b := range st.Background {
		if !b.AwaitsReplacement && podRuns(s, b) && !now.Before(b.Until) {
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
			"the eviction of %s did not end within %s (evictor.backgroundTimeout)", b.Pod, b.Until.Sub(b.Since))}, now, o)
	}
	return st, late
}
