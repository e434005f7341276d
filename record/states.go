package record

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// states returns the cluster before and after a plan, with the same nodes and workloads in both.
func states(p *plan.Plan, most int) (before, after v1alpha1.ClusterState) {
	nodes, workloads := keptNodes(p, most), keptWorkloads(p, most)
	before, after = state(&p.Before, nodes, workloads), state(&p.After, nodes, workloads)
	if b, a, known := p.Balance(); known {
		now, then := perMille(b.Score()/100), perMille(a.Score()/100)
		before.ScorePerMille, after.ScorePerMille = &now, &then
	}
	return before, after
}

func state(s *plan.State, nodes, workloads map[string]bool) v1alpha1.ClusterState {
	out := v1alpha1.ClusterState{Utilization: distributions(s.Utilization), Used: distributions(s.Used), Zones: zones(s.Nodes)}
	for _, n := range s.Nodes {
		if nodes[n.Name] {
			out.Nodes = append(out.Nodes, v1alpha1.NodeState{Name: n.Name, Zone: cut(n.Zone, maxName), RequestedPerMille: perMilleOf(n.Requested),
				UsedPerMille: perMilleOf(n.Used)})
		}
	}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if !workloads[workloadKey(w)] {
			continue
		}
		o := v1alpha1.WorkloadState{Workload: v1alpha1.ObjectReference{Kind: word(w.Kind), Namespace: word(w.Namespace), Name: cut(w.Name, maxName)},
			Skew: int32(w.Skew), FailureCategory: int32(w.FailureCategory), Uncertain: !w.CategoryCertain}
		for _, zone := range sortedKeys(w.Zones)[:min(len(w.Zones), maxList)] {
			if o.Zones == nil {
				o.Zones = map[string]int32{}
			}
			o.Zones[zone] = int32(w.Zones[zone])
		}
		out.Workloads = append(out.Workloads, o)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func distributions(all map[string]plan.Distribution) (out []v1alpha1.Distribution) {
	for _, r := range sortedKeys(all)[:min(len(all), maxResources)] {
		d := all[r]
		out = append(out, v1alpha1.Distribution{Resource: r, MaxPerMille: perMille(d.Max), MeanPerMille: perMille(d.Mean),
			StdDevPerMille: perMille(d.StdDev)})
	}
	return out
}

// zones groups nodes by zone. A plan has no sizes of nodes, so each node has the same weight in the mean.
func zones(nodes []plan.NodeState) (out []v1alpha1.Zone) {
	type sum struct {
		max, total float64
		nodes      int
	}
	counts, sums := map[string]int{}, map[string]map[string]sum{}
	for _, n := range nodes {
		if n.Zone == "" {
			continue
		}
		if counts[n.Zone]++; sums[n.Zone] == nil {
			sums[n.Zone] = map[string]sum{}
		}
		for r, x := range n.Requested {
			s := sums[n.Zone][r]
			sums[n.Zone][r] = sum{max(s.max, x), s.total + x, s.nodes + 1}
		}
	}
	for _, name := range sortedKeys(counts)[:min(len(counts), maxStates)] {
		z := v1alpha1.Zone{Name: cut(name, maxName), Nodes: int32(counts[name])}
		for _, r := range sortedKeys(sums[name])[:min(len(sums[name]), maxResources)] {
			s := sums[name][r]
			z.Utilization = append(z.Utilization, v1alpha1.Distribution{Resource: r, MaxPerMille: perMille(s.max),
				MeanPerMille: perMille(s.total / float64(s.nodes))})
		}
		out = append(out, z)
	}
	return out
}

// keptNodes returns the nodes of the moves, and then those farthest from the mean in any resource.
func keptNodes(p *plan.Plan, most int) map[string]bool {
	kept := map[string]bool{}
	for _, m := range p.Moves {
		for _, n := range []string{m.From, m.To} {
			if n != "" && len(kept) < most {
				kept[n] = true
			}
		}
	}
	far := func(n plan.NodeState) (d float64) {
		for r, x := range n.Requested {
			d = max(d, math.Abs(x-p.Before.Utilization[r].Mean))
		}
		for r, x := range n.Used {
			d = max(d, math.Abs(x-p.Before.Used[r].Mean))
		}
		return d
	}
	order := slices.Clone(p.Before.Nodes)
	slices.SortStableFunc(order, func(a, b plan.NodeState) int {
		return cmp.Or(cmp.Compare(far(b), far(a)), strings.Compare(a.Name, b.Name))
	})
	for _, n := range order {
		if len(kept) >= most {
			break
		}
		kept[n.Name] = true
	}
	return kept
}

func workloadKey(w *plan.WorkloadState) string { return w.Namespace + "/" + w.Kind + "/" + w.Name }

// keptWorkloads returns the workloads of the moves, and then those that the loss of a zone hits worst.
func keptWorkloads(p *plan.Plan, most int) map[string]bool {
	moved := map[string]bool{}
	for _, m := range p.Moves {
		moved[m.Pod.Namespace+"/"+m.Owner.Kind+"/"+m.Owner.Name] = true
	}
	order := make([]*plan.WorkloadState, 0, len(p.Before.Workloads))
	for i := range p.Before.Workloads {
		order = append(order, &p.Before.Workloads[i])
	}
	slices.SortStableFunc(order, func(a, b *plan.WorkloadState) int {
		return cmp.Or(compareBool(moved[workloadKey(b)], moved[workloadKey(a)]), cmp.Compare(a.FailureCategory, b.FailureCategory),
			cmp.Compare(b.Skew, a.Skew), strings.Compare(workloadKey(a), workloadKey(b)))
	})
	kept := map[string]bool{}
	for _, w := range order[:min(len(order), most)] {
		kept[workloadKey(w)] = true
	}
	return kept
}
