package impact_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/impact"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

func apply(t *testing.T, s *cluster.Snapshot, change plan.Change) (*cluster.Snapshot, plan.WhatIf) {
	t.Helper()
	after, x, err := impact.Apply(s, placement.Options{}, nodemarks.Table{}, change)
	must.Succeed(t, err)
	return after, x
}

// TestWhatFitsInEveryOrder removes one to three nodes of random clusters. Whatever the order in which the scheduler
// places the pods, and whichever feasible node it chooses, a pod that fits in every order finds a node, a pod that does
// not fit finds none, and the number of Pending pods is within the stated bounds. Half of the clusters have priorities.
func TestWhatFitsInEveryOrder(t *testing.T) {
	fits, may, never, wide, preempted := 0, 0, 0, 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 35))
		nodes := 3 + r.IntN(5)
		clusters := [...]func() *cluster.Objects{
			func() *cluster.Objects { return simulation.Crowded(r, nodes, 8, 6) },
			func() *cluster.Objects { return simulation.Tight(r) },
			func() *cluster.Objects { return simulation.Varied(r, nodes, 8) },
			func() *cluster.Objects { return simulation.Mixed(r) },
		}
		o := clusters[seed%4]()
		if seed/4%2 == 1 {
			for _, p := range o.Pods {
				p.Spec.Priority = new(int32(100 * r.IntN(3)))
			}
		}
		s := must.Get(cluster.New(o))(t)
		var gone []string
		for _, n := range r.Perm(len(s.Nodes))[:1+int(seed/4)%min(3, len(s.Nodes)-1)] {
			gone = append(gone, s.Nodes[n].Name)
		}
		_, x := apply(t, s, plan.Change{Without: gone})
		fits, may, never, wide = fits+x.Fits, may+x.MayNotFit, never+x.DoesNotFit, wide+x.MostPending-x.LeastPending
		for range 10 {
			preempted += checkOrder(t, seed, r, s, x)
		}
	}
	t.Logf("%d pods fit in every order, %d may not fit, %d do not fit; the ranges span %d pods; %d preemptions", fits, may, never, wide, preempted)
	if fits == 0 || may == 0 || never == 0 || preempted == 0 {
		t.Error("the clusters do not show all cases")
	}
}

// checkOrder places the pods in one order, and preempts. It returns the number of preempted pods.
func checkOrder(t *testing.T, seed uint64, r *rand.Rand, s *cluster.Snapshot, x plan.WhatIf) (preempted int) {
	t.Helper()
	objects := *s.Objects
	objects.Nodes, objects.Pods = nil, nil
	for i := range s.Nodes {
		if !slices.Contains(x.Change.Without, s.Nodes[i].Name) {
			objects.Nodes = append(objects.Nodes, s.Nodes[i].Object)
		}
	}
	for i := range s.Pods {
		if p := s.Pods[i].Object; !slices.Contains(x.Change.Without, p.Spec.NodeName) {
			objects.Pods = append(objects.Pods, p)
		}
	}
	reasons := map[string]*plan.Reason{}
	for _, f := range x.Pods {
		reasons[f.Pod.String()] = f.Reason
		if f.From != "" {
			pod := s.PodByKey(f.Pod.String()).Object.DeepCopy()
			pod.Spec.NodeName = ""
			objects.Pods = append(objects.Pods, pod)
		}
	}
	after := must.Get(cluster.New(&objects))(t)
	m := placement.NewClusterModel(after, placement.Options{})
	waiting := map[cluster.PodID]bool{}
	for key := range reasons {
		waiting[after.PodByKey(key).ID] = true
	}
	for placed := true; placed; { // a pod that found no node is tried again
		placed = false
		var order []cluster.PodID
		for i := range after.Pods {
			if waiting[after.Pods[i].ID] {
				order = append(order, after.Pods[i].ID)
			}
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, id := range order {
			if nodes := m.Predict(id).Gone.Feasible; len(nodes) > 0 {
				m.Cluster.Move(id, nodes[r.IntN(len(nodes))])
				delete(waiting, id)
				placed = true
				continue
			}
			if victims := preempt(r, m, id); len(victims) > 0 {
				delete(waiting, id)
				placed, preempted = true, preempted+len(victims)
				for _, v := range victims {
					waiting[v] = true
				}
			}
		}
	}
	n := 0
	for key, why := range reasons {
		pending := waiting[after.PodByKey(key).ID]
		if pending {
			n++
		}
		switch {
		case pending && why == nil:
			t.Errorf("seed %d: %s fits in every order, but finds no node", seed, key)
		case !pending && why != nil && why.Code == plan.DoesNotFit:
			t.Errorf("seed %d: %s does not fit, but finds a node: %s", seed, key, why.Message)
		}
	}
	if n < x.LeastPending || n > x.MostPending {
		t.Errorf("seed %d: %d pods are Pending, want %d to %d of %d", seed, n, x.LeastPending, x.MostPending, len(x.Pods))
	}
	return preempted
}

// preempt binds the pod to a random node on which it fits without some of the pods with a lower priority. It returns
// these, or nothing if there is no such node.
func preempt(r *rand.Rand, m *placement.ClusterModel, id cluster.PodID) (victims []cluster.PodID) {
	s := m.Cluster.Snap
	priority := func(p cluster.PodID) int32 { return ptr.Deref(s.Pods[p].Object.Spec.Priority, 0) }
	for _, n := range r.Perm(len(s.Nodes)) {
		node := cluster.NodeID(n)
		var lower []cluster.PodID
		for i := range s.Pods {
			if p := s.Pods[i].ID; m.Cluster.NodeOf(p) == node && priority(p) < priority(id) {
				lower = append(lower, p)
				m.Cluster.Move(p, cluster.NoNode)
			}
		}
		fits := func() bool { return slices.Contains(m.Predict(id).Gone.Feasible, node) }
		taken := len(lower) > 0 && fits()
		for _, p := range lower {
			if m.Cluster.Move(p, node); taken && !fits() {
				m.Cluster.Move(p, cluster.NoNode)
				victims = append(victims, p)
			}
		}
		if taken {
			m.Cluster.Move(id, node)
			return victims
		}
	}
	return nil
}

// TestPreemptionMakesRoomForOthers: a pod that preempts may leave room for one that may not, and take that of one that
// would fit otherwise.
func TestPreemptionMakesRoomForOthers(t *testing.T) {
	for _, c := range []struct {
		name           string
		big, high, low string // CPU
		least, most    int
	}{
		{"low fits beside high", "4", "2", "1", 0, 2},
		{"high takes the room of low", "3", "4", "1", 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := must.Get(cluster.New(scenario.Read(t, "seed-114").Objects(t,
				`{kind: Deployment, metadata: {name: a}, $patch: delete}`, `{kind: Deployment, metadata: {name: b}, $patch: delete}`,
				`{kind: Deployment, metadata: {name: c}, $patch: delete}`, `{kind: Deployment, metadata: {name: d}, $patch: delete}`, `{kind: Node, metadata: {name: n3}, $patch: delete}`,
				`{kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4"}}}`, `{kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4"}}}`,
				`{kind: Deployment, metadata: {name: big}, requests: {cpu: "`+c.big+`"}, pods: [1 on n2]}`,
				`{kind: Deployment, metadata: {name: high}, requests: {cpu: "`+c.high+`"}, pods: [1 on n1]}`,
				`{kind: Pod, metadata: {name: high-6c8f-*}, spec: {priority: 100}}`,
				`{kind: Deployment, metadata: {name: low}, requests: {cpu: "`+c.low+`"}, pods: [1 on n1]}`)))(t)
			_, x := apply(t, s, plan.Change{Without: []string{"n1"}})
			if x.LeastPending != c.least || x.MostPending != c.most || !x.MayPreempt {
				t.Errorf("%d to %d stay Pending, want %d to %d", x.LeastPending, x.MostPending, c.least, c.most)
			}
			for _, p := range x.Pods {
				if p.Owner.Name == "low" && (p.Reason == nil || p.Reason.Code != plan.MayNotFit) {
					t.Errorf("low: %+v, want MayNotFit", p.Reason)
				}
			}
		})
	}
}

// TestChangesOfNodes: pods of controllers need another node, those of DaemonSets do not, and bare pods are gone. New
// nodes have the pods of DaemonSets, and no marks.
func TestChangesOfNodes(t *testing.T) {
	o := scenario.Read(t, "seed-114").Objects(t,
		`{kind: Pod, metadata: {name: bare}, spec: {nodeName: n3}}`,
		`{kind: DaemonSet, metadata: {name: agent}, requests: {cpu: 100m}, pods: [1 on n1, 1 on n2, 1 on n3]}`,
		`{kind: Node, metadata: {name: n2}, spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}, {key: pool, value: big, effect: NoSchedule}]}}`)
	s := must.Get(cluster.New(o))(t)
	after, x := apply(t, s, plan.Change{Without: []string{"n3"}, Added: []plan.AddedNodes{{Count: 2, Like: "n2", Zone: "zone-9"}}})
	if len(x.Gone) != 1 || x.Gone[0].Name != "bare" || len(x.Pods) != 5 {
		t.Errorf("gone %v, need a node %v", x.Gone, x.Pods)
	}
	n := after.NodeByName("n2-new-2")
	if n == nil || len(n.Pods) != 1 || len(n.Object.Spec.Taints) != 1 || n.Object.Spec.Unschedulable || n.Object.Labels["topology.kubernetes.io/zone"] != "zone-9" {
		t.Fatalf("the second new node is %+v", n)
	}
	if before := must.Get(cluster.New(s.Objects))(t); len(before.Nodes) != 3 || len(before.Pods) != len(s.Pods) {
		t.Error("the objects of the snapshot changed")
	}
	for _, c := range []struct {
		change plan.Change
		want   string
	}{
		{plan.Change{Without: []string{"n9"}}, "there is no node n9 (did you mean n1?)"},
		{plan.Change{Without: []string{"n1", "n2", "n3"}}, "all 3 nodes would be gone"},
		{plan.Change{ZonesDown: []string{"zone-4"}}, `no node is in zone "zone-4" (label topology.kubernetes.io/zone); the zones are zone-1, zone-2, zone-3`},
		{plan.Change{Added: []plan.AddedNodes{{Count: 99_999, Like: "n1"}}}, "99999 nodes like n1 cannot be added (want 1 to 10000)"},
	} {
		if _, _, err := impact.Apply(s, placement.Options{}, nodemarks.Table{}, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.change, err, c.want)
		}
	}
}
