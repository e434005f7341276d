package model

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// anyIP is the address of a host port that is open on all of the node's addresses.
const anyIP = "0.0.0.0"

// HostPort is a port that a pod uses on its node.
type HostPort struct {
	ip       string
	protocol corev1.Protocol
	port     int32
}

// conflictsWith reports whether two pods cannot use these ports on the same node.
func (a HostPort) conflictsWith(b HostPort) bool {
	return a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || a.ip == anyIP || b.ip == anyIP)
}

// PortsConflict reports whether two pods with these ports cannot be on the same node.
func PortsConflict(a, b []HostPort) bool {
	return slices.ContainsFunc(a, func(p HostPort) bool { return slices.ContainsFunc(b, p.conflictsWith) })
}

// hostPorts returns the host ports of a pod's containers and sidecars. Other init containers end
// before the containers start, so their ports do not count.
func hostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				out = append(out, HostPort{cmp.Or(p.HostIP, anyIP), cmp.Or(p.Protocol, corev1.ProtocolTCP), p.HostPort})
			}
		}
	}
	for i := range spec.InitContainers {
		if ptr.Deref(spec.InitContainers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
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

// PortTable counts, for each node, the pods that use each host port.
type PortTable []map[HostPort]int32

func (t PortTable) adjust(ports []HostPort, n int, by int32) {
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

// FirstTaken returns the first of the ports that a pod on the node uses; 0 if all ports are
// free.
func (t PortTable) FirstTaken(ports []HostPort, n int) int32 {
	for _, want := range ports {
		for used := range t[n] {
			if want.conflictsWith(used) {
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
