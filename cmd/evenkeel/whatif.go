package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/impact"
	"github.com/evenkeel-project/evenkeel/internal/heap"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// whatIfFlags describe an imagined change of the nodes.
type whatIfFlags struct{ without, added, zones []string }

func (f *whatIfFlags) addTo(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.without, "without-node", nil, "plan as if this node were gone; repeatable")
	fl.StringArrayVar(&f.added, "add-node", nil, "plan as if the cluster had this many more nodes like this node, such as 3=n1; repeatable")
	fl.StringArrayVar(&f.zones, "zone-down", nil, "plan as if all nodes in this zone were gone; repeatable")
}

// change returns the change that the flags describe.
func (f *whatIfFlags) change() (plan.Change, error) {
	c := plan.Change{Without: f.without, ZonesDown: f.zones}
	for _, text := range f.added {
		count, like, found := strings.Cut(text, "=")
		n, err := strconv.Atoi(count)
		if !found || err != nil || n < 1 || like == "" {
			return c, fmt.Errorf("--add-node: %q cannot be read (want NUMBER=NODE, such as 3=n1)", text)
		}
		c.Added = append(c.Added, plan.AddedNodes{Count: n, Like: like})
	}
	return c, nil
}

// unlimited are the limits of plans for advice: several passes may share the moves.
var unlimited = limits.Options{PerPass: plan.Unlimited(), PerNode: plan.Unlimited(), PerNamespace: plan.Unlimited(), PerOwner: plan.Unlimited(),
	PerZone: plan.Unlimited(), PerHour: limits.PerHour{Owner: plan.Unlimited(), Namespace: plan.Unlimited(), Cluster: plan.Unlimited()}}

// plan makes the plan for the input.
func (in *planningInput) plan() plan.Plan {
	defer heap.Planning(in.options.Limits.PerPass.For(len(in.snapshot.Pods)))()
	return in.planner.Plan(in.snapshot, in.state, in.goals, in.snapshot.TakenAt)
}

// advisor returns an advisor that makes at most so many plans, within limits.maxPlanTime.
func (in *planningInput) advisor(p plan.Plan, maxPlans int) *impact.Advisor {
	opts := in.options
	opts.Limits, opts.WindowLimits, opts.SamplesPerCode = unlimited, nil, -1
	again := planner.New(opts)
	return &impact.Advisor{Input: impact.Input{Snapshot: in.snapshot, State: in.state, Options: &in.options, Plan: p, Now: in.snapshot.TakenAt}, MaxPlans: maxPlans,
		Replan: func(s *cluster.Snapshot) (plan.Plan, bool) {
			s, goals, err := in.stateGoals(s)
			if err != nil {
				return plan.Plan{}, false
			}
			defer heap.Planning(len(s.Pods))()
			p := again.Plan(s, in.state, goals, s.TakenAt)
			return p, !s.Work.Stopped()
		}}
}

// imagine applies the change to the snapshot. If a due strategy reads usage, the usage of the pods that need another
// node must be measured.
func (in *planningInput) imagine(s *cluster.Snapshot, change plan.Change) (*cluster.Snapshot, error) {
	after, whatIf, err := impact.Apply(s, in.options.Placement, in.options.Guards.Scope.Marks, change)
	if err != nil {
		return nil, fmt.Errorf("imagining the change: %w", err)
	}
	for _, st := range in.strategies {
		needs := &st.Strategy.Usage
		if !needs.Required || !slices.Contains(in.due, st.Name) {
			continue
		}
		if why := impact.WithoutUsage(s, in.options.Guards.Scope.Usage, needs.Resources, whatIf); why != nil {
			return nil, fmt.Errorf("strategy %s plans by measured usage, but %s (%s); leave the strategy out with --strategy, or set load.source", st.Name, why.Message, why.Code)
		}
	}
	in.whatIf = &whatIf
	return after, nil
}
