package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// unmoved are pods of which no landing was good, since the last move was made or taken
// back. Until the next one none will be: of a large cluster whole rounds find nothing,
// and the next aim need not foretell the same again. With hints on nodes it is not known.
type unmoved struct {
	at  int // scene.shifts
	why map[cluster.PodID]plan.Reason
}

// fewUnmoved are cleared rather than given up.
const fewUnmoved = 64

func (u *unmoved) of(c *search, pod cluster.PodID) (plan.Reason, bool) {
	if u.at != c.scene.shifts || len(u.why) == 0 {
		return plan.Reason{}, false
	}
	why, known := u.why[pod]
	return why, known
}

func (u *unmoved) add(c *search, pod cluster.PodID, why plan.Reason) {
	if c.opts.steers() {
		return
	}
	switch {
	case u.why == nil || u.at != c.scene.shifts && len(u.why) > fewUnmoved:
		u.why = map[cluster.PodID]plan.Reason{}
	case u.at != c.scene.shifts:
		clear(u.why)
	}
	u.at = c.scene.shifts
	u.why[pod] = why
}
