package breaker_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func fargate(n *corev1.Node) {
	n.Labels = map[string]string{"eks.amazonaws.com/compute-type": "fargate"}
}

// EKS deletes the node of a Fargate pod with the pod.
func TestVirtualNodesDoNotTripTheBreaker(t *testing.T) {
	c := newCluster(t, 4)
	c.add("fargate", 40)
	c.change(40, fargate, notReady)
	if trip := c.pass(minute); trip != nil {
		t.Errorf("40 virtual nodes are NotReady: %s", trip.Reason.Message)
	}
	c.remove(40)
	if trip := c.pass(minute); trip != nil {
		t.Errorf("40 virtual nodes are gone: %s", trip.Reason.Message)
	}
}

func TestVirtualNodesDoNotReplaceLostNodes(t *testing.T) {
	c := newCluster(t, 6)
	c.pass(0)
	c.remove(3, notReady)
	c.add("fargate", 40)
	c.change(40, fargate)
	if trip := c.pass(minute); trip == nil {
		t.Error("3 of 6 machines are lost, and the breaker does not trip, because 40 virtual nodes came")
	}
}
