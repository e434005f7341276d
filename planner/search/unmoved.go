package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// rejectedSinceMove caches the pods without an acceptable landing in the current state, with
// the reasons. The cache is valid until a move is made or undone. It avoids repeated
// predictions: in a large cluster, whole rounds find nothing. It stays empty if steering is
// enabled, because hints change landings.
type rejectedSinceMove struct {
	at  int // State.moveCount when the reasons were recorded
	why map[cluster.PodID]plan.Reason
}

// maxCleared is the largest number of entries for which add clears the map instead of
// replacing it.
const maxCleared = 64

func (u *rejectedSinceMove) of(c *Search, pod cluster.PodID) (plan.Reason, bool) {
	if u.at != c.State.moveCount || len(u.why) == 0 {
		return plan.Reason{}, false
	}
	why, known := u.why[pod]
	return why, known
}

func (u *rejectedSinceMove) add(c *Search, pod cluster.PodID, why plan.Reason) {
	if c.Options.Steers() {
		return
	}
	switch {
	case u.why == nil || u.at != c.State.moveCount && len(u.why) > maxCleared:
		u.why = map[cluster.PodID]plan.Reason{}
	case u.at != c.State.moveCount:
		clear(u.why)
	}
	u.at = c.State.moveCount
	u.why[pod] = why
}
