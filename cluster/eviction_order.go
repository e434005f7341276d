package cluster

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EvictionOrder holds what the order of evictions reads of a pod alone. Pods whose evictions have equal benefits leave
// in this order; docs/reference/report.md describes the whole order.
type EvictionOrder struct {
	Priority int32
	Ready    bool
	// DeletionCost is the annotation controller.kubernetes.io/pod-deletion-cost. It orders the pods of one owner only,
	// as it does for the ReplicaSet controller; see OrderByDeletionCost.
	DeletionCost int32
	QoS          uint8 // the index in qosClasses
	// Age is the logarithm of the pod's age to the base of 2, in seconds. Its steps are those of the ReplicaSet
	// controller. A pod that has not started is the youngest.
	Age uint8
}

// EvictionOrderOf returns the EvictionOrder of a pod at the time now.
func EvictionOrderOf(p *Pod, now time.Time) EvictionOrder {
	o := EvictionOrder{Ready: p.Ready, QoS: uint8(max(0, slices.Index(qosClasses, QoSOf(p.Object))))}
	if p.Object.Spec.Priority != nil {
		o.Priority = *p.Object.Spec.Priority
	}
	if cost, has := p.Object.Annotations[corev1.PodDeletionCost]; has { // ParseInt allocates an error for an empty string
		if n, err := strconv.ParseInt(cost, 10, 32); err == nil {
			o.DeletionCost = int32(n)
		}
	}
	if start, known := p.Started(); known {
		o.Age = uint8(bits.Len64(uint64(max(0, now.Sub(start)/time.Second))))
	}
	return o
}

// Before is compared first: a lower priority, then a pod that is not Ready. OrderByDeletionCost may change the order of
// pods for which Before is 0.
func (o EvictionOrder) Before(than EvictionOrder) int {
	if by := cmp.Compare(o.Priority, than.Priority); by != 0 || o.Ready == than.Ready {
		return by
	}
	if than.Ready {
		return -1
	}
	return 1
}

// Compare is Before, then the lower QoS class, then the younger pod: it has done less work, and the ReplicaSet
// controller prefers it as well.
func (o EvictionOrder) Compare(than EvictionOrder) int {
	return cmp.Or(o.Before(than), cmp.Compare(o.QoS, than.QoS), cmp.Compare(o.Age, than.Age))
}

// qosClasses is the order in which the kubelet ends pods.
var qosClasses = []corev1.PodQOSClass{corev1.PodQOSBestEffort, corev1.PodQOSBurstable, corev1.PodQOSGuaranteed}

// QoSOf returns the QoS class of a pod, from its spec if its status has none.
func QoSOf(p *corev1.Pod) corev1.PodQOSClass {
	if p.Status.QOSClass != "" {
		return p.Status.QOSClass
	}
	some, all := false, true
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, requested := r.Requests[name]
				limit, limited := r.Limits[name]
				some = some || requested && !request.IsZero() || limited && !limit.IsZero()
				all = all && limited && !limit.IsZero() && (!requested || request.Cmp(limit) == 0)
			}
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case all:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// SortForEviction puts pods whose evictions have equal benefits into the order of evictions. Equal pods keep their
// order. The function get returns the pod of an element.
func SortForEviction[T any](list []T, now time.Time, get func(*T) *Pod) {
	type ordered struct {
		x     T
		owner WorkloadID
		EvictionOrder
	}
	pods := make([]ordered, len(list))
	for i := range list {
		p := get(&list[i])
		pods[i] = ordered{list[i], p.Workload, EvictionOrderOf(p, now)}
	}
	slices.SortStableFunc(pods, func(a, b ordered) int { return a.Compare(b.EvictionOrder) })
	OrderByDeletionCost(pods, func(o *ordered) (WorkloadID, EvictionOrder) { return o.owner, o.EvictionOrder })
	for i := range pods {
		list[i] = pods[i].x
	}
}

// OrderByDeletionCost orders the pods of one owner by deletion cost, among neighbours for which Before is 0. Each owner
// keeps its places in the list, and its pods share them in the new order. So the list stays in one order whatever the
// costs of the owners are, and no owner can move its pods behind those of others. The function get returns the owner
// and the order of an element; pods without an owner keep their places.
func OrderByDeletionCost[T any](list []T, get func(*T) (WorkloadID, EvictionOrder)) {
	for from := 0; from < len(list); {
		_, first := get(&list[from])
		until := from + 1
		for ; until < len(list); until++ {
			if _, o := get(&list[until]); o.Before(first) != 0 {
				break
			}
		}
		orderOwners(list[from:until], get)
		from = until
	}
}

// orderOwners is OrderByDeletionCost for a list of pods for which Before is 0.
func orderOwners[T any](list []T, get func(*T) (WorkloadID, EvictionOrder)) {
	places := map[WorkloadID][]int{} // of the owners with a cost
	for i := range list {
		if owner, o := get(&list[i]); o.DeletionCost != 0 && owner != NoWorkload {
			places[owner] = nil
		}
	}
	if len(places) == 0 {
		return
	}
	for i := range list {
		owner, _ := get(&list[i])
		if at, some := places[owner]; some {
			places[owner] = append(at, i)
		}
	}
	for _, at := range places {
		pods := make([]T, len(at))
		for k, i := range at {
			pods[k] = list[i]
		}
		slices.SortStableFunc(pods, func(a, b T) int {
			_, x := get(&a)
			_, y := get(&b)
			return cmp.Compare(x.DeletionCost, y.DeletionCost)
		})
		for k, i := range at {
			list[i] = pods[k]
		}
	}
}
