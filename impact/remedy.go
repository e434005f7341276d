package impact

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// zoneSet has a byte for each zone of the measurement: 1 if the set contains the zone.
type zoneSet string

func (s zoneSet) zones() (n int) {
	for i := range s {
		n += int(s[i])
	}
	return n
}

func (s zoneSet) union(o zoneSet) zoneSet {
	out := []byte(s)
	for i := range out {
		out[i] |= o[i]
	}
	return zoneSet(out)
}

func (s zoneSet) within(o zoneSet) bool { return s.union(o) == o }

// reachOf returns the zones with a node that could run the replacement of the pod if the node were empty.
func (m *measure) reachOf(id cluster.PodID) zoneSet {
	class := m.model.Cluster.ClassNumber(id)
	if reach, known := m.reach[class]; known {
		return reach
	}
	reach, could := make([]byte, len(m.zones)), m.model.CouldRun(id)
	for n := range m.Snapshot.Nodes {
		if z, has := slices.BinarySearch(m.zones, m.zoneOf[n]); has && reach[z] == 0 && could(cluster.NodeID(n), &cluster.Resources{}, 0) {
			reach[z] = 1
		}
	}
	m.reach[class] = zoneSet(reach)
	return zoneSet(reach)
}

// reachable counts pods by the zones in which evictions could bring them. A pod that must not be evicted, or whose
// replacement cannot be predicted, stays in its zone; the reason of the first such pod is returned. movable are the
// zones that the movable pods reach.
func (m *measure) reachable(pods []cluster.PodID) (counts map[zoneSet]int, movable zoneSet, stays *plan.Reason) {
	counts, movable = map[zoneSet]int{}, zoneSet(make([]byte, len(m.zones)))
	for _, id := range pods {
		why, refused := m.eligible.Refuse(id)
		if text, ok := m.model.Supported(id); !refused && !ok {
			why, refused = plan.Reason{Code: plan.PlacementUnknown, Message: text}, true
		}
		if !refused {
			movable = movable.union(m.reachOf(id))
			counts[m.reachOf(id)]++
			continue
		}
		if stays == nil {
			stays = &why
		}
		own := make([]byte, len(m.zones))
		if z, has := slices.BinarySearch(m.zones, m.zoneOf[m.Snapshot.Pods[id].Node]); has {
			own[z] = 1
		}
		counts[zoneSet(own)]++
	}
	return counts, movable, stays
}

// maxUnions bounds the sets of zones that fullest examines. Workloads need more only if their pods have many different
// node selectors. The result is then a lower bound.
const maxUnions = 256

// fullest returns the least possible number of pods in the fullest zone. By Hall's theorem, a set of zones must take
// all pods that can run only there, and the sets that matter are unions of the zones of pods.
func fullest(counts map[zoneSet]int) (most int) {
	var sets []zoneSet
	for s := range counts {
		sets = append(sets, s)
	}
	slices.Sort(sets)
	for i := 0; i < len(sets) && len(sets) < maxUnions; i++ {
		for j := range sets[:i] {
			if u := sets[i].union(sets[j]); !slices.Contains(sets, u) {
				sets = append(sets, u)
			}
		}
	}
	for _, s := range sets {
		n := 0
		for of, pods := range counts {
			if of.within(s) {
				n += pods
			}
		}
		if zones := s.zones(); zones > 0 {
			most = max(most, (n+zones-1)/zones)
		}
	}
	return most
}

// addRemedy adds the best spread that evictions could reach, and what brings the workload to the category that it
// should have: 4 if its zone-slo says so or it is in category 3, and otherwise 3. Without measured usage, it is 3.
func (m *measure) addRemedy(w *plan.WorkloadImpact, pods []cluster.PodID, u float64, known bool) {
	want := 3
	if known && (w.ZoneSLO == 4 || w.Category.Category == 3) {
		want = 4
	}
	counts, movable, stays := m.reachable(pods)
	w.BestInFullest = fullest(counts)
	w.BestSpread = m.effect(len(pods), w.BestInFullest, u, known)
	w.Remedy = plan.Remedy{Category: want}
	switch {
	case len(pods) == 0:
		w.Remedy.Kind = plan.RemedyRoom
	case w.SLO == plan.SLOUnknown:
		w.Remedy = plan.Remedy{Kind: plan.RemedyUsage, Category: w.ZoneSLO}
	case w.Category.Category >= want:
		w.Remedy = plan.Remedy{Kind: plan.RemedyNone}
	case w.AfterPlan.Category >= want:
		w.Remedy.Kind = plan.RemedyPlan
	case w.BestSpread.Category >= want:
		w.Remedy.Kind, w.Remedy.Reason = plan.RemedyEviction, m.unmetReason(w)
	default:
		m.addReplicas(&w.Remedy, pods, movable, stays, u, known)
		if w.Remedy.Kind == plan.RemedyReplicas && w.Remedy.Replicas <= w.Replicas+w.Pending {
			w.Remedy = plan.Remedy{Kind: plan.RemedyRoom, Category: want} // the workload has these replicas, without a node
		}
	}
}

// unmetReason returns why the plan does not reach a spread that evictions could reach. It is nil if the plan does not
// say.
func (m *measure) unmetReason(w *plan.WorkloadImpact) *plan.Reason {
	about := func(of plan.ObjectRef) bool {
		return of.Namespace == w.Namespace && of.Kind == w.Kind && of.Name == w.Name
	}
	for i := range m.Plan.Goals {
		g := &m.Plan.Goals[i]
		if !about(g.Subject) || m.Plan.After.Excess[g.ID] <= 0 {
			continue
		}
		for _, unmet := range m.Plan.Bound.UnmetGoals {
			if unmet.Goal == g.ID {
				code := mostFrequent(unmet.Rejections)
				return &plan.Reason{Code: code, Message: cmp.Or(code.Meaning(), unmet.Detail)}
			}
		}
	}
	for i := range m.Plan.Rejections.Samples {
		r := &m.Plan.Rejections.Samples[i]
		if p := m.Snapshot.PodByUID(r.Pod.UID); p != nil && p.Workload != cluster.NoWorkload && m.Snapshot.WorkloadOf(p) == m.workloads[workloadKey{w.Namespace, w.Kind, w.Name}] {
			return &r.Reason
		}
	}
	return nil
}

func mostFrequent(counts map[plan.Code]int) (most plan.Code) {
	for code, n := range counts {
		if n > counts[most] || n == counts[most] && code < most {
			most = code
		}
	}
	return most
}

// maxReplicas bounds the number of replicas that an advice names, as a multiple of the present number.
const maxReplicas = 20

// addReplicas adds the least number of replicas with which an even spread brings the category. The work stays the same,
// so the utilization falls. Replicas that must not be evicted stay where they are.
func (m *measure) addReplicas(r *plan.Remedy, pods []cluster.PodID, movable zoneSet, stays *plan.Reason, u float64, known bool) {
	reach := movable
	if reach.zones() == 0 { // no replica may move, but further ones may land elsewhere
		reach = m.reachOf(pods[0])
	}
	if reach.zones() < 2 {
		r.Kind, r.Reason = plan.RemedyZones, &plan.Reason{Code: plan.NoTargetFits, Message: fmt.Sprintf("its pods can run in %d of %d zones", reach.zones(), len(m.zones))}
		return
	}
	counts, _, _ := m.reachable(pods)
	for n := len(pods) + 1; n <= maxReplicas*len(pods); n++ {
		counts[reach]++
		if m.effect(n, fullest(counts), u*float64(len(pods))/float64(n), known).Category >= r.Category {
			r.Kind, r.Replicas, r.Zones, r.Reason = plan.RemedyReplicas, n, reach.zones(), stays
			return
		}
	}
	r.Kind, r.Reason = plan.RemedyZones, stays
}
