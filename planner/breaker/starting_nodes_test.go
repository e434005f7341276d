package breaker_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// registered makes a node that its kubelet registered at this age and that is not Ready since the given time after.
func registered(age time.Duration, since time.Duration) func(*corev1.Node) {
	return func(n *corev1.Node) {
		created := noon.Add(-age)
		n.CreationTimestamp = metav1.NewTime(created)
		n.Status.Conditions[0].Status, n.Status.Conditions[0].LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(created.Add(since))
	}
}

// TestStartingNodesDoNotTripTheBreaker adds 3 nodes to 6 that are Ready. More than 30% of 9 nodes trip the breaker.
func TestStartingNodesDoNotTripTheBreaker(t *testing.T) {
	for name, c := range map[string]struct {
		node  []func(*corev1.Node)
		trips bool
	}{
		"not Ready since they registered": {[]func(*corev1.Node){registered(30*time.Second, time.Second), tainted("node.kubernetes.io/not-ready"),
			tainted("karpenter.sh/unregistered")}, false},
		"the transition has no time": {[]func(*corev1.Node){registered(30*time.Second, 0), func(n *corev1.Node) {
			n.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		}}, false},
		"the kubelet has written no condition": {[]func(*corev1.Node){registered(minute, 0), func(n *corev1.Node) { n.Status.Conditions = nil }}, false},
		"the node lifecycle controller waits for the kubelet": {[]func(*corev1.Node){registered(5*minute, minute), func(n *corev1.Node) {
			n.Status.Conditions[0].Status, n.Status.Conditions[0].Reason = corev1.ConditionUnknown, "NodeStatusNeverUpdated"
		}}, false},
		"Ready with the start-up taint of an autoscaler": {[]func(*corev1.Node){registered(30*time.Second, time.Second), ready,
			tainted("startup-taint.cluster-autoscaler.kubernetes.io/cni")}, false},
		"never Ready for 10 minutes":                {[]func(*corev1.Node){registered(10*minute, time.Second)}, true},
		"Ready once, and not Ready after 2 minutes": {[]func(*corev1.Node){registered(4*minute, 2*minute)}, true},
		"the creation has no time":                  {[]func(*corev1.Node){notReady}, true},
	} {
		s := newCluster(t, 6)
		s.add("new", 3)
		s.change(3, c.node...)
		if trip := s.pass(0); (trip != nil) != c.trips {
			t.Errorf("%s: trip %+v, want %t", name, trip, c.trips)
		}
	}
}

// TestStartingNodesAreNoReplacements checks that nodes that start do not make up for lost nodes until they are Ready:
// if 4 of 10 nodes are lost and 4 others start, the breaker trips.
func TestStartingNodesAreNoReplacements(t *testing.T) {
	c := newCluster(t, 10)
	c.pass(0)
	c.remove(4, notReady)
	c.add("new", 4)
	c.change(4, registered(0, 0))
	if c.pass(minute) == nil {
		t.Error("4 of 10 nodes are lost, and the breaker does not trip, because 4 nodes start")
	}
	c.change(4, ready)
	if trip := c.pass(minute); trip != nil {
		t.Errorf("the 4 nodes are Ready: %s", trip.Reason.Message)
	}
}

// TestNodesThatNeverStartedAreNotLost checks that the breaker does not trip if an autoscaler deletes 3 of 9 nodes that
// never became Ready.
func TestNodesThatNeverStartedAreNotLost(t *testing.T) {
	c := newCluster(t, 6)
	c.add("new", 3)
	c.change(3, registered(30*time.Second, 0))
	c.pass(0)
	c.remove(3)
	if trip := c.pass(15 * minute); trip != nil {
		t.Errorf("3 nodes that were never Ready are gone: %s", trip.Reason.Message)
	}
}
