package lowerbound

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// proof holds the lower bounds that apply to every plan. The bound in full is for meeting the goals as far as
// permitted evictions can. The bound in planned is for reaching the plan's excess. proof also holds the excess that
// no eviction removes.
type proof struct {
	result        *search.Result
	start         *goal.Tracker
	reach         *reachability
	full, planned *evictionNeed
	residual      float64
	made          map[cluster.PodID]search.Move // by pod
	byGoal        map[string]float64
	sizes         []podSize // reused
	forGood       []answer  // by pod: caches canLeaveForGood
}

// canLeaveForGood reports whether a pod may leave its node and can run on another one.
func (p *proof) canLeaveForGood(pod cluster.PodID) bool {
	known := &p.forGood[pod]
	if *known == unknown {
		if *known = no; p.reach.mayLeave(pod) && p.reach.canRunElsewhere(pod) {
			*known = yes
		}
	}
	return *known == yes
}

// answer is the result of a question, if it is known.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// addResidual adds a share of a goal's excess to the residual. The parameter v is the same excess in the goal's unit.
func (p *proof) addResidual(g plan.Goal, share, v float64) {
	if share > 0 {
		p.residual += float64(g.Weight * share)
		p.byGoal[g.ID] = plan.Round(v)
	}
}

// podsBySize returns the pods on the goal's node, the largest first. The next call overwrites the list.
func (p *proof) podsBySize(b *goal.NodeMeasure) []podSize {
	pods := p.sizes[:0]
	for _, id := range p.result.Snapshot.Nodes[b.Node].Pods {
		if size := b.Amounts.Contribution(id, b.Node); size > 0 {
			pods = append(pods, podSize{size, id})
		}
	}
	slices.SortFunc(pods, func(x, y podSize) int {
		if x.size != y.size {
			return cmp.Compare(y.size, x.size)
		}
		return cmp.Compare(x.id, y.id)
	})
	p.sizes = pods
	return pods
}
