package eligibility

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// backgroundCount counts the evictions of earlier passes that go on in the background. They are in flight.
type backgroundCount struct {
	total    int
	node     map[string]int
	workload map[plan.ObjectRef]plan.BackgroundEviction
}

func countBackground(st plan.PlannerState, s *cluster.Snapshot, now time.Time) backgroundCount {
	c := backgroundCount{node: map[string]int{}, workload: map[plan.ObjectRef]plan.BackgroundEviction{}}
	for _, b := range history.ActiveBackground(st, s, now) {
		c.total++
		c.node[b.From]++
		c.workload[b.Workload] = b
	}
	return c
}

// inBackground returns the reason if evictions in the background forbid an eviction of the pod: one of the same
// workload, or as many as the in-flight limits allow.
func (v *Checker) inBackground(p *cluster.Pod) (plan.Reason, bool) {
	c := &v.background
	if c.total == 0 {
		return plan.Reason{}, false
	}
	limits, why := v.options.InFlight, ""
	w := history.WorkloadOfPod(v.snapshot, p)
	b, same := c.workload[w]
	switch {
	case same:
		why = fmt.Sprintf("the eviction of %s, of the same %s, continues in the background since %s, until %s at most", b.Pod, w.Kind,
			b.Since.UTC().Format(time.RFC3339), b.Until.UTC().Format(time.RFC3339))
	case c.total >= limits.Total:
		why = fmt.Sprintf("%s in the background, as many as may be in flight (evictor.inFlight.total)", plural.Count(c.total, "eviction"))
	case v.inBackgroundOn(p) >= limits.PerNode:
		why = fmt.Sprintf("%s from its node in the background, as many as may be in flight (evictor.inFlight.perNode)",
			plural.Count(v.inBackgroundOn(p), "eviction"))
	}
	return plan.Reason{Code: plan.EvictionInBackground, Message: why}, why != ""
}

// inBackgroundOn returns the number of evictions in the background from the pod's node.
func (v *Checker) inBackgroundOn(p *cluster.Pod) int {
	if v.background.total == 0 || p.Node == cluster.NoNode {
		return 0
	}
	return v.background.node[v.snapshot.Nodes[p.Node].Name]
}
