package planverifier

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// NodeLevels are the levels of a NodeLoad strategy by requests of all pods. See "NodeLoad" in
// docs/reference/strategies.md.
type NodeLevels struct {
	// Targets are the fractions that each node may use, by resource.
	Targets map[string]float64
	// Below are the fractions below which a node is under-utilized. The strategy acts if more than
	// NumberOfNodes nodes are.
	Below         map[string]float64
	NumberOfNodes int
}

// WithoutTargets returns the rules of the strategy without the targets of nodes and the skew of groups.
func (s StrategyRules) WithoutTargets() StrategyRules {
	s.Targets, s.MaxSkew = nil, 0
	return s
}

// requestedByNode returns the requests of the pods on each node that do not leave by themselves.
func (w *clusterIndex) requestedByNode(resource string) map[string]int64 {
	out := map[string]int64{}
	for _, pod := range w.pods {
		if w.isBound(pod) && !isTerminal(pod) && !w.leavesByItself(pod) {
			out[pod.Spec.NodeName] += requestOf(pod, resource)
		}
	}
	return out
}

func (w *clusterIndex) leavesByItself(p *corev1.Pod) bool {
	return LeavesByItself(w.pods, w.nodes[p.Spec.NodeName], p, w.now)
}

// LeavesByItself reports whether a pod on the node will be gone soon: it terminates on a Ready node, and should have
// ended at most 5 minutes ago, or it is a pod of a DaemonSet that has on the node a newer pod, or one as old with a
// later name.
func LeavesByItself(pods map[string]*corev1.Pod, n *corev1.Node, p *corev1.Pod, now time.Time) bool {
	if isTerminating(p) {
		return n != nil && isReadyNode(n) && now.Sub(p.DeletionTimestamp.Time) <= 5*time.Minute
	}
	own := metav1.GetControllerOfNoCopy(p)
	if own == nil || own.Kind != "DaemonSet" {
		return false
	}
	for _, q := range pods {
		if q.Spec.NodeName == p.Spec.NodeName && !isTerminal(q) && !isTerminating(q) && metav1.IsControlledBy(q, &metav1.ObjectMeta{UID: own.UID}) &&
			(p.CreationTimestamp.Before(&q.CreationTimestamp) || p.CreationTimestamp.Equal(&q.CreationTimestamp) && p.Name < q.Name) {
			return true
		}
	}
	return false
}

// limitOn returns the target of strategy s that limits node n for moves of the strategy own, and false if none does.
// By moves for s, a node about which no strategy has a goal takes no more than the target of s leaves. By moves
// for others, this holds only on nodes that are excluded or out of scope, and if s has no nodeSelector of its own.
// Moves for strategies that are not soft ignore the targets of soft ones.
func limitOn(r *verifier, s, own *StrategyRules, n *corev1.Node, resource string) (float64, bool) {
	target, has := s.Targets[resource]
	switch {
	case !has || s.Soft && !own.Soft:
		return 0, false
	case r.rules.hasTarget(s, n):
		return target, true
	case s != own && s.NodeSelector != nil || !isReadyNode(n):
		return 0, false
	}
	for i := range r.rules.Strategies {
		if x := &r.rules.Strategies[i]; r.rules.hasTarget(x, n) && x.Targets[resource] > 0 {
			return 0, false
		}
	}
	for _, other := range r.before.nodes {
		if r.rules.hasTarget(s, other) {
			return target, true
		}
	}
	return 0, false
}

// checkWorsened checks that no move brings its target node above the target of a NodeLoad strategy by requests that
// limits the node, nor above the amount before the plan if that is more.
func checkWorsened(r *verifier, p plan.Plan) {
	for i := range r.rules.Strategies {
		s := &r.rules.Strategies[i]
		for _, resource := range sortedKeys(s.Targets) {
			requested := r.before.requestedByNode(resource)
			for _, m := range p.Moves {
				own, pod, n := r.rules.strategyOf(m), r.before.pods[m.Pod.String()], r.before.nodes[m.To]
				if own == nil || pod == nil || n == nil || m.From == m.To {
					continue
				}
				amount := requestOf(pod, resource)
				requested[m.From] -= amount
				requested[m.To] += amount
				target, limited := limitOn(r, s, own, n, resource)
				if amount == 0 || !limited {
					continue
				}
				total := float64(amountOf(n.Status.Allocatable, resource))
				if after := float64(requested[m.To]); after > target*total+1 {
					r.report(m, WorsensGoal, "the move for strategy %s brings %s to %.4f of its %s; the target of strategy %s is %v",
						m.Strategy, m.To, after/total, resource, s.Name, target)
				}
			}
		}
	}
}

// checkUnderUtilized checks that a strategy moves pods off nodes only if enough of its nodes are under-utilized.
func checkUnderUtilized(r *verifier, p plan.Plan) {
	for _, m := range p.Moves {
		s, from := r.rules.strategyOf(m), r.before.nodes[m.From]
		if s == nil || from == nil || m.DisplacedFor != nil {
			continue
		}
		if len(s.Below) == 0 {
			continue
		}
		count := 0
		for _, n := range r.before.nodes {
			if r.rules.hasTarget(s, n) && !n.Spec.Unschedulable && r.before.isBelow(n, s.Below) {
				count++
			}
		}
		if count <= s.NumberOfNodes {
			r.report(m, plan.TooFewUnderUtilized, "%d nodes are under-utilized; strategy %s needs more than %d", count, s.Name, s.NumberOfNodes)
		}
	}
}

// isBelow reports whether the requests on the node are below all levels before the plan.
func (w *clusterIndex) isBelow(n *corev1.Node, levels map[string]float64) bool {
	for resource, level := range levels {
		if total := float64(amountOf(n.Status.Allocatable, resource)); float64(w.requestedByNode(resource)[n.Name]) >= level*total {
			return false
		}
	}
	return true
}

// hasTarget reports whether the strategy limits the node: it is Ready, in scope and not excluded.
func (r *Rules) hasTarget(s *StrategyRules, n *corev1.Node) bool {
	_, excluded := n.Annotations["evenkeel.io/exclude"]
	_, label := n.Labels["evenkeel.io/exclude"]
	return r.countsNode(s, n) && !excluded && !label
}

// requestOf returns the request of the containers of a pod, in milli-units of CPU or in bytes, and 1 for the
// resource pods. It returns 0 for pods whose request has further parts: init containers, an overhead, requests of
// the pod, or a resize.
func requestOf(p *corev1.Pod, resource string) (sum int64) {
	if resource == string(corev1.ResourcePods) {
		return 1
	}
	if len(p.Spec.InitContainers) > 0 || p.Spec.Overhead != nil || p.Spec.Resources != nil || len(p.Status.ContainerStatuses) > 0 {
		return 0
	}
	for i := range p.Spec.Containers {
		sum += amountOf(p.Spec.Containers[i].Resources.Requests, resource)
	}
	return sum
}

func amountOf(list corev1.ResourceList, resource string) int64 {
	q := list[corev1.ResourceName(resource)]
	if resource == string(corev1.ResourceCPU) {
		return q.MilliValue()
	}
	return q.Value()
}
