package placement

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// anyIP is the host address that stands for all of a node's.
const anyIP = "0.0.0.0"

// hostPort is a port that a pod takes on its node.
type hostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

// clashes reports whether two pods cannot have the ports on one node.
func (a hostPort) clashes(b hostPort) bool {
	return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == anyIP || b.ip == anyIP)
}

// hostPorts lists the ports that a pod takes for as long as it runs: those of
// its containers and sidecars. An init container has ended before the others
// start, so its ports are not counted.
func hostPorts(spec *corev1.PodSpec) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			out = append(out, hostPort{cmp.Or(p.HostIP, anyIP), cmp.Or(p.Protocol, corev1.ProtocolTCP), p.HostPort})
		}
	}
	for i := range spec.InitContainers {
		if p := spec.InitContainers[i].RestartPolicy; p != nil && *p == corev1.ContainerRestartPolicyAlways {
			add(&spec.InitContainers[i])
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	slices.SortFunc(out, func(a, b hostPort) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.ip, b.ip))
	})
	return out
}

// shiftPorts counts the ports of a class on a node.
func (w *World) shiftPorts(c *class, n int, by int32) {
	for _, p := range c.ports {
		if w.ports[n] == nil {
			w.ports[n] = map[hostPort]int32{}
		}
		w.ports[n][p] += by
		if w.ports[n][p] == 0 {
			delete(w.ports[n], p)
		}
	}
}

// portTaken returns the first of the ports that a pod has on the node; 0 when
// there is none.
func (w *World) portTaken(ports []hostPort, n int) int32 {
	for _, want := range ports {
		for used := range w.ports[n] {
			if want.clashes(used) {
				return want.port
			}
		}
	}
	return 0
}
