package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// rejectedSinceMove are pods of which no landing was good, since the last move was made or taken
// back. Until the next one none will be: of a large cluster whole rounds find nothing,
// and the next aim need not foretell the same again. With hints on nodes it is not known.
type rejectedSinceMove struct {
	at  int // scene.shifts
	why map[cluster.PodID]plan.Reason
}

// maxCleared are cleared rather than given up.
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
