package search

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// lastLocalEndpoint reports whether the pod is the last Ready pod of a Service on its node, and the Service sends
// traffic of that node to this node only. Until then, such a pod leaves last: traffic through the node is dropped
// without it. Of this kind are Services with internalTrafficPolicy Local, and NodePort and LoadBalancer Services with
// externalTrafficPolicy Local. Topology aware routing and trafficDistribution are not: they fall back to other nodes.
func (c *pass) lastLocalEndpoint(pod cluster.PodID) (plan.Reason, bool) {
	p := &c.Snapshot.Pods[pod]
	if !p.Ready || p.Terminating || len(p.Services) == 0 || !c.Options.Guards.Protect[guard.ProtectLastReady] {
		return plan.Reason{}, false
	}
	for _, id := range p.Services {
		o, node := c.Snapshot.Services[id].Object, c.NodeOf(pod)
		policy := localPolicy(&o.Spec)
		if policy == "" || node == cluster.NoNode || slices.ContainsFunc(c.Snapshot.Nodes[node].Pods, func(other cluster.PodID) bool {
			q := &c.Snapshot.Pods[other]
			return other != pod && q.Ready && !q.Terminating && slices.Contains(q.Services, id) && c.NodeOf(other) == node
		}) {
			continue
		}
		return plan.Reason{Code: plan.LastLocalEndpoint, Message: fmt.Sprintf(
			"the pod is the last Ready pod of Service %s on %s (%s), so other pods leave first", o.Name, c.NodeName(node), policy)}, true
	}
	return plan.Reason{}, false
}

// localPolicy returns the field by which a Service sends traffic to the pods of one node only, or "".
func localPolicy(s *corev1.ServiceSpec) string {
	switch {
	case s.InternalTrafficPolicy != nil && *s.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal:
		return "internalTrafficPolicy: Local"
	case s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal &&
		(s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer):
		return "externalTrafficPolicy: Local"
	}
	return ""
}

// rank is the rank of the pod's annotations and node, except that the last local endpoint comes last.
func (c *pass) rank(pod cluster.PodID) int {
	if _, last := c.lastLocalEndpoint(pod); last {
		return 1
	}
	return c.Eligibility.Rank(pod)
}

// rejectLocalEndpoints records why candidates that another candidate passes stay: they are last local endpoints.
func (c *goalSearch) rejectLocalEndpoints(passed []candidate, g int) {
	for i := len(passed) - 1; i >= 0 && passed[i].rank > 0; i-- {
		if why, last := c.lastLocalEndpoint(passed[i].pod); last {
			c.reject(passed[i].pod, g, why)
		}
	}
}
