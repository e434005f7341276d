package planverifier

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// checkWaveRoom checks that each replacement of a wave fits on its node in every order. The
// evicted pods of the wave may all still terminate, and the other replacements may all be
// placed. A terminating pod keeps its requests and host ports, and its required anti-affinity
// applies. Only the pod's own place is free, because its replacement lands elsewhere.
func (r *verifier) checkWaveRoom(calls []call) {
	next := make([]*corev1.Pod, len(calls))
	for i, c := range calls {
		next[i] = c.pod.DeepCopy()
		next[i].Labels = replacementLabels(c.pod, r.chainOf(c.pod).lowest())
		next[i].Spec.NodeName = c.move.To
	}
	for i, c := range calls {
		if r.nodes[c.move.To] == nil {
			continue
		}
		var others []*corev1.Pod
		for _, p := range r.livePods {
			if p != c.pod && !isTerminal(p) && r.isBound(p) {
				others = append(others, p)
			}
		}
		for j, p := range next {
			if j != i && r.isBound(p) {
				others = append(others, p)
			}
		}
		if why := r.noRoom(next[i], others); why != "" {
			r.report(c.move, NeedsOtherGone, "on %s %s, unless another pod of wave %d is gone", c.move.To, why, c.move.Wave)
		}
	}
}

// noRoom returns why the pod does not fit on its node beside the others; empty if it fits.
func (r *verifier) noRoom(pod *corev1.Pod, others []*corev1.Pod) string {
	allocatable := r.nodes[pod.Spec.NodeName].Status.Allocatable
	total := resource.PodRequests(pod, resource.PodResourcesOptions{})
	requested := total.DeepCopy()
	pods := int64(1)
	for _, p := range others {
		if r.excludes(pod, p) || r.excludes(p, pod) {
			return "required anti-affinity keeps it apart from " + key(p)
		}
		if p.Spec.NodeName != pod.Spec.NodeName {
			continue
		}
		pods++
		for name, amount := range resource.PodRequests(p, resource.PodResourcesOptions{}) {
			sum := total[name]
			sum.Add(amount)
			total[name] = sum
		}
		if sharePort(pod, p) {
			return "it shares a host port with " + key(p)
		}
	}
	for name := range requested {
		if sum, has := total[name], allocatable[name]; !requested.Name(name, "").IsZero() && sum.Cmp(has) > 0 {
			return "pods would request " + sum.String() + " of " + has.String() + " " + string(name)
		}
	}
	if has, ok := allocatable[corev1.ResourcePods]; ok && pods > has.Value() {
		return "there are too many pods"
	}
	return ""
}

// excludes reports whether a required anti-affinity term of p excludes q from p's domain.
func (r *verifier) excludes(p, q *corev1.Pod) bool {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	for _, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		here, ok := r.nodes[p.Spec.NodeName].Labels[t.TopologyKey]
		there, known := r.nodes[q.Spec.NodeName].Labels[t.TopologyKey]
		if ok && known && here == there && r.termSelects(t, p, q) {
			return true
		}
	}
	return false
}

// sharePort reports whether both pods need the same host port on one address.
func sharePort(p, q *corev1.Pod) bool {
	for _, a := range hostPorts(p) {
		for _, b := range hostPorts(q) {
			if a.HostPort == b.HostPort && protocol(a) == protocol(b) && (address(a) == address(b) || address(a) == anyAddress || address(b) == anyAddress) {
				return true
			}
		}
	}
	return false
}

const anyAddress = "0.0.0.0"

// hostPorts returns the host ports of the containers and sidecars.
func hostPorts(p *corev1.Pod) (out []corev1.ContainerPort) {
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				out = append(out, port)
			}
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	return out
}

func protocol(p corev1.ContainerPort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

func address(p corev1.ContainerPort) string {
	if p.HostIP == "" {
		return anyAddress
	}
	return p.HostIP
}
