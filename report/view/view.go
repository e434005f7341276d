// Package view holds what a report for people shows: a plan, and what the plan does not contain.
//
// It decides nothing. A View is made from a plan in memory, or from a stored RebalancePlan, which keeps the extremes.
// It never reads a file, a clock or a client.
package view

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// View is one plan, and for a run what became of it.
type View struct {
	Plan plan.Plan
	Context
	// Run is what happened; nil for a plan that was not executed.
	Run *Run
	// Omitted counts what a stored plan leaves out. It is zero for a plan in memory.
	Omitted Omitted
}

// Context is what a report shows besides the plan.
type Context struct {
	// Snapshot reports that the plan is about a saved snapshot, so no cluster can execute it.
	Snapshot bool
	// Evicts reports that a pass with this configuration evicts.
	Evicts bool
	// NoRelease reports that the cluster has no release, so nothing has installed the kinds of Evenkeel's objects.
	NoRelease bool
	// OtherConfig reports that the release executes plans only with another configuration than that of the plan.
	OtherConfig bool
	// Repeat returns a command with the flags of the command that prints the report. snapshot tells whether it reads
	// the same files. Nil leaves commands as they are.
	Repeat func(command string, snapshot bool) string
	// Name is that of the RebalancePlan; empty for a plan that no cluster stores.
	Name string
	// Mode says who decides about the moves.
	Mode plan.StrategyMode
	// Pods is the number of pods of the cluster; 0 if it is unknown.
	Pods int
	// Targets are the shares of allocatable that strategies want nodes to stay at or below.
	Targets []Target
	// PoolLabel is the node label that names the pool of a node; empty if no label does. Pools has that of each node.
	PoolLabel string
	Pools     map[string]string
	// PerMinute is the number of evictions a minute; 0 if it is unknown. VerifyTimeout is the longest wait for a
	// replacement, without the termination grace period of the evicted pod.
	PerMinute     float64
	VerifyTimeout time.Duration
	// Config is the configuration as YAML without comments and secrets; empty if it is unknown.
	Config string
}

// Target is a share of allocatable, from 0 to 1.
type Target struct {
	Resource string
	Basis    plan.Basis
	Limit    float64
}

// TargetsOf returns the targets for nodes that goals state, by basis and resource. If nodes have different targets, it
// returns that of most nodes.
func TargetsOf(goals []plan.Goal) (out []Target) {
	counts := map[Target]int{}
	for i := range goals {
		if g := &goals[i]; g.Kind == plan.NodeBelow {
			counts[Target{g.Resource, cmp.Or(g.Basis, plan.BasisRequests), g.Limit}]++
		}
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Basis, b.Basis), cmp.Compare(a.Resource, b.Resource), cmp.Compare(counts[b], counts[a]), cmp.Compare(a.Limit, b.Limit))
	})
	return slices.CompactFunc(order, func(a, b Target) bool { return a.Basis == b.Basis && a.Resource == b.Resource })
}

// Run is what happened to a plan.
type Run struct {
	ID                string
	Started, Finished time.Time // Finished is zero while the pass runs
	Mode              plan.Mode
	Outcomes          []plan.Outcome
	Replan            *plan.Plan // the second plan; nil without one
	Stopped           *plan.Reason
	ApprovedBy        string
}

// RunOf returns what happened in a run. The moves of a second plan follow those of the first one.
func RunOf(r *plan.RunReport) *Run {
	out := &Run{ID: r.RunID, Started: r.Started, Finished: r.Finished, Mode: r.Mode, Outcomes: r.Outcomes, Stopped: r.Stopped, Replan: r.Replan}
	if r.Approval != nil {
		out.ApprovedBy = r.Approval.By
	}
	return out
}

// Omitted counts what a stored plan leaves out.
type Omitted struct{ Moves, Goals, Nodes, Workloads int }

// LeftOut counts what the report leaves out: what the stored plan does, and what the filter of the plan does.
func (v *View) LeftOut() Omitted {
	o, p, all := v.Omitted, &v.Plan, v.Plan.Whole()
	o.Moves, o.Goals = o.Moves+len(all.Moves)-len(p.Moves), o.Goals+len(all.Goals)-len(p.Goals)
	o.Nodes, o.Workloads = o.Nodes+len(all.Before.Nodes)-len(p.Before.Nodes), o.Workloads+len(all.Before.Workloads)-len(p.Before.Workloads)
	return o
}
