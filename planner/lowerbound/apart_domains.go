package lowerbound

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// apartGroup is the pods of one workload with the same required anti-affinity, one term of which selects all of them.
// Each of them keeps the others out of its domain.
type apartGroup struct {
	key      string
	pods     map[cluster.PodID]string // the domain of each pod
	byDomain map[string]*crowd
	able     []cluster.PodID // the pods in conflict that may leave
}

// crowd is the pods of a group in one domain.
type crowd struct {
	pods, able, conflicts int
	degree                map[cluster.PodID]int // conflicts of each pod
}

// leastTogether returns a lower bound on the conflicts of the goal that remain because the cluster has too few domains,
// and on the evictions that end the others.
//
// Proof for one group: the scheduler places a replacement only in a domain without a pod of the
// group. So each domain holds either pods that stay, or one replacement. Let E be the number of
// domains that are empty of the group at the start and that the group can enter. If c pods of a
// domain stay in part, one of them at least may stay for free: to move all c needs as many other
// domains as to move c-1 and keep the last. So at most E pods leave domains with conflicts. The pod
// that leaves a domain as the i-th ends at most as many conflicts as pods remain in it, and at most
// as many as the pod with the most.
func leastTogether(p *proof, g *plan.Goal) (left, evictions int) {
	for _, group := range apartGroups(p, g) {
		gains, conflicts := group.gains()
		places, known := emptyDomains(p, group, len(gains))
		if !known {
			continue
		}
		gains = gains[:min(places, len(gains))]
		for _, ended := range gains {
			conflicts -= ended
		}
		left += conflicts
		evictions = max(evictions, len(gains))
	}
	return left, evictions
}

// apartGroups returns the groups with conflicts of the goal.
func apartGroups(p *proof, g *plan.Goal) (groups []*apartGroup) {
	skipped := map[string]bool{} // topology keys of terms without a group
	for _, c := range g.Conflicts {
		if p.result.Snapshot.Pods[c.Pods[0]].Workload != p.result.Snapshot.Pods[c.Pods[1]].Workload {
			continue
		}
		at := slices.IndexFunc(groups, func(x *apartGroup) bool { return x.key == c.TopologyKey && x.has(c.Pods[0]) })
		if at < 0 && !skipped[c.TopologyKey] {
			if x := newApartGroup(p, c.Pods[0], c.TopologyKey); x != nil {
				at = len(groups)
				groups = append(groups, x)
			} else {
				skipped[c.TopologyKey] = true
			}
		}
		if at >= 0 {
			addConflict(p, groups[at], c.Pods)
		}
	}
	return groups
}

func (x *apartGroup) has(pod cluster.PodID) bool { _, is := x.pods[pod]; return is }

// addConflict counts a conflict whose pods belong to the group and are in the same domain.
func addConflict(p *proof, x *apartGroup, pods [2]cluster.PodID) {
	domain, is := x.pods[pods[0]]
	if other, both := x.pods[pods[1]]; !is || !both || other != domain {
		return
	}
	c := x.byDomain[domain]
	c.conflicts++
	for _, pod := range pods {
		if c.degree[pod]++; c.degree[pod] == 1 && p.canLeaveForGood(pod) {
			c.able++
			x.able = append(x.able, pod)
		}
	}
}

// newApartGroup returns the group of the pod, or nil if the pod has none. It returns nil as well if a pod of the group
// may leave without a place, or has moved before the start.
func newApartGroup(p *proof, first cluster.PodID, key string) *apartGroup {
	s, pod := p.result.Snapshot, &p.result.Snapshot.Pods[first]
	if pod.Workload == cluster.NoWorkload || p.result.End.Model.Cluster.PodClass[first].Profile.Disabled[scheduler.InterPodAffinity] {
		return nil
	}
	term := selfTerm(s, pod.Object, key)
	if term == nil {
		return nil
	}
	x := &apartGroup{key: key, pods: map[cluster.PodID]string{}, byDomain: map[string]*crowd{}}
	for _, id := range s.Workloads[pod.Workload].Pods {
		o := s.Pods[id].Object
		if s.Pods[id].Node == cluster.NoNode || s.Pods[id].Terminating || s.Pods[id].Terminal ||
			!term.Selector.Matches(labels.Set(o.Labels)) || !sameAntiAffinity(o, pod.Object) {
			continue
		}
		if p.reach.movedEarlier[id] || p.reach.needNoPlace[id] {
			return nil
		}
		if domain, ok := s.Nodes[s.Pods[id].Node].Label(key); ok {
			x.pods[id] = domain
			if x.byDomain[domain] == nil {
				x.byDomain[domain] = &crowd{degree: map[cluster.PodID]int{}}
			}
			x.byDomain[domain].pods++
		}
	}
	return x
}

// selfTerm returns the first required anti-affinity term of the pod with this topology key that selects the pod itself,
// or nil.
func selfTerm(s *cluster.Snapshot, p *corev1.Pod, key string) *model.AffinityTerm {
	terms, err := model.ReadTerms(p.Namespace, p.Spec.Affinity)
	if err != nil {
		return nil
	}
	var l map[string]string
	if ns := s.Namespace(p.Namespace); ns != nil {
		l = ns.Labels
	}
	at := slices.IndexFunc(terms.Anti, func(t model.AffinityTerm) bool {
		return t.Key == key && t.SelectsNamespace(p.Namespace, l) && t.Selector.Matches(labels.Set(p.Labels))
	})
	if at < 0 {
		return nil
	}
	return &terms.Anti[at]
}

func sameAntiAffinity(a, b *corev1.Pod) bool {
	return a.Spec.Affinity == b.Spec.Affinity || a.Spec.Affinity != nil && b.Spec.Affinity != nil &&
		reflect.DeepEqual(a.Spec.Affinity.PodAntiAffinity, b.Spec.Affinity.PodAntiAffinity)
}

// gains returns the most conflicts that each eviction can end, in descending order, and the number of all conflicts.
func (x *apartGroup) gains() (gains []int, conflicts int) {
	for _, c := range x.byDomain {
		most, rest := 0, c.conflicts
		for _, n := range c.degree {
			most = max(most, n)
		}
		for i := 1; i <= c.able && rest > 0; i++ {
			ended := min(most, c.pods-i, rest)
			if ended == 0 {
				break
			}
			gains = append(gains, ended)
			rest -= ended
		}
		conflicts += c.conflicts
	}
	slices.SortFunc(gains, func(a, b int) int { return b - a })
	return gains, conflicts
}

// emptyDomains counts the domains without a pod of the group that a pod in conflict can enter. It stops at enough. The
// result is false if such a pod can run on a node without the topology key, where it conflicts with no pod.
func emptyDomains(p *proof, x *apartGroup, enough int) (places int, known bool) {
	entered, keyless := map[string]bool{}, false
	for _, pod := range oneOfEachClass(p.result, x.able) {
		could, may := p.reach.couldRun(pod), p.result.End.MayTake(pod)
		for _, n := range p.reach.all {
			domain, ok := p.result.Snapshot.Nodes[n].Label(x.key)
			if x.byDomain[domain] != nil && ok || entered[domain] && ok || !may[n] || !p.reach.couldHold(pod, n, could) {
				continue
			}
			if keyless = keyless || !ok; ok {
				entered[domain] = true
			}
			if keyless || len(entered) >= enough {
				return len(entered), !keyless
			}
		}
	}
	return len(entered), true
}

// oneOfEachClass returns one of the pods for each equivalence class, and all pods without a class.
func oneOfEachClass(c *search.Result, pods []cluster.PodID) (out []cluster.PodID) {
	seen := map[int]bool{}
	for _, pod := range pods {
		if class := c.End.ClassOf(pod); class < 0 || !seen[class] {
			seen[class] = true
			out = append(out, pod)
		}
	}
	return out
}
