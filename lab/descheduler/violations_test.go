package descheduler

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// found is what a rule finds wrong in a cluster. It is written from the documentation of the
// descheduler, and shares no code with the descheduler or with Evenkeel.
type found struct {
	// violations is the number of overutilized nodes, of nodes in use, of superfluous duplicates,
	// of pods by which domains exceed the largest skew, or of pods that violate the rule.
	violations int
	// pods are the names of the pods that violate the rule where they are.
	pods map[string]bool
}

func (f *found) add(p *corev1.Pod) {
	if f.pods[p.Name] {
		return
	}
	f.violations++
	f.pods[p.Name] = true
}

// state is a cluster, with the pods of each node.
type state struct {
	o      *cluster.Objects
	now    time.Time
	nodes  map[string]*corev1.Node
	onNode map[string][]*corev1.Pod // bound and not ended
}

func newState(o *cluster.Objects) *state {
	s := &state{o: o, now: o.TakenAt, nodes: map[string]*corev1.Node{}, onNode: map[string][]*corev1.Pod{}}
	for _, n := range o.Nodes {
		s.nodes[n.Name] = n
	}
	for _, p := range o.Pods {
		if p.Spec.NodeName != "" && !ended(p) {
			s.onNode[p.Spec.NodeName] = append(s.onNode[p.Spec.NodeName], p)
		}
	}
	return s
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// find returns what the rule of the policy finds wrong in the cluster.
func (p *policy) find(o *cluster.Objects) found {
	s, f := newState(o), found{pods: map[string]bool{}}
	switch p.plugin {
	case "LowNodeUtilization":
		f.overutilized(s, &p.rule)
	case "HighNodeUtilization":
		f.underutilized(s, &p.rule)
	case "RemoveDuplicates":
		f.duplicates(s, &p.rule)
	case "RemovePodsViolatingTopologySpreadConstraint":
		f.skewed(s, &p.rule)
	default:
		for _, pod := range o.Pods {
			if pod.Spec.NodeName != "" && p.rule.Namespaces.has(pod.Namespace) && p.rule.LabelSelector.matches(pod.Labels) && podRules[p.plugin](s, &p.rule, pod) {
				f.add(pod)
			}
		}
	}
	return f
}

// usage returns the requests on each node as percentages of the allocatable.
func (s *state) usage() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for name, n := range s.nodes {
		var cpu, memory int64
		for _, p := range s.onNode[name] {
			for _, c := range p.Spec.Containers {
				cpu += c.Resources.Requests.Cpu().MilliValue()
				memory += c.Resources.Requests.Memory().Value()
			}
		}
		a := n.Status.Allocatable
		out[name] = map[string]float64{"cpu": 100 * float64(cpu) / float64(a.Cpu().MilliValue()),
			"memory": 100 * float64(memory) / float64(a.Memory().Value()), "pods": 100 * float64(len(s.onNode[name])) / float64(a.Pods().Value())}
	}
	return out
}

// overutilized finds the nodes above targetThresholds in any resource. With useDeviationThresholds,
// the thresholds are distances from the mean.
func (f *found) overutilized(s *state, x *rule) {
	usage := s.usage()
	for name, u := range usage {
		over := false
		for k, target := range x.TargetThresholds {
			if x.UseDeviationThresholds {
				target = min(100, mean(usage, k)+target)
			}
			over = over || u[k] > target+1e-9
		}
		if over {
			f.violations++
			for _, p := range s.onNode[name] {
				f.pods[p.Name] = true
			}
		}
	}
}

func mean(usage map[string]map[string]float64, resource string) float64 {
	sum := 0.0
	for _, u := range usage {
		sum += u[resource]
	}
	return sum / float64(len(usage))
}

// underutilized counts the nodes that run pods, except pods of DaemonSets: the plugin is there to
// run the pods on fewer nodes. A node that is above thresholds only because it took the pods of
// another one therefore counts, too. The pods that violate the rule are those on nodes that are
// below thresholds in all resources.
func (f *found) underutilized(s *state, x *rule) {
	usage := s.usage()
	for name, pods := range s.onNode {
		if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.OwnerReferences[0].Kind != "DaemonSet" }) {
			f.violations++
		}
		if below(usage[name], x.Thresholds) {
			for _, p := range pods {
				f.pods[p.Name] = true
			}
		}
	}
}

// below reports whether the usage is below the thresholds in all resources.
func below(usage, thresholds map[string]float64) bool {
	for k, threshold := range thresholds {
		if usage[k] >= threshold {
			return false
		}
	}
	return true
}

// duplicates finds the pods of one owner on one node, beyond the number with which an even spread
// over the nodes that take such pods would do.
func (f *found) duplicates(s *state, x *rule) {
	groups := map[string]map[string][]*corev1.Pod{} // by owner and node
	for node, pods := range s.onNode {
		for _, p := range pods {
			kind := p.OwnerReferences[0].Kind
			if kind == "DaemonSet" || slices.Contains(x.ExcludeOwnerKinds, kind) || !x.Namespaces.has(p.Namespace) {
				continue
			}
			key := fmt.Sprint(p.Namespace, "/", kind, "/", p.OwnerReferences[0].Name, "/", p.Spec.Containers[0].Image)
			if groups[key] == nil {
				groups[key] = map[string][]*corev1.Pod{}
			}
			groups[key][node] = append(groups[key][node], p)
		}
	}
	for _, byNode := range groups {
		total, feasible := 0, 0
		var one *corev1.Pod
		for _, pods := range byNode {
			total, one = total+len(pods), pods[0]
		}
		for _, n := range s.o.Nodes {
			if !n.Spec.Unschedulable && tolerates(one, n, corev1.TaintEffectNoSchedule) && requiredMatches(one, n) {
				feasible++
			}
		}
		if feasible < 2 {
			continue
		}
		even := (total + feasible - 1) / feasible
		for _, pods := range byNode {
			if len(pods) > even {
				f.violations += len(pods) - even
				for _, p := range pods {
					f.pods[p.Name] = true
				}
			}
		}
	}
}

// skewed finds the constraints whose skew exceeds maxSkew, and counts the pods by which it does.
func (f *found) skewed(s *state, x *rule) {
	seen := map[string]bool{}
	for _, p := range s.o.Pods {
		if ended(p) || !x.Namespaces.has(p.Namespace) || !x.LabelSelector.matches(p.Labels) {
			continue
		}
		for _, c := range p.Spec.TopologySpreadConstraints {
			key := fmt.Sprint(p.Namespace, c.TopologyKey, c.MaxSkew, c.LabelSelector.MatchLabels)
			if when := string(c.WhenUnsatisfiable); slices.Contains(x.Constraints, when) || len(x.Constraints) == 0 && when == "DoNotSchedule" {
				if !seen[key] {
					seen[key] = true
					f.skewedConstraint(s, p, &c)
				}
			}
		}
	}
}

func (f *found) skewedConstraint(s *state, declares *corev1.Pod, c *corev1.TopologySpreadConstraint) {
	domains := map[string][]*corev1.Pod{}
	for name, n := range s.nodes {
		domain, ok := n.Labels[c.TopologyKey]
		if !ok || !requiredMatches(declares, n) ||
			c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor && !tolerates(declares, n, corev1.TaintEffectNoSchedule) {
			continue
		}
		domains[domain] = append(domains[domain], nil)[:len(domains[domain])] // present, though it may have no pod
		selector := labelSelector{c.LabelSelector.MatchLabels}
		for _, p := range s.onNode[name] {
			if p.Namespace == declares.Namespace && selector.matches(p.Labels) {
				domains[domain] = append(domains[domain], p)
			}
		}
	}
	least := -1
	for _, pods := range domains {
		if least < 0 || len(pods) < least {
			least = len(pods)
		}
	}
	for _, pods := range domains {
		if excess := len(pods) - least - int(c.MaxSkew); excess > 0 {
			f.violations += excess
			for _, p := range pods {
				f.pods[p.Name] = true
			}
		}
	}
}
