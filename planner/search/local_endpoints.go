package search

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// localEndpoint is the first Service whose last local endpoint is a pod, or -1, and Simulation.version plus 1 then.
type localEndpoint struct {
	service cluster.ServiceID
	at      int
}

// lastLocalEndpoint reports whether the pod is the last Ready pod of a Service on its node, and the Service sends
// traffic of that node to this node only. Until then, such a pod leaves last: traffic through the node is dropped
// without it. Of this kind are Services with internalTrafficPolicy Local, and NodePort and LoadBalancer Services with
// externalTrafficPolicy Local. Topology aware routing and trafficDistribution are not: they fall back to other nodes.
func (c *order) lastLocalEndpoint(pod cluster.PodID) (cluster.ServiceID, bool) {
	p := &c.sim.Snapshot.Pods[pod]
	if !p.Ready || p.Terminating || len(p.Services) == 0 || !c.sim.Options.Guards.Protect[guard.ProtectLastReady] {
		return -1, false
	}
	if c.localEndpoints == nil {
		c.localEndpoints = make([]localEndpoint, len(c.sim.Snapshot.Pods))
	}
	known := &c.localEndpoints[pod]
	if known.at != c.sim.version+1 {
		*known = localEndpoint{findLocalEndpoint(c, p, c.sim.NodeOf(pod)), c.sim.version + 1}
	}
	return known.service, known.service >= 0
}

// findLocalEndpoint returns the first Service of p that has no other Ready pod on the node, or -1.
func findLocalEndpoint(c *order, p *cluster.Pod, node cluster.NodeID) cluster.ServiceID {
	alone := c.serviceBuffer[:0]
	for _, id := range p.Services {
		if localPolicy(&c.sim.Snapshot.Services[id].Object.Spec) != "" {
			alone = append(alone, id)
		}
	}
	c.serviceBuffer = alone
	if len(alone) == 0 || node == cluster.NoNode {
		return -1
	}
	for _, other := range c.sim.Snapshot.Nodes[node].Pods {
		q := &c.sim.Snapshot.Pods[other]
		if other == p.ID || !q.Ready || q.Terminating || len(q.Services) == 0 || c.sim.NodeOf(other) != node {
			continue
		}
		alone = slices.DeleteFunc(alone, func(id cluster.ServiceID) bool {
			_, has := slices.BinarySearch(q.Services, id) // pods list Services in ascending order
			return has
		})
		if len(alone) == 0 {
			return -1
		}
	}
	return alone[0]
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
func (c *order) rank(pod cluster.PodID) int {
	if _, last := c.lastLocalEndpoint(pod); last {
		return 1
	}
	return c.account.Eligibility.Rank(pod)
}

// rejectLocalEndpoints records why candidates that another candidate passes stay: they are last local endpoints.
func (c *rounds) rejectLocalEndpoints(passed []candidate, g int) {
	for i := len(passed) - 1; i >= 0 && passed[i].rank > 0; i-- {
		if id, last := c.order.lastLocalEndpoint(passed[i].pod); last {
			o := c.sim.Snapshot.Services[id].Object
			c.account.reject(passed[i].pod, g, plan.Reason{Code: plan.LastLocalEndpoint, Message: fmt.Sprintf(
				"the pod is the last Ready pod of Service %s on %s (%s), so other pods leave first", o.Name,
				c.sim.NodeName(c.sim.NodeOf(passed[i].pod)), localPolicy(&o.Spec))})
		}
	}
}
