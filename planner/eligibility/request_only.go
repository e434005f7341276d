package eligibility

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// singlePodOwners lists the kinds of owners that run in one pod, and whose operator moves the pod when it sees the
// request for its eviction. While such an owner has two pods, it moves.
//
// The kind has other members: whatever an operator drains through a webhook for pods/eviction, with a budget that never
// allows an eviction. Nothing but the annotation request-evict-only tells them from other pods.
var singlePodOwners = []schema.GroupKind{{Group: "kubevirt.io", Kind: "VirtualMachineInstance"}}

func hasSinglePodOwner(p *cluster.Pod) bool {
	return len(p.Owners) == 0 && p.Controller != nil && // no snapshot has such an owner
		slices.Contains(singlePodOwners, schema.FromAPIVersionAndKind(p.Controller.APIVersion, p.Controller.Kind).GroupKind())
}

// RequestOnly says whether the operator of a pod moves it when it sees the request for its eviction, and how that is
// known. An annotation counts in trusted namespaces only, because the request is sent in spite of the budget.
func (v *Checker) RequestOnly(p *cluster.Pod) plan.RequestOnly {
	switch {
	case p.Terminal:
		return ""
	case hasSinglePodOwner(p):
		return plan.ByOwner
	case v.options.Guards.Scope.Trusts(p.Object.Namespace) && annotation.IsRequestOnly(p.Object):
		return plan.ByAnnotation
	}
	return ""
}

// otherPodOfOwner returns another pod of an owner that runs in one pod, or nil. The owner is moving then.
func otherPodOfOwner(s *cluster.Snapshot, p *cluster.Pod) *cluster.Pod {
	w := s.WorkloadOf(p)
	if w == nil || !hasSinglePodOwner(p) {
		return nil
	}
	for _, id := range w.Pods {
		if q := &s.Pods[id]; id != p.ID && !q.Terminal {
			return q
		}
	}
	return nil
}
