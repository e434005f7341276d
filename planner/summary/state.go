package summary

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// reported lists the resources shown in node states.
var reported = []string{"cpu", "memory"}

// describeStates describes the cluster before and after the moves. Nodes and workloads that the moves do not change are
// described once, so both states may share their maps, which are read-only.
func describeStates(c *search.Result) (before, after plan.State) {
	start, changed := c.Problem.NoMoves(), newChanges(c)
	before, after = describeTotals(start), describeTotals(c)
	for i := range c.Snapshot.Nodes {
		was := nodeState(start, &c.Snapshot.Nodes[i])
		is := was
		if changed.nodes[i] {
			is = nodeState(c, &c.Snapshot.Nodes[i])
		}
		before.Nodes, after.Nodes = append(before.Nodes, was), append(after.Nodes, is)
	}
	addUsage(start, &before)
	addUsage(c, &after)
	addWorkloads(start, c, changed.workloads, &before, &after)
	return before, after
}

// changes marks the nodes and the workloads of the moves of a search.
type changes struct{ nodes, workloads []bool }

func newChanges(c *search.Result) changes {
	x := changes{make([]bool, len(c.Snapshot.Nodes)), make([]bool, len(c.Snapshot.Workloads))}
	for i := range c.Moves {
		for _, n := range [...]cluster.NodeID{c.Moves[i].From, c.Moves[i].Landing.To} {
			if n != cluster.NoNode {
				x.nodes[n] = true
			}
		}
		if w := c.Snapshot.Pods[c.Moves[i].Pod].Workload; w != cluster.NoWorkload {
			x.workloads[w] = true
		}
	}
	return x
}

// describeTotals describes the cluster after the moves without its nodes and workloads.
func describeTotals(c *search.Result) plan.State {
	st := plan.State{
		Nodes:       make([]plan.NodeState, 0, len(c.Snapshot.Nodes)),
		Utilization: map[string]plan.Distribution{},
		Excess:      map[string]float64{},
		Workloads:   make([]plan.WorkloadState, 0, len(c.Snapshot.Workloads)),
	}
	for _, r := range reported {
		st.Utilization[r] = requestDistribution(c, r)
	}
	for i := range c.End.Goals.Goals {
		if g := &c.End.Goals.Goals[i]; g.ID != "" && g.Kind != plan.PodAway { // of these, addGoals adds those that the plan lists
			st.Excess[g.ID] = c.End.Goals.ReportedExcess(i)
		}
	}
	return st
}

func nodeState(c *search.Result, n *cluster.Node) plan.NodeState {
	st := plan.NodeState{Name: n.Name, Zone: c.Account.Limits.Zones[n.ID], Requested: map[string]float64{}}
	for _, r := range reported {
		if total := n.Allocatable.Get(r); total > 0 {
			st.Requested[r] = plan.Round(float64(requestedAfter(c, n, r)) / float64(total))
		}
	}
	return st
}

// requestedAfter returns the requests on the node after the moves, without those of pods that leave by themselves.
func requestedAfter(c *search.Result, n *cluster.Node, resource string) int64 {
	all := c.End.Model.Cluster.Requested(n.ID)
	return all.Get(resource) - n.Leaving.Get(resource)
}

// requestDistribution summarises the requested fractions of nodes. The mean is the total of requests divided by the
// total of allocatable. The standard deviation is computed around this mean.
func requestDistribution(c *search.Result, resource string) plan.Distribution {
	var used, total float64
	fracs := []float64{}
	for i := range c.Snapshot.Nodes {
		if t := float64(c.Snapshot.Nodes[i].Allocatable.Get(resource)); t > 0 {
			u := float64(requestedAfter(c, &c.Snapshot.Nodes[i], resource))
			used, total = used+u, total+t
			fracs = append(fracs, u/t)
		}
	}
	if total == 0 {
		return plan.Distribution{}
	}
	return newDistribution(fracs, used/total)
}

// Blocks returns the reasons that block all evictions now: a pause or an open breaker.
func Blocks(c *search.Result) []plan.EvictionBlock {
	var out []plan.EvictionBlock
	if c.Problem.PlannerState.Pause.ActiveAt(c.Problem.Now) {
		out = append(out, c.Problem.PlannerState.Pause.Block())
	}
	if t := c.Problem.PlannerState.Breaker; t != nil {
		if r := c.Options.Breaker.StaysOpen(t, c.Snapshot, c.Problem.PlannerState.UnreadyNodes, c.Problem.Now); r != nil {
			out = append(out, plan.EvictionBlock{Reason: *r, Since: t.At, Until: t.Until})
		}
	}
	return out
}

// noZone is the zone of nodes without a zone label.
const noZone = ""

// addWorkloads adds every workload with bound pods to the states before and after the moves, with its pods by zone and
// its failure category. Workloads whose pods belong to their nodes are left out.
func addWorkloads(start, end *search.Result, changed []bool, before, after *plan.State) {
	zones := map[string]bool{}
	for _, z := range end.Account.Limits.Zones {
		if z != noZone {
			zones[z] = true
		}
	}
	busy := plan.NewWorkloadUtilization(end.Snapshot, end.Options.Guards.Scope)
	var pods []cluster.PodID // reused
	for i := range end.Snapshot.Workloads {
		w := &end.Snapshot.Workloads[i]
		if w.BelongsToNodes(end.Snapshot) {
			continue
		}
		var st plan.WorkloadState
		if st, pods = workloadState(start, w, zones, busy, pods[:0]); len(pods) > 0 {
			before.Workloads = append(before.Workloads, st)
		}
		if changed[i] {
			st, pods = workloadState(end, w, zones, busy, pods[:0])
		}
		if len(pods) > 0 {
			after.Workloads = append(after.Workloads, st)
		}
	}
}

// workloadState describes one workload, and appends its bound pods.
func workloadState(c *search.Result, w *cluster.Workload, zones map[string]bool, busy plan.WorkloadUtilization,
	pods []cluster.PodID) (plan.WorkloadState, []cluster.PodID) {
	st := plan.WorkloadState{Namespace: w.Namespace, Kind: w.Kind, Name: w.Name, Zones: map[string]int{}}
	for z := range zones {
		st.Zones[z] = 0
	}
	most := 0
	for _, id := range w.Pods {
		n := c.End.Model.Cluster.NodeOf(id)
		if n == cluster.NoNode || c.Snapshot.Pods[id].Terminating {
			continue
		}
		z := c.Account.Limits.Zones[n]
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
	return st, pods
}
