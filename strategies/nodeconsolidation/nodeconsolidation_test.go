package nodeconsolidation_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/nodeconsolidation"
)

// nodes has one candidate for each way to be none. The requests on limit are exactly 30 %, and
// those on above are 1m more. The DaemonSet requests 25 % of its nodes, which does not count.
const nodes = `
objects:
- {kind: Namespace, metadata: {name: shop}}
- {kind: Node, metadata: {name: above}}
- {kind: Node, metadata: {name: autoscaler-keeps, annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: "true"}}}
- {kind: Node, metadata: {name: busy}}
- {kind: Node, metadata: {name: control-plane, labels: {node-role.kubernetes.io/control-plane: ""}}}
- {kind: Node, metadata: {name: cordoned}, spec: {unschedulable: true}}
- {kind: Node, metadata: {name: daemons}}
- {kind: Node, metadata: {name: excluded, annotations: {evenkeel.io/exclude: "true"}}}
- {kind: Node, metadata: {name: karpenter-keeps, annotations: {karpenter.sh/do-not-disrupt: "true"}}}
- {kind: Node, metadata: {name: kept-by-daemon}}
- {kind: Node, metadata: {name: kept-by-mirror}}
- {kind: Node, metadata: {name: kept-by-agent}}
- {kind: Node, metadata: {name: kept-for-a-day}}
- {kind: Node, metadata: {name: limit}}
- {kind: Node, metadata: {name: memory}}
- {kind: Node, metadata: {name: more}}
- {kind: Node, metadata: {name: not-ready}, status: {conditions: [{type: Ready, status: "False"}]}}
- {kind: Node, metadata: {name: other, labels: {pool: other}}}
- {kind: Node, metadata: {name: some, annotations: {karpenter.sh/do-not-disrupt: "false"}}}
- {kind: Node, metadata: {name: virtual, labels: {type: virtual-kubelet}}}
- {kind: DaemonSet, metadata: {name: agent}, requests: {cpu: 2500m}, pods: [1 on daemons, 1 on some]}
- {kind: Deployment, metadata: {name: tiny}, requests: {cpu: 1m}, pods: [1 on above]}
- {kind: Deployment, metadata: {name: a}, requests: {cpu: "1"}, pods: [3 on above, 4 on busy, 1 on cordoned, 1 on excluded, 3 on limit, 1 on memory, 2 on more, 1 on not-ready, 1 on other, 1 on some, 1 on virtual]}
- {kind: Deployment, metadata: {name: kept}, requests: {cpu: "1"}, pods: [1 on autoscaler-keeps, 1 on control-plane, 1 on karpenter-keeps, 1 on kept-by-daemon, 1 on kept-by-mirror, 1 on kept-by-agent, 1 on kept-for-a-day]}
- {kind: DaemonSet, metadata: {name: guard}, pods: [1 on kept-by-daemon], spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}}}}
- {kind: Pod, metadata: {name: static, annotations: {kubernetes.io/config.mirror: x, karpenter.sh/do-not-disrupt: "true"}}, spec: {nodeName: kept-by-mirror}}
- {kind: Pod, metadata: {name: agent-of-a-project, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true", karpenter.sh/do-not-evict: "true"}}, spec: {nodeName: kept-by-agent}}
- {kind: DaemonSet, metadata: {name: for-a-day}, pods: [1 on kept-for-a-day], spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: 2400h}}}}}
- {kind: DaemonSet, metadata: {name: for-a-second}, pods: [1 on some], spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: 1s}}}}}
- {kind: Deployment, metadata: {name: b}, requests: {memory: 3Gi}, pods: [1 on memory]}
- {kind: Pod, metadata: {name: ended}, spec: {nodeName: daemons}, status: {phase: Succeeded}}
- {kind: Pod, metadata: {name: mirror, annotations: {kubernetes.io/config.mirror: x}}, spec: {nodeName: daemons}}
- {kind: Pod, metadata: {name: leaving, deletionTimestamp: "2026-01-01T23:59:59Z", deletionGracePeriodSeconds: 30}, spec: {nodeName: daemons}}
`

func goalsText(t *testing.T, args string, scope cluster.Scope, text string) string {
	t.Helper()
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: []byte(text)}).Objects(t)))(t)
	st, errs := nodeconsolidation.New("pack", []byte(args), scope)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var b strings.Builder
	limits, closed := map[string]int{}, map[string]bool{}
	for _, g := range st.Goals(s) {
		if g.Strategy != "pack" || g.Weight != 1 || g.Subject.Kind != "Node" || s.Nodes[g.Node].Name != g.Subject.Name {
			t.Errorf("goal %+v", g)
		}
		if g.Kind == plan.NodeBelow {
			if limits[fmt.Sprintf("%s at most %v", g.Resource, g.Limit)]++; !g.Constraint {
				t.Errorf("goal %+v asks for moves", g)
			}
			continue
		}
		var pods []string
		for _, p := range g.Pods {
			pods = append(pods, s.Pods[p].Object.Name)
		}
		for n, is := range g.Targets {
			if !is {
				closed[s.Nodes[n].Name] = true
			}
		}
		fmt.Fprintf(&b, "%s %s, %d nodes: %s: %s: %s\n", g.Kind, g.Subject.Name, g.MaxNodes, strings.Join(pods, " "), g.Reason.Code, g.Reason.Message)
	}
	if len(closed) > 0 {
		fmt.Fprintln(&b, "not to", slices.Sorted(maps.Keys(closed)))
	}
	if len(limits) > 0 {
		fmt.Fprintln(&b, limits)
	}
	return b.String()
}

// TestGoals checks which nodes should be empty, in which order, and how full others may become.
func TestGoals(t *testing.T) {
	pool := must.Get(labels.Parse("pool=other"))(t)
	const some, more, memory, other, limit = "NodeEmpty some, 5 nodes: a-6c8f-17: NodeUnderUtilized: pods on some request 10% of its cpu, not above 30%\n",
		"NodeEmpty more, 5 nodes: a-6c8f-13 a-6c8f-14: NodeUnderUtilized: pods on more request 20% of its cpu, not above 30%\n",
		"NodeEmpty memory, 5 nodes: a-6c8f-12 b-6c8f-00: NodeUnderUtilized: pods on memory request 10% of its cpu, not above 30%\n",
		"NodeEmpty other, 5 nodes: a-6c8f-16: NodeUnderUtilized: pods on other request 10% of its cpu, not above 30%\n",
		"NodeEmpty limit, 5 nodes: a-6c8f-09 a-6c8f-10 a-6c8f-11: NodeUnderUtilized: pods on limit request 30% of its cpu, not above 30%\n"
	for _, c := range []struct {
		name, args string
		scope      cluster.Scope
		want       string
	}{
		{"one resource", `{"below":{"cpu":0.3}}`, cluster.Scope{}, other + some + memory + more + limit + "not to [daemons]\n"},
		{"two resources", `{"below":{"cpu":0.3,"memory":0.3},"target":{"memory":0.8},"maxNodes":2}`, cluster.Scope{},
			"NodeEmpty other, 2 nodes: a-6c8f-16: NodeUnderUtilized: pods on other request 10% of its cpu and 0% of its memory, not above 30%\n" +
				"NodeEmpty some, 2 nodes: a-6c8f-17: NodeUnderUtilized: pods on some request 10% of its cpu and 0% of its memory, not above 30%\n" +
				"NodeEmpty more, 2 nodes: a-6c8f-13 a-6c8f-14: NodeUnderUtilized: pods on more request 20% of its cpu and 0% of its memory, not above 30%\n" +
				"NodeEmpty memory, 2 nodes: a-6c8f-12 b-6c8f-00: NodeUnderUtilized: pods on memory request 10% of its cpu and 30% of its memory, not above 30%\n" +
				"NodeEmpty limit, 2 nodes: a-6c8f-09 a-6c8f-10 a-6c8f-11: NodeUnderUtilized: pods on limit request 30% of its cpu and 0% of its memory, not above 30%\n" +
				"not to [daemons]\nmap[memory at most 0.8:19]\n"},
		{"a node pool", `{"below":{"cpu":0.3}}`, cluster.Scope{Nodes: pool}, other},
		{"a resource that no node has", `{"below":{"cpu":0.3,"example.com/gpu":0.5}}`, cluster.Scope{}, ""},
		{"the number of pods", `{"below":{"pods":0.015}}`, cluster.Scope{},
			"NodeEmpty other, 5 nodes: a-6c8f-16: NodeUnderUtilized: pods on other request 0.9% of its pods, not above 1.5%\n" +
				"NodeEmpty some, 5 nodes: a-6c8f-17: NodeUnderUtilized: pods on some request 0.9% of its pods, not above 1.5%\nnot to [daemons]\n"},
		{"enough nodes with few requests", `{"below":{"cpu":0.3},"numberOfNodes":4}`, cluster.Scope{}, other + some + memory + more + limit + "not to [daemons]\n"},
		{"too few nodes with few requests", `{"below":{"cpu":0.3},"numberOfNodes":5}`, cluster.Scope{}, ""},
		{"no node with few requests", `{"below":{"cpu":0.05}}`, cluster.Scope{}, ""},
	} {
		if got := goalsText(t, c.args, c.scope, nodes); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}
