package eligibility

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// backgroundCount counts the evictions that are in flight already: those of earlier passes that have not ended, and
// those of other programs.
type backgroundCount struct {
	total    int
	node     map[string]int
	workload map[plan.ObjectRef]string // says which eviction of the workload is in flight
}

func countBackground(st plan.PlannerState, s *cluster.Snapshot, requests *annotation.Cache, now time.Time) backgroundCount {
	c := backgroundCount{node: map[string]int{}, workload: map[plan.ObjectRef]string{}}
	add := func(workload plan.ObjectRef, node, what string) {
		c.total++
		c.node[node]++
		c.workload[workload] = what
	}
	counted := map[string]bool{}
	for _, b := range history.ActiveBackground(st, s, now) {
		counted[b.Pod.UID] = true
		what := "the eviction of %s, of the same %s, continues in the background since %s, until %s at most"
		if b.AwaitsReplacement {
			what = "%s, of the same %s, was evicted or may have been, and no pass has seen its replacement Ready since %s; " +
				"it counts as in flight until %s at most"
		}
		add(b.Workload, b.From, fmt.Sprintf(what, b.Pod, b.Workload.Kind, b.Since.UTC().Format(time.RFC3339), b.Until.UTC().Format(time.RFC3339)))
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Terminal || p.Node == cluster.NoNode || !requests.IsBeingEvicted(s, p) || counted[string(p.Object.UID)] {
			continue
		}
		w := history.WorkloadOfPod(s, p)
		add(w, s.Nodes[p.Node].Name, fmt.Sprintf("another program evicts %s, of the same %s (%s on the pod)",
			plan.PodRefOf(p), w.Kind, annotation.DeschedulerEvictionInProgress))
	}
	return c
}

// inBackground returns the reason if evictions that are in flight already forbid an eviction of the
// pod: one of the same workload, or as many as the in-flight limits allow.
func (v *Checker) inBackground(p *cluster.Pod) (plan.Reason, bool) {
	if q := otherPodOfOwner(v.snapshot, p); q != nil {
		return plan.Reason{Code: plan.EvictionInBackground, Message: fmt.Sprintf("%s, of the same %s, runs too, so the %s is moving between them",
			plan.PodRefOf(q), p.Controller.Kind, p.Controller.Kind)}, true
	}
	c := &v.background
	if c.total == 0 {
		return plan.Reason{}, false
	}
	limits, why := v.options.InFlight, ""
	what, same := c.workload[history.WorkloadOfPod(v.snapshot, p)]
	switch {
	case same:
		why = what
	case c.total >= limits.Total:
		why = fmt.Sprintf("%s in flight already, as many as may be (evictor.inFlight.total)", plural.Count(c.total, "eviction"))
	case v.inBackgroundOn(p) >= limits.PerNode:
		why = fmt.Sprintf("%s from its node in flight already, as many as may be (evictor.inFlight.perNode)",
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
