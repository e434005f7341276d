package model

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// anyIP is the host address that stands for all of a node's.
const anyIP = "0.0.0.0"

// HostPort is a port that a pod takes on its node.
type HostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

// clashes reports whether two pods cannot have the ports on one node.
func (a HostPort) clashes(b HostPort) bool {
	return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == anyIP || b.ip == anyIP)
}

// hostPorts lists the ports that a pod takes for as long as it runs: those of
// its containers and sidecars. An init container has ended before the others
// start, so its ports are not counted.
func hostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			out = append(out, HostPort{cmp.Or(p.HostIP, anyIP), cmp.Or(p.Protocol, corev1.ProtocolTCP), p.HostPort})
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
	slices.SortFunc(out, func(a, b HostPort) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.ip, b.ip))
	})
	return out
}

// PortTable counts, by node, the pods that take each host port; nil for none.
type PortTable []map[HostPort]int32

// Adjust counts ports on a node.
func (t PortTable) Adjust(ports []HostPort, n int, by int32) {
	for _, p := range ports {
		if t[n] == nil {
			t[n] = map[HostPort]int32{}
		}
		t[n][p] += by
		if t[n][p] == 0 {
			delete(t[n], p)
		}
	}
}

// Taken returns the first of the ports that a pod has on the node; 0 when
// there is none.
func (t PortTable) Taken(ports []HostPort, n int) int32 {
	for _, want := range ports {
		for used := range t[n] {
			if want.clashes(used) {
				return want.port
			}
		}
	}
	return 0
}

func (t PortTable) clone() PortTable {
	c := slices.Clone(t)
	for i := range c {
		c[i] = maps.Clone(c[i])
	}
	return c
}
