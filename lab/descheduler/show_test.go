package descheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// showCluster prints the random cluster of a seed, what both products do in it in one cycle, and why pods stay.
func showCluster(t *testing.T, plugin string, seed uint64) {
	t.Helper()
	if _, ok := scenarios[plugin]; !ok {
		t.Fatalf("-show %s: no such plugin (want one of %v)", plugin, slices.Sorted(maps.Keys(scenarios)))
	}
	p, o := randomCase(plugin, seed)
	c := convertPolicy(t, p.text(t), p.scheduler())
	opts, ours, theirs := c.PlannerOptions().Placement, planPolicy(t, o, c), runPeer(t, o, p.text(t))
	t.Log(p.text(t))
	for _, x := range ours.Rejections.Samples {
		t.Log(x.Pod, x.Node, x.Reason.Code, x.Reason.Message)
	}
	show := func(who string, o *cluster.Objects, evicted []string) {
		after := replace(t, rand.New(rand.NewPCG(seed, 7)), o, opts, evicted)
		t.Logf("%s: %d evictions: %v\n%s", who, len(evicted), evicted, p.describe(withPendingBack(o, after.o), evicted))
	}
	show("before", o, nil)
	show("ours", o, movedPods(ours))
	show("theirs", o, theirs)
}

// randomCase returns the policy and the cluster of a seed.
func randomCase(plugin string, seed uint64) (*policy, *cluster.Objects) {
	r := rand.New(rand.NewPCG(seed, 1))
	p := newPolicy(r, plugin)
	return p, newCluster(r, p, time.Now())
}

// describe returns the nodes with their pods. A star marks a pod that violates the rule, and an
// exclamation mark a replacement.
func (p *policy) describe(o *cluster.Objects, evicted []string) string {
	var out strings.Builder
	s, f := newState(o), p.find(o)
	usage := s.usage()
	for _, n := range o.Nodes {
		u := usage[n.Name]
		fmt.Fprintf(&out, "%s %s %s cordoned=%t %v cpu %.0f%% memory %.0f%% pods %.0f%%:", n.Name, n.Labels[zoneKey], n.Labels["kind"],
			n.Spec.Unschedulable, taints(n), u["cpu"], u["memory"], u["pods"])
		for _, pod := range s.onNode[n.Name] {
			mark := ""
			if f.pods[pod.Name] {
				mark = "*"
			}
			if slices.Contains(evicted, pod.Name) {
				mark += "!"
			}
			fmt.Fprintf(&out, " %s%s", pod.Name, mark)
		}
		out.WriteString("\n")
	}
	return out.String()
}

func taints(n *corev1.Node) (out []string) {
	for _, t := range n.Spec.Taints {
		out = append(out, t.ToString())
	}
	return out
}
