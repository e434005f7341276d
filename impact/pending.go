package impact

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// pending judges the pods without a node.
type pending struct {
	snapshot *cluster.Snapshot
	model    *placement.ClusterModel
	// emptiest is the cluster without the pods that may leave before all pods are placed: those that terminate, and
	// those that any of the pods may preempt, because the room may be for another one.
	emptiest *placement.ClusterModel
	byClass  map[int]*classFit
	pods     []cluster.PodID // those whose placement is supported
	reasons  map[cluster.PodID]plan.Reason
}

// classFit is what holds for all pods of an equivalence class.
type classFit struct {
	pods    int
	copies  int64 // at most so many pods of the class fit at the same time
	judged  bool
	needed  int64 // at least so many others must have landed before one finds no node
	refused map[scheduler.Filter]int
}

// judge returns why pods without a node stay Pending or may stay Pending, and the bounds of their number.
func judge(m *placement.ClusterModel, opts placement.Options, unbound []cluster.PodID) (j *pending, least, most int) {
	j = &pending{snapshot: m.Cluster.Snap, model: m, byClass: map[int]*classFit{}, reasons: map[cluster.PodID]plan.Reason{}}
	j.emptiest = j.emptied(placement.NewClusterModel(j.snapshot, opts), unbound)
	unknown := 0
	for _, p := range unbound {
		if why, ok := m.Supported(p); !ok {
			j.reasons[p] = plan.Reason{Code: plan.PlacementUnknown, Message: why}
			unknown++
			continue
		}
		j.addToClass(p)
	}
	least = j.findImpossible()
	possible := slices.DeleteFunc(slices.Clone(j.pods), func(p cluster.PodID) bool { return j.reasons[p].Code != "" })
	impossible := len(j.pods) - len(possible)
	least = impossible + max(least, j.beyondCapacity(possible))
	most = impossible + unknown + j.findPossible(possible, unknown)
	return j, least, max(least, most)
}

func (j *pending) addToClass(p cluster.PodID) {
	j.pods = append(j.pods, p)
	class := j.model.Cluster.ClassNumber(p)
	c := j.byClass[class]
	if c == nil {
		c = &classFit{}
		c.copies, c.refused = j.emptiest.Copies(p)
		j.byClass[class] = c
	}
	c.pods++
}

func (j *pending) class(p cluster.PodID) *classFit { return j.byClass[j.model.Cluster.ClassNumber(p)] }

// priority returns the lowest priority that the pod does not preempt.
func (j *pending) priority(p cluster.PodID) int32 {
	spec := &j.snapshot.Pods[p].Object.Spec
	if ptr.Deref(spec.PreemptionPolicy, corev1.PreemptLowerPriority) == corev1.PreemptNever {
		return math.MinInt32
	}
	return ptr.Deref(spec.Priority, 0)
}

// emptied removes the pods from m that terminate, and those that one of the unbound pods may preempt.
func (j *pending) emptied(m *placement.ClusterModel, unbound []cluster.PodID) *placement.ClusterModel {
	highest := int32(math.MinInt32)
	for _, p := range unbound {
		highest = max(highest, j.priority(p))
	}
	for i := range j.snapshot.Pods {
		q := &j.snapshot.Pods[i]
		if m.Cluster.NodeOf(q.ID) != cluster.NoNode && (q.Terminating || ptr.Deref(q.Object.Spec.Priority, 0) < highest) {
			m.Cluster.Move(q.ID, cluster.NoNode)
		}
	}
	return m
}

// findImpossible records the pods that fit on no node even in the emptiest cluster. It returns a lower bound on the
// number of the other pods that stay Pending, because their class has fewer places than pods.
func (j *pending) findImpossible() (least int) {
	for _, p := range j.pods {
		if c := j.class(p); c.copies == 0 {
			j.reasons[p] = plan.Reason{Code: plan.DoesNotFit, Message: "no node accepts the pod in any scheduling order; " + rejectionsText(c.refused)}
		}
	}
	for _, c := range j.byClass {
		if c.copies > 0 {
			least += int(max(0, int64(c.pods)-c.copies))
		}
	}
	return least
}

// rejectionsText counts nodes by the filter that refuses them, the most frequent filter first.
func rejectionsText(refused map[scheduler.Filter]int) string {
	filters := slices.SortedFunc(maps.Keys(refused), func(a, b scheduler.Filter) int {
		return cmp.Or(cmp.Compare(refused[b], refused[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, f := range filters {
		parts = append(parts, fmt.Sprintf("%s refuses %s", f, plural.Count(refused[f], "node")))
	}
	return strings.Join(parts, ", ")
}

// beyondCapacity returns a lower bound on the number of pods that stay Pending because the free resources of all nodes
// together are not enough: as many as possible fit if the smallest come first.
func (j *pending) beyondCapacity(pods []cluster.PodID) (least int) {
	m := j.emptiest.Cluster
	for _, name := range []string{"cpu", "memory"} {
		free := int64(0)
		for n := range j.snapshot.Nodes {
			free += max(0, j.snapshot.Nodes[n].Allocatable.Get(name)-m.Requests[n].Get(name))
		}
		var amounts []int64
		for _, p := range pods {
			amounts = append(amounts, placement.RequestsOf(j.model, p).Get(name))
		}
		slices.Sort(amounts)
		fit := 0
		for _, amount := range amounts {
			if free -= amount; free < 0 {
				break
			}
			fit++
		}
		least = max(least, len(pods)-fit)
	}
	return least
}

// findPossible records the pods that may find no node, and returns an upper bound on their number. If s of the pods
// stay Pending, then all others and the unknown ones may have landed, and for each of the s, no more others are needed
// to take its nodes.
func (j *pending) findPossible(pods []cluster.PodID, unknown int) (most int) {
	competition, others := placement.NewCompetition(j.model, pods, unknown), int64(len(pods)+unknown-1)
	var needed []int64
	for _, p := range pods {
		c := j.class(p)
		if !c.judged {
			c.judged, c.needed = true, competition.NeededToExclude(p)
		}
		if c.needed <= others {
			needed = append(needed, c.needed)
			j.reasons[p] = plan.Reason{Code: plan.MayNotFit, Message: mayNotFitText(c.needed, others)}
		}
	}
	slices.Sort(needed)
	for s := len(needed); s > 0; s-- { // the s pods that need the fewest others
		if needed[s-1] <= int64(len(pods)+unknown-s) {
			return s
		}
	}
	return 0
}

func mayNotFitText(needed, others int64) string {
	if needed == 0 {
		return "where other pods land decides whether a node takes it"
	}
	return fmt.Sprintf("the pod may find no node after %d of the %d other pods have landed", needed, others)
}

// findPreempted reports whether a pod that may find no node may preempt another. It records the pods that fit
// otherwise, but may lose their place in this way: those that cannot preempt the pods that do so.
func (j *pending) findPreempted(unbound []cluster.PodID) bool {
	lowest, highest := int32(math.MaxInt32), int32(math.MinInt32)
	for i := range j.snapshot.Pods {
		if q := &j.snapshot.Pods[i]; q.Node != cluster.NoNode && !q.Terminal {
			lowest = min(lowest, ptr.Deref(q.Object.Spec.Priority, 0))
		}
	}
	for _, p := range unbound {
		lowest = min(lowest, ptr.Deref(j.snapshot.Pods[p].Object.Spec.Priority, 0))
	}
	for p, why := range j.reasons {
		if why.Code != plan.DoesNotFit {
			highest = max(highest, j.priority(p))
		}
	}
	if highest <= lowest {
		return false
	}
	for _, p := range unbound {
		if _, has := j.reasons[p]; !has && j.priority(p) <= highest {
			j.reasons[p] = plan.Reason{Code: plan.MayNotFit, Message: "a pod that finds no node may preempt others, and it or they may take its place"}
		}
	}
	return true
}
