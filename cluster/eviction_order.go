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
// in this order; docs/reference/order.md describes the whole order.
type EvictionOrder struct {
	Priority int32
	Ready    bool
	// DeletionCost is the annotation controller.kubernetes.io/pod-deletion-cost. It orders the pods of one owner only,
	// as it does for the ReplicaSet controller; see OrderByDeletionCost.
	DeletionCost int32
	QoS          uint8 // 0 BestEffort, 1 Burstable, 2 Guaranteed
	// Age is the logarithm of the pod's age to the base of 2, in seconds. Its steps are those of the ReplicaSet
	// controller. A pod that has not started is the youngest.
	Age uint8
}

// EvictionOrderOf returns the EvictionOrder of a pod at the time now.
func EvictionOrderOf(p *Pod, now time.Time) EvictionOrder {
	o := EvictionOrder{Ready: p.Ready, QoS: qosOf(p.Object)}
	if p.Object.Spec.Priority != nil {
		o.Priority = *p.Object.Spec.Priority
	}
	if n, err := strconv.ParseInt(p.Object.Annotations[corev1.PodDeletionCost], 10, 32); err == nil {
		o.DeletionCost = int32(n)
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

// qosOf returns the QoS class of a pod, from its spec if its status has none.
func qosOf(p *corev1.Pod) uint8 {
	switch p.Status.QOSClass {
	case corev1.PodQOSBestEffort:
		return 0
	case corev1.PodQOSBurstable:
		return 1
	case corev1.PodQOSGuaranteed:
		return 2
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
		return 0
	case all:
		return 2
	}
	return 1
}

// OrderByDeletionCost orders the pods of one owner by deletion cost, within a list of pods for which Before is 0. Each
// owner keeps its places in the list, and its pods share them in the new order. So the list stays in one order whatever
// the costs of the owners are, and no owner can move its pods behind those of others. The function get returns the
// owner and the deletion cost of an element; pods without an owner keep their places.
func OrderByDeletionCost[T any](list []T, get func(*T) (WorkloadID, int32)) {
	var owners []WorkloadID
	for i := range list {
		if owner, cost := get(&list[i]); cost != 0 && owner != NoWorkload && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	for _, owner := range owners {
		var places []int
		var pods []T
		for i := range list {
			if of, _ := get(&list[i]); of == owner {
				places, pods = append(places, i), append(pods, list[i])
			}
		}
		slices.SortStableFunc(pods, func(a, b T) int {
			_, costA := get(&a)
			_, costB := get(&b)
			return cmp.Compare(costA, costB)
		})
		for k, i := range places {
			list[i] = pods[k]
		}
	}
}
