package summary

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// noZone is the zone of nodes without a zone label.
const noZone = ""

// workloadStates returns every workload with bound pods, with its pods by zone and its failure category.
// DaemonSets and static pods are left out.
func workloadStates(c *search.Search) []plan.WorkloadState {
	zones := map[string]bool{}
	for _, z := range c.Limits.Zones {
		if z != noZone {
			zones[z] = true
		}
	}
	out, busy := []plan.WorkloadState{}, plan.NewWorkloadUtilization(c.Snapshot, c.Options.Guards.Scope)
	for i := range c.Snapshot.Workloads {
		w := &c.Snapshot.Workloads[i]
		if w.Kind == "DaemonSet" || w.Kind == "Node" {
			continue
		}
		if st, ok := workloadState(c, w, zones, busy); ok {
			out = append(out, st)
		}
	}
	return out
}

func workloadState(c *search.Search, w *cluster.Workload, zones map[string]bool, busy plan.WorkloadUtilization) (plan.WorkloadState, bool) {
	st := plan.WorkloadState{Namespace: w.Namespace, Kind: w.Kind, Name: w.Name, Zones: map[string]int{}}
	for z := range zones {
		st.Zones[z] = 0
	}
	pods, most := make([]cluster.PodID, 0, len(w.Pods)), 0
	for _, id := range w.Pods {
		n := c.Model.NodeOf(id)
		if n == cluster.NoNode || c.Snapshot.Pods[id].Terminating {
			continue
		}
		z := c.Limits.Zones[n]
		st.Zones[z]++
		pods = append(pods, id)
		most = max(most, st.Zones[z])
	}
	least := most
	for _, n := range st.Zones {
		least = min(least, n)
	}
	st.Skew = most - least
	st.FailureCategory, st.CategoryCertain = busy.Category(pods, most)
	if st.Zones[noZone] > 0 {
		st.FailureCategory, st.CategoryCertain = min(st.FailureCategory, 3), false
	}
	return st, len(pods) > 0
}
