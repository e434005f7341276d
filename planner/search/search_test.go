package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// Manifests of small clusters.
const (
	smallHead = "apiVersion: v1\nkind: List\nmetadata: {annotations: {evenkeel.io/taken-at: '2026-01-02T00:00:00Z'}}\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
	smallNode = "- {apiVersion: v1, kind: Node, metadata: {name: n%[1]d, uid: n%[1]d, labels: {topology.kubernetes.io/zone: z%[1]d}}, status: {allocatable: {cpu: '10', memory: 10Gi, pods: '110'}, conditions: [{type: Ready, status: 'True'}]}}\n"
	smallSet  = "- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {namespace: shop, name: %[1]s, uid: %[1]s}, spec: {replicas: %[3]d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, resources: {requests: {cpu: %[2]s}}}]}}}}\n"
	smallPod  = "- {apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: p%[1]d, uid: p%[1]d, labels: {app: %[3]s}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: %[3]s, uid: %[3]s, controller: true}]}, spec: {nodeName: %[2]s, containers: [{name: c, resources: {requests: {cpu: %[4]s}}}]}, status: {phase: Running, startTime: '2026-01-01T00:00:00Z', conditions: [{type: Ready, status: 'True'}]}}\n"
)

// smallCluster returns a cluster of nodes n0, n1, ... of 10 CPU and 10 GiB, each in its own zone. Each entry of pods
// is a node, a ReplicaSet and a request: "n0 api 500m", or `n0 api 500m,"memory":1Gi`. The pods are named p0, p1, ...
func smallCluster(t *testing.T, nodes int, pods []string) *cluster.Snapshot {
	t.Helper()
	var text strings.Builder
	text.WriteString(smallHead)
	for i := range nodes {
		fmt.Fprintf(&text, smallNode, i)
	}
	replicas := map[string]int{}
	for _, words := range pods {
		replicas[strings.Fields(words)[1]]++
	}
	for i, words := range pods {
		f := strings.Fields(words)
		if n := replicas[f[1]]; n > 0 {
			replicas[f[1]] = 0
			fmt.Fprintf(&text, smallSet, f[1], f[2], n)
		}
		fmt.Fprintf(&text, smallPod, i, f[0], f[1], f[2])
	}
	o := &cluster.Objects{ServerVersion: "1.37"}
	must.Succeed(t, cluster.Read(strings.NewReader(text.String()), "objects.yaml", o))
	s := must.Get(cluster.New(o))(t)
	return s
}

// newSmallSearch starts a search in a small cluster. No guard or limit blocks its pods. Group goals apply to the
// first ReplicaSet.
func newSmallSearch(t *testing.T, nodes int, pods []string, change func(*Options), goals ...plan.Goal) *search {
	t.Helper()
	s := smallCluster(t, nodes, pods)
	all, opts := plan.Unlimited(), DefaultOptions()
	opts.Guards.MinReplicas, opts.MaxUnavailableWithoutPDB = 0, 9
	opts.Limits = limits.Options{
		PerPass: all, PerNode: all, PerNamespace: all, PerOwner: all, PerZone: all,
		PerHour: limits.PerHour{Owner: all, Namespace: all, Cluster: all},
	}
	opts.InFlight = eligibility.InFlight{Total: 9, PerNode: 9, PerOwner: 9}
	if change != nil {
		change(&opts)
	}
	for i := range goals {
		g := &goals[i]
		if g.Weight = 1; g.Kind == plan.SkewAtMost {
			g.TopologyKey, g.Domains, g.Pods = limits.ZoneKey, domainNames(s), s.Workloads[0].Pods
		} else {
			g.Kind, g.Subject = plan.NodeBelow, plan.ObjectRef{Kind: "Node", Name: s.Nodes[g.Node].Name}
		}
	}
	c := newSearch(NewProblem(&opts, s, plan.PlannerState{}, goal.Number(s, goals), s.TakenAt))
	c.waves.current = c.problem.newWave(c.sim, 1)
	return c
}

// halfUsedGoals returns goals of at most half of a resource on each of these nodes.
func halfUsedGoals(resource string, nodes ...cluster.NodeID) (out []plan.Goal) {
	for _, n := range nodes {
		out = append(out, plan.Goal{Kind: plan.NodeBelow, Node: n, Resource: resource, Limit: 0.5})
	}
	return out
}

// unlimitedGoals returns goals that never limit these nodes. Without a goal, a node would have room only up to the
// limit of the goals about other nodes.
func unlimitedGoals(resource string, nodes ...cluster.NodeID) []plan.Goal {
	out := halfUsedGoals(resource, nodes...)
	for i := range out {
		out[i].Limit = 10
	}
	return out
}

func domainNames(s *cluster.Snapshot) (out []string) {
	seen := map[string]bool{}
	for _, z := range limits.ZonesOf(s) {
		if !seen[z] {
			seen[z] = true
			out = append(out, z)
		}
	}
	return out
}
