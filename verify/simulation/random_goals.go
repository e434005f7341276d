package simulation

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// RandomGoals returns goals of one kind, stated for random pods and workloads of the cluster:
// PodAway, CountAtMost, SkewAtMost or NoLowerRank. Some of the SkewAtMost and CountAtMost goals leave out the
// pods on random nodes. The strategy of the goals has the name of the kind.
func RandomGoals(r *rand.Rand, s *cluster.Snapshot, kind plan.GoalKind) []plan.Goal {
	g := &goalMaker{r, s, kind, randomNodes(r, s, 0.6), randomNodes(r, s, 0.2)}
	switch kind {
	case plan.PodAway:
		return g.aboutPods()
	case plan.NoLowerRank:
		return g.aboutRanks()
	}
	return g.aboutWorkloads()
}

// randomNodes marks nodes with this probability.
func randomNodes(r *rand.Rand, s *cluster.Snapshot, p float64) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range out {
		out[i] = r.Float64() < p
	}
	return out
}

type goalMaker struct {
	r                   *rand.Rand
	s                   *cluster.Snapshot
	kind                plan.GoalKind
	targets, notCounted []bool
}

// aboutPods states a PodAway for about one of six pods.
func (m *goalMaker) aboutPods() (out []plan.Goal) {
	for i := range m.s.Pods {
		p := &m.s.Pods[i]
		if m.r.IntN(6) > 0 || p.Node == cluster.NoNode || p.Terminal || p.Terminating || p.Workload == cluster.NoWorkload ||
			m.s.WorkloadOf(p).Kind == "DaemonSet" {
			continue
		}
		ref := plan.PodRefOf(p)
		g := m.goal(plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID}, []cluster.PodID{p.ID})
		if g.MayReturn = m.r.IntN(2) == 0; m.r.IntN(3) == 0 {
			g.Targets = m.targets
		}
		out = append(out, g)
	}
	return out
}

// aboutRanks states a goal about half of the pods, with three classes.
func (m *goalMaker) aboutRanks() []plan.Goal {
	ranks := &plan.NodeRanks{ClassOf: make([]int32, len(m.s.Pods)), OfClass: make([][]int64, 3)}
	for class := range ranks.OfClass {
		for range m.s.Nodes {
			ranks.OfClass[class] = append(ranks.OfClass[class], []int64{-2, 0, 7, plan.TopRank}[m.r.IntN(4)])
		}
	}
	for i := range m.s.Pods {
		p := &m.s.Pods[i]
		if ranks.ClassOf[i] = m.r.Int32N(3); p.Node == cluster.NoNode || p.Terminal || m.r.IntN(2) == 0 {
			ranks.ClassOf[i] = plan.NoClass
		}
	}
	return []plan.Goal{{Strategy: string(m.kind), Kind: m.kind, Weight: 1, Constraint: true, Ranks: ranks}}
}

// aboutWorkloads states a goal for about one of two workloads.
func (m *goalMaker) aboutWorkloads() (out []plan.Goal) {
	for i := range m.s.Workloads {
		w := &m.s.Workloads[i]
		var pods []cluster.PodID
		for _, id := range w.Pods {
			if p := &m.s.Pods[id]; p.Node != cluster.NoNode && !p.Terminal {
				pods = append(pods, id)
			}
		}
		if m.r.IntN(2) > 0 || len(pods) < 2 || w.Kind == "DaemonSet" {
			continue
		}
		subject := plan.OwnerRefOf(m.s, &m.s.Pods[pods[0]])
		subject.Namespace = w.Namespace
		g := m.goal(subject, pods)
		g.TopologyKey, g.Limit = zoneKey, float64(1+m.r.IntN(2))
		if m.kind == plan.SkewAtMost {
			g.Domains = m.values(zoneKey)
		} else if m.r.IntN(2) == 0 {
			g.TopologyKey = "kubernetes.io/hostname"
		}
		if m.r.IntN(3) == 0 {
			g.NotCounted = m.notCounted
		}
		if m.kind != plan.SkewAtMost || len(g.Domains) > 1 {
			out = append(out, g)
		}
	}
	return out
}

// values returns the values of a label on Ready nodes, sorted.
func (m *goalMaker) values(key string) []string {
	seen := map[string]int{}
	for i := range m.s.Nodes {
		if v, ok := m.s.Nodes[i].Label(key); ok && v != "" && m.s.Nodes[i].Ready {
			seen[v]++
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m *goalMaker) goal(subject plan.ObjectRef, pods []cluster.PodID) plan.Goal {
	return plan.Goal{Strategy: string(m.kind), Kind: m.kind, Subject: subject, Pods: pods, Weight: 1,
		Reason: plan.Reason{Code: plan.ZoneSkewed, Message: "a goal of the test"}}
}
