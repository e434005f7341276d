// Package hostports decides for the plan verifier whether two pods need the same host port. It never looks at nodes.
package hostports

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

const anyAddress = "0.0.0.0"

// Shared reports whether both pods need the same host port on one address.
func Shared(p, q *corev1.Pod) bool {
	for _, a := range portsOf(p) {
		for _, b := range portsOf(q) {
			from, to := cmp.Or(a.HostIP, anyAddress), cmp.Or(b.HostIP, anyAddress)
			if a.HostPort == b.HostPort && cmp.Or(a.Protocol, corev1.ProtocolTCP) == cmp.Or(b.Protocol, corev1.ProtocolTCP) &&
				(from == to || from == anyAddress || to == anyAddress) {
				return true
			}
		}
	}
	return false
}

// portsOf returns the host ports of the containers and sidecars.
func portsOf(p *corev1.Pod) (out []corev1.ContainerPort) {
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
