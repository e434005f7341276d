package state

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// shardCount is the number of parts for namespaced data. The number is part of the storage format,
// because it determines the part that contains a namespace.
const shardCount = 16

// clusterPart is the name of the part for data that belongs to no namespace.
const clusterPart = "cluster"

func partNames() []string {
	out := make([]string, 0, shardCount+1)
	for i := range shardCount {
		out = append(out, fmt.Sprintf("%02d", i))
	}
	return append(out, clusterPart)
}

// ConfigMapNames returns the names of all ConfigMaps that a Store writes.
func ConfigMapNames() []string {
	names := partNames()
	for i := range names {
		names[i] = namePrefix + names[i]
	}
	return names
}

func partOf(namespace string) string {
	if namespace == "" {
		return clusterPart
	}
	h := fnv.New32a()
	h.Write([]byte(namespace))
	return fmt.Sprintf("%02d", h.Sum32()%shardCount)
}

// splitState splits a state by namespace. All data of a namespace is in one part, so that an
// eviction and its reservation are always written together. Each part that contains reservations of
// a run also contains the run. clusterPart contains the runs without reservations. Empty parts are
// left out.
func splitState(st plan.PlannerState) map[string]plan.PlannerState {
	out := map[string]plan.PlannerState{}
	edit := func(name string, f func(p *plan.PlannerState)) {
		p, ok := out[name]
		if !ok {
			p = plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind}
		}
		f(&p)
		out[name] = p
	}
	for budget, until := range st.SpentBudgets {
		namespace, _, _ := strings.Cut(budget, "/")
		edit(partOf(namespace), func(p *plan.PlannerState) { setKey(&p.SpentBudgets, budget, until) })
	}
	for _, e := range st.Evictions {
		edit(partOf(e.Workload.Namespace), func(p *plan.PlannerState) { p.Evictions = append(p.Evictions, e) })
	}
	for _, b := range st.Backoffs {
		edit(partOf(b.Workload.Namespace), func(p *plan.PlannerState) { p.Backoffs = append(p.Backoffs, b) })
	}
	for _, b := range st.Background {
		edit(partOf(b.Workload.Namespace), func(p *plan.PlannerState) { p.Background = append(p.Background, b) })
	}
	for _, run := range st.Runs {
		for name, own := range splitRun(run) {
			edit(name, func(p *plan.PlannerState) { p.Runs = append(p.Runs, own) })
		}
	}
	if st.Breaker != nil || st.Pause != nil || len(st.UnreadyNodes)+len(st.Schedulers)+len(st.Announced)+len(st.StrategyRuns)+len(st.Rebalancer)+len(st.Made) > 0 {
		edit(clusterPart, func(p *plan.PlannerState) {
			p.Breaker, p.UnreadyNodes, p.Schedulers = st.Breaker, st.UnreadyNodes, st.Schedulers
			p.Pause, p.Rebalancer = st.Pause, st.Rebalancer
			p.Announced, p.StrategyRuns, p.Made = st.Announced, st.StrategyRuns, st.Made
		})
	}
	return out
}

func splitRun(run plan.OpenRun) map[string]plan.OpenRun {
	out := map[string]plan.OpenRun{}
	head := run
	head.Reservations = nil
	for _, r := range run.Reservations {
		name := partOf(r.Workload.Namespace)
		own, ok := out[name]
		if !ok {
			own = head
		}
		own.Reservations = append(own.Reservations, r)
		out[name] = own
	}
	if len(out) == 0 {
		out[clusterPart] = head
	}
	return out
}

// mergeParts is the inverse of splitState.
func mergeParts(from map[string]plan.PlannerState) plan.PlannerState {
	st := plan.PlannerState{APIVersion: plan.APIVersion, Kind: plan.PlannerStateKind}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		p := from[name]
		for budget, until := range p.SpentBudgets {
			setKey(&st.SpentBudgets, budget, until)
		}
		st.Evictions = append(st.Evictions, p.Evictions...)
		st.Backoffs = append(st.Backoffs, p.Backoffs...)
		st.Background = append(st.Background, p.Background...)
		for _, run := range p.Runs {
			st.Runs = mergeRun(st.Runs, run)
		}
		if name == clusterPart {
			st.Breaker, st.Pause, st.Rebalancer = p.Breaker, p.Pause, p.Rebalancer
		}
		st.UnreadyNodes = append(st.UnreadyNodes, p.UnreadyNodes...)
		for scheduler, b := range p.Schedulers {
			setKey(&st.Schedulers, scheduler, b)
		}
		st.Announced, st.Made = append(st.Announced, p.Announced...), append(st.Made, p.Made...)
		for strategy, r := range p.StrategyRuns {
			setKey(&st.StrategyRuns, strategy, r)
		}
	}
	st.Sort()
	return st
}

func mergeRun(runs []plan.OpenRun, run plan.OpenRun) []plan.OpenRun {
	i := slices.IndexFunc(runs, func(r plan.OpenRun) bool { return r.RunID == run.RunID })
	if i < 0 {
		run.Reservations = slices.Clone(run.Reservations)
		return append(runs, run)
	}
	runs[i].Reservations = append(runs[i].Reservations, run.Reservations...)
	return runs
}

func setKey[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}
