package descheduler

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// podRules say whether a pod in scope violates the rule of a plugin, by plugin.
var podRules = map[string]func(s *state, x *rule, p *corev1.Pod) bool{
	"RemovePodsViolatingInterPodAntiAffinity": func(s *state, _ *rule, p *corev1.Pod) bool { return !ended(p) && s.repelled(p) },
	"RemovePodsViolatingNodeAffinity":         func(s *state, x *rule, p *corev1.Pod) bool { return !ended(p) && s.unwanted(x, p) },
	"RemovePodsViolatingNodeTaints": func(s *state, x *rule, p *corev1.Pod) bool {
		return !ended(p) && !toleratesConsidered(x, p, s.nodes[p.Spec.NodeName])
	},
	"RemovePodsHavingTooManyRestarts": func(_ *state, x *rule, p *corev1.Pod) bool {
		restarts, states := int32(0), []string{string(p.Status.Phase)}
		for _, c := range p.Status.ContainerStatuses {
			if restarts += c.RestartCount; c.State.Waiting != nil {
				states = append(states, c.State.Waiting.Reason)
			}
		}
		return restarts >= x.PodRestartThreshold && matchesAny(x.States, states)
	},
	"PodLifeTime": func(s *state, x *rule, p *corev1.Pod) bool {
		kind := p.OwnerReferences[0].Kind
		return s.now.Sub(p.CreationTimestamp.Time) > time.Duration(x.MaxPodLifeTimeSeconds)*time.Second &&
			matchesAny(x.States, []string{string(p.Status.Phase)}) && x.OwnerKinds.has(kind)
	},
	"RemoveFailedPods": func(s *state, x *rule, p *corev1.Pod) bool {
		reasons, codes := []string{p.Status.Reason}, []int32(nil)
		for _, c := range p.Status.ContainerStatuses {
			if c.State.Terminated != nil {
				reasons, codes = append(reasons, c.State.Terminated.Reason), append(codes, c.State.Terminated.ExitCode)
			}
		}
		return p.Status.Phase == corev1.PodFailed && s.now.Sub(p.CreationTimestamp.Time) > time.Duration(x.MinPodLifetimeSeconds)*time.Second &&
			matchesAny(x.Reasons, reasons) && matchesAny(x.ExitCodes, codes) && !slices.Contains(x.ExcludeOwnerKinds, p.OwnerReferences[0].Kind)
	},
}

// matchesAny reports whether wanted is empty, or has one of the values.
func matchesAny[T comparable](wanted, values []T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(values, func(v T) bool { return slices.Contains(wanted, v) })
}

// repelled reports whether required anti-affinity keeps the pod and another pod in the same domain
// apart, whichever of the two declares it.
func (s *state) repelled(p *corev1.Pod) bool {
	for _, pods := range s.onNode {
		for _, q := range pods {
			if q != p && (s.keepsApart(p, q) || s.keepsApart(q, p)) {
				return true
			}
		}
	}
	return false
}

// keepsApart reports whether p declares required anti-affinity to q, and the two are in the same
// domain. The terms in the clusters of these tests have labels only, and select pods of the same
// namespace.
func (s *state) keepsApart(p, q *corev1.Pod) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil || p.Namespace != q.Namespace {
		return false
	}
	return slices.ContainsFunc(p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
		selector := labelSelector{t.LabelSelector.MatchLabels}
		return selector.matches(q.Labels) && s.nodes[p.Spec.NodeName].Labels[t.TopologyKey] == s.nodes[q.Spec.NodeName].Labels[t.TopologyKey]
	})
}

// unwanted reports whether the node affinity of the pod rejects its node, or prefers another node
// that takes such pods.
func (s *state) unwanted(x *rule, p *corev1.Pod) bool {
	here := s.nodes[p.Spec.NodeName]
	if slices.Contains(x.NodeAffinityType, "requiredDuringSchedulingIgnoredDuringExecution") && !requiredMatches(p, here) {
		return true
	}
	return slices.Contains(x.NodeAffinityType, "preferredDuringSchedulingIgnoredDuringExecution") &&
		slices.ContainsFunc(s.o.Nodes, func(n *corev1.Node) bool {
			return preference(p, n) > preference(p, here) && !n.Spec.Unschedulable && requiredMatches(p, n) && tolerates(p, n, corev1.TaintEffectNoSchedule)
		})
}

// requiredMatches reports whether the required node affinity of the pod selects the node. The
// clusters of these tests have one term with one requirement, In.
func requiredMatches(p *corev1.Pod, n *corev1.Node) bool {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return termMatches(&a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0], n)
}

func termMatches(t *corev1.NodeSelectorTerm, n *corev1.Node) bool {
	return slices.Contains(t.MatchExpressions[0].Values, n.Labels[t.MatchExpressions[0].Key])
}

// preference returns the sum of the weights of the preferred terms that select the node.
func preference(p *corev1.Pod, n *corev1.Node) (sum int32) {
	if p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil {
		for _, t := range p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			if termMatches(&t.Preference, n) {
				sum += t.Weight
			}
		}
	}
	return sum
}

// tolerates reports whether the pod tolerates the node's taints of the effects.
func tolerates(p *corev1.Pod, n *corev1.Node, effects ...corev1.TaintEffect) bool {
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return slices.Contains(effects, t.Effect) && !tolerated(p, t)
	})
}

// tolerated reports whether the pod tolerates the taint. The clusters of these tests have
// tolerations with Exists only.
func tolerated(p *corev1.Pod, t corev1.Taint) bool {
	return slices.ContainsFunc(p.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == "" || x.Key == t.Key })
}

// toleratesConsidered reports whether the pod tolerates the taints that the rule considers.
func toleratesConsidered(x *rule, p *corev1.Pod, n *corev1.Node) bool {
	listed := func(list []string, t corev1.Taint) bool {
		return slices.Contains(list, t.Key) || slices.Contains(list, t.Key+"="+t.Value)
	}
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		considered := t.Effect == corev1.TaintEffectNoSchedule || x.IncludePreferNoSchedule && t.Effect == corev1.TaintEffectPreferNoSchedule
		return considered && !listed(x.ExcludedTaints, t) && (len(x.IncludedTaints) == 0 || listed(x.IncludedTaints, t)) && !tolerated(p, t)
	})
}
