package modeverifier

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/spread"
)

const zoneLabel = "topology.kubernetes.io/zone"

// owners maps the UID of a ReplicaSet to the UID of its Deployment.
type owners map[string]string

func newOwners(o *cluster.Objects) owners {
	out := owners{}
	for _, rs := range o.ReplicaSets {
		if c := metav1.GetControllerOf(rs); c != nil {
			out[string(rs.UID)] = string(c.UID)
		}
	}
	return out
}

// workload identifies the workload of a pod. It returns "" for a pod without a controller.
func (x owners) workload(p *corev1.Pod) string {
	c := metav1.GetControllerOf(p)
	if c == nil {
		return ""
	}
	if top := x[string(c.UID)]; top != "" {
		return top
	}
	return string(c.UID)
}

// checkGoals checks the goals that constrain a part: the targets of nodes, and the spread of workloads.
func (r *verifier) checkGoals(moves, first []plan.Move, mode string) {
	before := map[string]string{} // node by pod
	for k, pod := range r.pods {
		before[k] = pod.Spec.NodeName
	}
	for _, m := range first {
		before[m.Pod.String()] = m.To
	}
	after := maps.Clone(before)
	for _, m := range moves {
		after[m.Pod.String()] = m.To
	}
	// Moves for strategies that are not soft may worsen goals of soft ones.
	withFirm := slices.ContainsFunc(moves, func(m plan.Move) bool { return !r.rules.rulesOf(m.Strategy).Soft })
	for _, m := range moves {
		if pod := r.pods[m.Pod.String()]; pod != nil && r.nodes[m.To] != nil { // otherwise package planverifier reports it
			r.checkTargets(m, before, after, mode, withFirm)
			r.checkSpreads(m, pod, before, after, mode, withFirm)
		}
	}
}

// checkTargets checks that the part lifts the target node of the move no further above the target
// of a NodeLoad strategy by requests.
func (r *verifier) checkTargets(m plan.Move, before, after map[string]string, mode string, withFirm bool) {
	for _, t := range r.rules.Targets {
		own := r.rules.rulesOf(t.Strategy)
		n := r.nodes[m.To]
		_, excluded := n.Annotations["evenkeel.io/exclude"] // if the strategy selects nodes, such a node limits only its own moves
		if !r.rules.constrains(t.Strategy, mode) || own.Soft && withFirm || excluded && own.NodeSelector != nil && m.Strategy != t.Strategy ||
			own.NodeSelector != nil && !own.NodeSelector.Matches(labels.Set(n.Labels)) {
			continue
		}
		was, is := r.requestedOn(m.To, t.Resource, before), r.requestedOn(m.To, t.Resource, after)
		total := r.nodes[m.To].Status.Allocatable[corev1.ResourceName(t.Resource)]
		if most := t.Target * float64(total.MilliValue()); is > was && float64(is) > most+1e-3 {
			r.report(m, GoalWorsened, "%s would have %d thousandths of its %s requested, after %d; the target of strategy %s is %v",
				m.To, is, t.Resource, was, t.Strategy, most)
		}
	}
}

// requestedOn sums the requests on a node in thousandths of the unit, for pods at these places. Pods that leave by
// themselves do not count.
func (r *verifier) requestedOn(node, name string, at map[string]string) (sum int64) {
	for k, p := range r.pods {
		if at[k] == node && !isTerminal(p) && !planverifier.LeavesByItself(r.pods, r.nodes[p.Spec.NodeName], p, r.objects.TakenAt) {
			q := resource.PodRequests(p, resource.PodResourcesOptions{})[corev1.ResourceName(name)]
			sum += q.MilliValue()
		}
	}
	return sum
}

// checkSpreads checks that the part makes the workload of the move no more uneven over the zones.
// It checks only workloads that can run on every node; for others, not every zone counts.
func (r *verifier) checkSpreads(m plan.Move, pod *corev1.Pod, before, after map[string]string, mode string, withFirm bool) {
	for _, s := range r.rules.Spreads {
		if !r.rules.constrains(s.Strategy, mode) || r.rules.rulesOf(s.Strategy).Soft && withFirm || !r.runsEverywhere(pod) {
			continue
		}
		was, is := spread.Moves(r.podsByZone(pod, before), s.MaxSkew), spread.Moves(r.podsByZone(pod, after), s.MaxSkew)
		if is > was {
			r.report(m, GoalWorsened, "its workload would need %d moves to be even over the zones (strategy %s), and %d before",
				is, s.Strategy, was)
		}
	}
}

// podsByZone counts the pods of a pod's workload in each zone, for pods at these places.
func (r *verifier) podsByZone(of *corev1.Pod, at map[string]string) []int {
	counts := map[string]int{}
	for _, n := range r.nodes {
		counts[n.Labels[zoneLabel]] = 0
	}
	for k, p := range r.pods {
		if n := r.nodes[at[k]]; n != nil && r.owners.workload(p) == r.owners.workload(of) && !isTerminal(p) &&
			p.DeletionTimestamp == nil {
			counts[n.Labels[zoneLabel]]++
		}
	}
	return slices.Collect(maps.Values(counts))
}

// runsEverywhere reports whether every zone counts for the workload of the pod.
func (r *verifier) runsEverywhere(p *corev1.Pod) bool {
	for _, n := range r.nodes {
		ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		scope := r.rules.Plan.NodeSelector
		if len(n.Spec.Taints) > 0 || n.Spec.Unschedulable || !ready || n.Labels[zoneLabel] == "" || r.rules.Plan.IsVirtual(n) ||
			scope != nil && !scope.Matches(labels.Set(n.Labels)) {
			return false
		}
	}
	return len(p.Spec.NodeSelector) == 0 && p.Spec.Affinity == nil && len(p.Spec.Volumes) == 0 && r.owners.workload(p) != ""
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
