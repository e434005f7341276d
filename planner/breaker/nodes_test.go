package breaker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

const minute = time.Minute

// watchedCluster is a cluster whose nodes come and go while a controller watches them and makes passes.
type watchedCluster struct {
	t       testing.TB
	now     time.Time
	nodes   []*corev1.Node
	deleted []cluster.DeletedNode // as a watch reports them
	state   []plan.UnreadyNode
}

func newCluster(t testing.TB, nodes int) *watchedCluster {
	c := &watchedCluster{t: t, now: noon}
	c.add("base", nodes)
	return c
}

func (c *watchedCluster) add(prefix string, n int) {
	for i := range n {
		c.nodes = append(c.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(prefix, i)}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	}
}

// change applies changes to the last n nodes.
func (c *watchedCluster) change(n int, changes ...func(*corev1.Node)) {
	for _, node := range c.nodes[len(c.nodes)-n:] {
		for _, f := range changes {
			f(node)
		}
	}
}

// remove deletes the last n nodes after the changes.
func (c *watchedCluster) remove(n int, changes ...func(*corev1.Node)) {
	c.change(n, changes...)
	for range n {
		last := c.nodes[len(c.nodes)-1]
		c.deleted = append(c.deleted, cluster.DeletedNode{Name: last.Name, At: c.now, Nodes: len(c.nodes), Lost: breaker.LooksLost(last)})
		c.nodes = c.nodes[:len(c.nodes)-1]
	}
}

// pass makes a pass after some time, and returns the trip of the breaker.
func (c *watchedCluster) pass(after time.Duration) *plan.BreakerTrip {
	c.t.Helper()
	c.now = c.now.Add(after)
	s, err := cluster.New(&cluster.Objects{TakenAt: c.now, Nodes: c.nodes})
	if err != nil {
		c.t.Fatal(err)
	}
	c.state = breaker.RecordUnready(c.state, c.deleted, s)
	return opts.CheckCluster(s, breaker.NewBaseline(s), c.state)
}

func notReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
func ready(n *corev1.Node)    { n.Status.Conditions[0].Status = corev1.ConditionTrue }
func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func tainted(key string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

// A burst of 5 nodes on 10 comes every 30 minutes, and the cluster autoscaler removes it before the next pass.
func TestAutoscalersDoNotTripTheBreaker(t *testing.T) {
	for name, marks := range map[string][]func(*corev1.Node){
		"the node is Ready until it is deleted":    {},
		"tainted":                                  {tainted("ToBeDeletedByClusterAutoscaler")},
		"tainted, then the kubelet stops":          {tainted("ToBeDeletedByClusterAutoscaler"), notReady},
		"tainted by Karpenter, the kubelet stops":  {tainted("karpenter.sh/disrupted"), notReady},
		"cordoned, then the kubelet stops":         {cordoned, notReady},
		"it was NotReady while it joined, in time": {ready},
	} {
		c := newCluster(t, 10)
		for i := range 36 {
			if i%3 == 0 {
				c.add(fmt.Sprint("burst", i, "-"), 5)
				c.change(3, notReady) // they join during the pass
			}
			if trip := c.pass(10 * minute); trip != nil {
				t.Errorf("%s: pass %d: %s", name, i, trip.Reason.Message)
			}
			if i%3 == 0 {
				c.change(3, ready)
				c.remove(5, marks...)
			}
		}
	}
	karpenter := newCluster(t, 3)
	karpenter.pass(0)
	karpenter.remove(1, tainted("karpenter.sh/disrupted"))
	if trip := karpenter.pass(10 * minute); trip != nil {
		t.Errorf("3 nodes to 2: %s", trip.Reason.Message)
	}
}

// A zone with 5 of 15 nodes fails. The cloud controller manager deletes the nodes one minute later.
func TestAZoneOutageTripsTheBreaker(t *testing.T) {
	c := newCluster(t, 15)
	c.pass(0)
	c.change(5, notReady)
	if c.pass(minute) == nil {
		t.Error("5 of 15 nodes are NotReady, but the breaker does not trip")
	}
	c.remove(5)
	if c.pass(minute) == nil {
		t.Error("5 of 15 nodes are gone, but the breaker does not trip")
	}
	if trip := c.pass(31 * minute); trip != nil {
		t.Errorf("after 31 minutes, 10 nodes are normal: %s", trip.Reason.Message)
	}

	between := newCluster(t, 15)
	between.pass(0)
	between.now = between.now.Add(2 * minute)
	between.remove(5, notReady)
	if between.pass(8*minute) == nil {
		t.Error("the nodes became NotReady and were deleted between two passes, but the breaker does not trip")
	}

	once := newCluster(t, 15)
	once.change(5, notReady)
	once.pass(0)
	once.remove(5)
	once.deleted = nil
	if once.pass(10*minute) == nil {
		t.Error("no watch saw the deletions, but the last pass saw 5 nodes NotReady; the breaker does not trip")
	}
}

func TestNodesThatAreGone(t *testing.T) {
	for name, c := range map[string]struct {
		events func(c *watchedCluster)
		trips  bool
	}{
		"as many as allowed": {func(c *watchedCluster) { c.remove(3, notReady) }, false},
		"one more":           {func(c *watchedCluster) { c.remove(4, notReady) }, true},
		"gone and NotReady together": {func(c *watchedCluster) {
			c.remove(2, notReady)
			c.change(2, notReady)
		}, true},
		"one after the other": {func(c *watchedCluster) {
			c.remove(2, notReady)
			c.pass(5 * minute)
			c.remove(2, notReady)
		}, true},
		"one after the other, far apart": {func(c *watchedCluster) {
			c.remove(2, notReady)
			c.pass(26 * minute)
			c.remove(2, notReady)
		}, false},
		"replaced by Ready nodes": {func(c *watchedCluster) {
			c.remove(5, notReady)
			c.add("new", 5)
		}, false},
		"replaced by nodes that are not Ready yet": {func(c *watchedCluster) {
			c.remove(4, notReady)
			c.add("new", 4)
			c.change(4, notReady)
		}, true},
		"lost while a burst was there, which was removed on purpose": {func(c *watchedCluster) {
			c.add("burst", 5)
			c.remove(1, notReady)
			c.remove(4)
		}, false},
		"back under their names": {func(c *watchedCluster) {
			c.remove(4, notReady)
			c.deleted = nil // as the watch does when a node returns
			c.add("base", 10)
			c.nodes = slices.CompactFunc(slices.SortedFunc(slices.Values(c.nodes), byName), func(a, b *corev1.Node) bool { return a.Name == b.Name })
		}, false},
		"three became Ready and were removed, and one was lost": {func(c *watchedCluster) {
			c.change(3, notReady)
			c.pass(0)
			c.remove(3, ready)
			c.remove(1, notReady)
		}, false},
		"no watch saw that Ready nodes were deleted": {func(c *watchedCluster) {
			c.pass(0)
			c.remove(5)
			c.deleted = nil
		}, false},
		"the clock was set back a day after the loss": {func(c *watchedCluster) {
			c.remove(4, notReady)
			c.now = c.now.Add(-24 * time.Hour)
		}, false},
	} {
		w := newCluster(t, 10)
		c.events(w)
		if trip := w.pass(5 * minute); (trip != nil) != c.trips {
			t.Errorf("%s: %+v, want a trip: %t", name, trip, c.trips)
		}
	}
}

func byName(a, b *corev1.Node) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) }

// The entries are bounded, recent and sorted, and nodes that are Ready have none.
func TestUnreadyNodesAreBounded(t *testing.T) {
	c := newCluster(t, plan.MaxUnreadyNodes+10)
	c.change(len(c.nodes), notReady)
	c.pass(0)
	if len(c.state) != plan.MaxUnreadyNodes {
		t.Errorf("%d entries, want %d", len(c.state), plan.MaxUnreadyNodes)
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := newCluster(t, 6)
		for i := range rapid.IntRange(1, 40).Draw(rt, "passes") {
			c.add(fmt.Sprint("n", i, "-"), rapid.IntRange(0, 3).Draw(rt, "new"))
			c.change(rapid.IntRange(0, len(c.nodes)).Draw(rt, "changed"), rapid.SampledFrom([]func(*corev1.Node){ready, notReady}).Draw(rt, "to"))
			c.remove(rapid.IntRange(0, len(c.nodes)-1).Draw(rt, "removed"))
			c.pass(time.Duration(rapid.IntRange(1, 900).Draw(rt, "seconds")) * time.Second)
		}
		for i, n := range c.state {
			at := slices.IndexFunc(c.nodes, func(x *corev1.Node) bool { return x.Name == n.Name })
			if c.now.Sub(n.Seen) > cluster.DeletedNodeWindow || i > 0 && c.state[i-1].Name >= n.Name || at >= 0 && cluster.NodeReady(c.nodes[at]) {
				rt.Fatalf("entry %d: %+v at %s", i, c.state, c.now)
			}
		}
	})
}
