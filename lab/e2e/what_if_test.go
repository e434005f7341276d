package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// whatIf is the part of a document of the kind WhatIf that the test reads.
type whatIf struct {
	Pods []struct {
		Pod    struct{ Namespace, Name string }
		Owner  struct{ Name string }
		Reason *struct{ Code string }
	}
	LeastPending, MostPending, Fits, MayNotFit, DoesNotFit int
}

// TestWithoutNode removes a node of random clusters, and its pods in random orders, so that the real scheduler places
// the replacements in these orders. In each order, pods that do not fit stay Pending, pods that fit do not, and the
// number of Pending pods is within the bounds that the program stated.
func TestWithoutNode(t *testing.T) {
	clusters, orders := 10, 10
	if testing.Short() {
		clusters, orders = 2, 3
	}
	var all whatIf
	pending := 0
	for c := range clusters {
		t.Run(strconv.Itoa(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c), 35))
			nodes := createNodesOfPool(t, r, strconv.Itoa(c))
			apps, told := poolApps(r, nodes), whatIf{}
			for order := range orders {
				t.Run(strconv.Itoa(order), func(t *testing.T) {
					ns := seedApps(t, apps)
					if order == 0 {
						told = imagineWithout(t, nodes[0].Name)
						all.Fits, all.MayNotFit, all.DoesNotFit = all.Fits+told.Fits, all.MayNotFit+told.MayNotFit, all.DoesNotFit+told.DoesNotFit
					}
					pending += told.compare(t, ns, nodes[0], r)
				})
			}
		})
	}
	t.Logf("%d clusters, %d orders each: %d pods fit, %d may not fit, %d do not fit; %d pods were Pending in all", clusters, orders, all.Fits, all.MayNotFit,
		all.DoesNotFit, pending)
	if all.DoesNotFit == 0 || all.MayNotFit == 0 || all.Fits == 0 && !testing.Short() {
		t.Error("the clusters do not show all cases")
	}
}

// imagineWithout asks the program what would happen without the node.
func imagineWithout(t *testing.T, node string) (told whatIf) {
	t.Helper()
	out := runEvenkeel(t, "plan", "--without-node", node, "-o", "json", "--config", testbed.ConfigFile(t, zonesConfig))
	if out.code != 0 {
		t.Fatal(out.stderr)
	}
	must.Succeed(t, json.Unmarshal([]byte(out.stdout), &told))
	t.Logf("%d pods: %d fit, %d may not fit, %d do not fit; %d to %d stay Pending", len(told.Pods), told.Fits, told.MayNotFit, told.DoesNotFit,
		told.LeastPending, told.MostPending)
	return told
}

// poolLabel marks the nodes of a cluster. Only its own pods may run there, and these run nowhere else.
const poolLabel = "lab/pool"

// createNodesOfPool creates the nodes of a cluster in three zones. They are deleted when the test ends.
func createNodesOfPool(t *testing.T, r *rand.Rand, pool string) (nodes []poolNode) {
	t.Helper()
	for i := range 4 + r.IntN(2) {
		n := poolNode{seed.Node{Name: fmt.Sprintf("pool%s-%d", pool, i), Zone: fmt.Sprintf("zone-%d", i%3+1), CPU: int64(6 + r.IntN(4))}, pool}
		nodes = append(nodes, n)
		n.create(t)
		t.Cleanup(func() {
			must.Succeed(t, lab.Client.CoreV1().Nodes().Delete(context.Background(), n.Name, metav1.DeleteOptions{}))
		})
	}
	return nodes
}

// poolNode is a node of a pool.
type poolNode struct {
	seed.Node
	pool string
}

func (n poolNode) create(t *testing.T) {
	t.Helper()
	must.Succeed(t, seed.CreateNode(t.Context(), lab.Client, n.Node))
	patch := fmt.Sprintf(`{"metadata": {"labels": {%q: %q, "lab/node": %q}}, "spec": {"taints": [{"key": %q, "effect": "NoSchedule"}]}}`,
		poolLabel, n.pool, n.Name, poolLabel)
	must.Get(lab.Client.CoreV1().Nodes().Patch(t.Context(), n.Name, "application/strategic-merge-patch+json", []byte(patch), metav1.PatchOptions{}))(t)
}

// poolApps returns apps that fill most of a pool. One has large pods, one is bound to the first node, one keeps apart,
// one has a host port, and one spreads over zones.
func poolApps(r *rand.Rand, nodes []poolNode) (apps []seed.App) {
	free := map[string]int64{}
	for _, n := range nodes {
		free[n.Name] = n.CPU * 1000
	}
	inPool := func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{poolLabel: nodes[0].pool}
		s.Tolerations = []corev1.Toleration{{Key: poolLabel, Operator: corev1.TolerationOpExists}}
	}
	full := 3 + r.IntN(3) // of 6 places on the other nodes
	for i := range 9 {
		a := seed.App{Name: fmt.Sprintf("app%d", i), MilliCPU: int64(400 + 100*r.IntN(10)), MemoryMi: 64, WithoutService: true, Change: inPool}
		switch i {
		case 0:
			a.MilliCPU = 2500
		case 1:
			a.Change = func(s *corev1.PodSpec) {
				inPool(s)
				s.NodeSelector["lab/node"] = nodes[0].Name
			}
		case 2:
			a.Apart = true
		case 3:
			a.HostPort = 8080
		case 4:
			a.ZoneSkew = 1
		}
		for n := range nodes {
			if i == 1 && n > 0 {
				break
			}
			for k := 0; k < 2 && free[nodes[n].Name] >= a.MilliCPU; k++ {
				if k > 0 && (n > 0 || i == 0 || a.Apart || a.HostPort > 0 || a.ZoneSkew > 0) || n > 0 && r.IntN(6) >= full {
					break
				}
				free[nodes[n].Name] -= a.MilliCPU
				a.Nodes = append(a.Nodes, nodes[n].Name)
			}
		}
		if len(a.Nodes) > 0 {
			apps = append(apps, a)
		}
	}
	return apps
}

// compare removes the node and its pods in a random order, and compares the pods that stay Pending with what was told.
// Afterwards, the node is there again.
func (told *whatIf) compare(t *testing.T, ns string, gone poolNode, r *rand.Rand) (pending int) {
	t.Helper()
	must.Succeed(t, lab.Client.CoreV1().Nodes().Delete(t.Context(), gone.Name, metav1.DeleteOptions{}))
	defer gone.create(t)
	pods := must.Get(lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}))(t).Items
	total := len(pods)
	victims := slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != gone.Name })
	if len(victims) != len(told.Pods) {
		t.Fatalf("%d pods were on %s, but %d were told", len(victims), gone.Name, len(told.Pods))
	}
	r.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	now := int64(0)
	for i := range victims {
		must.Succeed(t, lab.Client.CoreV1().Pods(ns).Delete(t.Context(), victims[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
		waitUntilAttempted(t, ns, total, victims[i].Name)
	}
	byApp := map[string]int{}
	for _, p := range waitUntilAttempted(t, ns, total, "") {
		if p.Spec.NodeName == "" {
			byApp[p.Labels["app"]]++
			pending++
		}
	}
	if pending < told.LeastPending || pending > told.MostPending {
		t.Errorf("%d pods are Pending, but %d to %d were told", pending, told.LeastPending, told.MostPending)
	}
	never, maybe := map[string]int{}, map[string]int{}
	for _, p := range told.Pods {
		switch {
		case p.Reason == nil:
		case p.Reason.Code == "DoesNotFit":
			never[p.Owner.Name]++
		default:
			maybe[p.Owner.Name]++
		}
	}
	for _, p := range told.Pods {
		if app := p.Owner.Name; byApp[app] < never[app] || byApp[app] > never[app]+maybe[app] {
			t.Errorf("%d pods of %s are Pending; %d do not fit, %d may not fit", byApp[app], app, never[app], maybe[app])
		}
	}
	return pending
}

// waitUntilAttempted waits until the namespace has all pods again without the victim, and the scheduler has tried each.
func waitUntilAttempted(t *testing.T, ns string, total int, victim string) (pods []corev1.Pod) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		list, err := lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		pods = list.Items
		untried := slices.ContainsFunc(pods, func(p corev1.Pod) bool {
			return p.Name == victim || p.DeletionTimestamp != nil || !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }) && p.Spec.NodeName == ""
		})
		if len(pods) != total || untried {
			return false, fmt.Errorf("%d of %d pods, some of them not tried", len(pods), total)
		}
		return true, nil
	}))
	return pods
}
