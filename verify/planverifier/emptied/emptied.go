// Package emptied decides for the plan verifier whether the moves of a plan that empty nodes keep
// their rules: a node is emptied as a whole or not at all, nothing lands on it, no more nodes are
// emptied than the strategy allows, and no other node becomes fuller than its target. It never
// looks at guards, budgets or limits.
package emptied

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Codes for plans that break a rule about empty nodes.
const (
	PartlyEmptied plan.Code = "PartlyEmptied" // a move empties a node that the plan does not empty
	LandsOnEmpty  plan.Code = "LandsOnEmpty"  // a replacement lands on a node that the plan empties
	NothingGained plan.Code = "NothingGained" // a move empties one node and fills another that was empty
	TooManyNodes  plan.Code = "TooManyNodes"  // the plan empties more nodes than the strategy allows
	AboveTarget   plan.Code = "AboveTarget"   // a replacement brings a node above the target
	WrongExcess   plan.Code = "WrongExcess"   // the plan misstates whether a node is empty afterwards
)

// Rules are the arguments of a NodeConsolidation strategy.
type Rules struct {
	MaxNodes int                // 0: no limit
	Target   map[string]float64 // fractions of allocatable, by resource
}

// Finding is a rule that a move breaks. The move is empty if the finding is about the whole plan.
type Finding struct {
	Move   plan.Move
	Code   plan.Code
	Detail string
}

// Cluster holds the pods by namespace/name, and the nodes by name.
type Cluster struct {
	Pods  map[string]*corev1.Pod
	Nodes map[string]*corev1.Node
	// InScope reports whether a node is Ready and in the scope of a strategy.
	InScope func(strategy string, n *corev1.Node) bool
	// LeavesByItself reports whether a pod will be gone soon. Such pods do not count against targets.
	LeavesByItself func(*corev1.Pod) bool
}

// Findings returns every rule that the plan breaks. rules holds the strategies by name.
func Findings(c Cluster, p plan.Plan, rules map[string]Rules) (out []Finding) {
	leaves := map[string]bool{}
	for _, m := range p.Moves {
		leaves[m.Pod.String()] = m.To != m.From
	}
	count := map[string]int{}
	for _, g := range p.Goals {
		if g.Kind != plan.NodeEmpty {
			continue
		}
		found, emptied := c.checkNode(p, g, leaves)
		if out = append(out, found...); emptied {
			count[g.Strategy]++
		}
	}
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if most := rules[s].MaxNodes; most > 0 && count[s] > most {
			out = append(out, Finding{Code: TooManyNodes, Detail: fmt.Sprintf("the plan empties %d nodes for strategy %s, which allows %d",
				count[s], s, most)})
		}
		out = append(out, c.checkTargets(p, s, rules[s].Target)...)
	}
	return out
}

// checkNode checks the node of one goal. It reports whether moves empty the node for the goal.
func (c Cluster) checkNode(p plan.Plan, g plan.Goal, leaves map[string]bool) (out []Finding, emptied bool) {
	node, stays, back := g.Subject.Name, "", false
	pods := PodsOn(c.Pods, node)
	if i := slices.IndexFunc(pods, func(name string) bool { return !leaves[name] }); i >= 0 {
		stays = pods[i]
	}
	for _, m := range p.Moves {
		serves := slices.Contains(m.Goals, g.ID)
		emptied = emptied || serves
		back = back || m.To == node
		if serves && (stays != "" || m.From != node) {
			out = append(out, Finding{m, PartlyEmptied, fmt.Sprintf("it serves goal %s, which empties %s, but %s stays there or it leaves %s",
				g.ID, node, stays, m.From)})
		}
		if serves && c.isRemovable(g.Strategy, c.Nodes[m.To]) {
			out = append(out, Finding{m, NothingGained, fmt.Sprintf("it serves goal %s, which empties %s, and lands on %s, which is empty",
				g.ID, node, m.To)})
		}
	}
	for _, m := range p.Moves {
		if emptied && m.To == node {
			out = append(out, Finding{m, LandsOnEmpty, fmt.Sprintf("its replacement lands on %s, which the plan empties for goal %s", node, g.ID)})
		}
	}
	if empty := stays == "" && !back; empty != (p.After.Excess[g.ID] == 0) {
		out = append(out, Finding{Code: WrongExcess, Detail: fmt.Sprintf("the excess of goal %s after the plan is %v, and %s is empty: %v",
			g.ID, p.After.Excess[g.ID], node, empty)})
	}
	return out, emptied
}

// isRemovable reports whether a node has no pods at all and nothing says that it stays. The requests
// of DaemonSets could be too many for `below`, so a node with such pods does not count here.
func (c Cluster) isRemovable(strategy string, n *corev1.Node) bool {
	if n == nil || !c.InScope(strategy, n) || n.Spec.Unschedulable {
		return false
	}
	for _, key := range []string{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "karpenter.sh/do-not-disrupt", "evenkeel.io/exclude"} {
		if value, has := n.Annotations[key]; has && value != "false" {
			return false
		}
	}
	if _, controlPlane := n.Labels["node-role.kubernetes.io/control-plane"]; controlPlane || n.Labels["evenkeel.io/exclude"] != "" {
		return false
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName == n.Name && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			return false
		}
	}
	return true
}

// PodsOn returns the names of the pods that keep the node from being empty.
func PodsOn(pods map[string]*corev1.Pod, node string) (out []string) {
	for name, p := range pods {
		if p.Spec.NodeName == node && mustLeave(p) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// mustLeave reports whether a pod keeps its node from being empty. Pods that have ended, that
// terminate, or that run on one node only do not.
func mustLeave(p *corev1.Pod) bool {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
		return false
	}
	return !BelongsToNode(p)
}

// BelongsToNode reports whether each node has its own pod of this kind: the kubelet runs it, a DaemonSet controls it,
// an annotation says so, or its affinity requires one node by name.
func BelongsToNode(p *corev1.Pod) bool {
	if o := metav1.GetControllerOfNoCopy(p); o != nil && (o.Kind == "DaemonSet" || o.Kind == "Node") {
		return true
	}
	source, static := p.Annotations["kubernetes.io/config.source"]
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	if mirror || static && source != "api" || p.Annotations["cluster-autoscaler.kubernetes.io/daemonset-pod"] == "true" {
		return true
	}
	nodes := map[string]bool{}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			named := false
			for _, f := range term.MatchFields {
				if f.Key == "metadata.name" && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
					nodes[f.Values[0]], named = true, true
					break
				}
			}
			if !named {
				return false
			}
		}
	}
	return len(nodes) == 1
}

// checkTargets checks that no move that empties a node for the strategy brings another node above a target.
func (c Cluster) checkTargets(p plan.Plan, strategy string, target map[string]float64) (out []Finding) {
	toEmpty := map[string]bool{}
	for _, g := range p.Goals {
		toEmpty[g.ID] = g.Kind == plan.NodeEmpty && g.Strategy == strategy
	}
	for _, r := range slices.Sorted(maps.Keys(target)) {
		name, requested := corev1.ResourceName(r), map[string]int64{}
		for _, pod := range c.Pods {
			if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && !c.LeavesByItself(pod) {
				requested[pod.Spec.NodeName] += amount(name, resource.PodRequests(pod, resource.PodResourcesOptions{UseStatusResources: true}))
			}
		}
		for _, m := range p.Moves {
			pod, n := c.Pods[m.Pod.String()], c.Nodes[m.To]
			if pod == nil || n == nil || m.From == m.To {
				continue
			}
			size := amount(name, resource.PodRequests(pod, resource.PodResourcesOptions{}))
			requested[m.From] -= size
			requested[m.To] += size
			total := float64(amount(name, n.Status.Allocatable))
			serves := slices.ContainsFunc(m.Goals, func(g string) bool { return toEmpty[g] })
			if after := float64(requested[m.To]); serves && size > 0 && after > target[r]*total+1 {
				out = append(out, Finding{m, AboveTarget, fmt.Sprintf("it brings %s to %.4f of its %s; the target of strategy %s is %v",
					m.To, after/total, r, strategy, target[r])})
			}
		}
	}
	return out
}

func amount(r corev1.ResourceName, list corev1.ResourceList) int64 {
	q := list[r]
	if r == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}
