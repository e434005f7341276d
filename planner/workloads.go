package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// noZone stands for nodes without a zone label.
const noZone = ""

// workloads shows every workload that has bound pods, except those that run one
// pod per node, by zone and with its failure category.
func (c *search) workloads() []plan.WorkloadState {
	zones := map[string]bool{}
	for _, z := range c.limits.zone {
		if z != noZone {
			zones[z] = true
		}
	}
	out := []plan.WorkloadState{}
	for i := range c.s.Workloads {
		w := &c.s.Workloads[i]
		if w.Kind == "DaemonSet" || w.Kind == "Node" {
			continue
		}
		if st, ok := c.workload(w, zones); ok {
			out = append(out, st)
		}
	}
	return out
}

func (c *search) workload(w *cluster.Workload, zones map[string]bool) (plan.WorkloadState, bool) {
	st := plan.WorkloadState{Namespace: w.Namespace, Kind: w.Kind, Name: w.Name, Zones: map[string]int{}}
	for z := range zones {
		st.Zones[z] = 0
	}
	total, most := 0, 0
	for _, id := range w.Pods {
		n := c.world.NodeOf(id)
		if n == cluster.NoNode || c.s.Pods[id].Terminating {
			continue
		}
		z := c.limits.zone[n]
		st.Zones[z]++
		total++
		most = max(most, st.Zones[z])
	}
	least := most
	for _, n := range st.Zones {
		least = min(least, n)
	}
	st.Skew = most - least
	st.FailureCategory, st.CategoryCertain = failureCategory(total, most)
	if st.Zones[noZone] > 0 {
		st.CategoryCertain = false
	}
	return st, total > 0
}

// failureCategory is what a workload suffers when its worst zone fails: 1 all
// replicas lost, 2 more than half lost, 3 fewer lost but the survivors pushed
// over the utilization limit, 4 otherwise. Without measured usage 3 and 4
// cannot be told apart: 3, not certain.
func failureCategory(total, lost int) (category int, certain bool) {
	switch {
	case lost == total:
		return 1, true
	case 2*lost > total:
		return 2, true
	}
	return 3, false
}
