package usage

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// nodeIndex finds the node that an answer names.
type nodeIndex struct {
	nodes []Node
	byKey map[string][]int
}

// newNodeIndex indexes nodes by name, hostname and internal IPs.
func newNodeIndex(nodes []Node) *nodeIndex {
	x := &nodeIndex{nodes: nodes, byKey: make(map[string][]int, 3*len(nodes))}
	for i, n := range nodes {
		x.add(n.Name, i)
		x.add(n.Hostname, i)
		for _, ip := range n.InternalIPs {
			x.add(canonicalAddress(ip), i)
		}
	}
	return x
}

func (x *nodeIndex) add(key string, i int) {
	if key != "" && !slices.Contains(x.byKey[key], i) {
		x.byKey[key] = append(x.byKey[key], i)
	}
}

// find returns the nodes whose name, hostname or address is the text. If no node matches, find tries again without
// a port. Examples are n1, 10.0.0.1, fd00::1, n1:9100, 10.0.0.1:9100 and [fd00::1]:9100. No result means that the
// name is unknown. Several results mean that it is ambiguous: n1 may be the name of one node and the hostname of
// another. find resolves no DNS names and matches no partial names.
//
// The text fd00::1:9100 is ambiguous, so find treats it as an address without a port.
func (x *nodeIndex) find(text string) []int {
	if found := x.byKey[canonicalAddress(text)]; len(found) > 0 {
		return found
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil
	}
	return x.byKey[canonicalAddress(host)]
}

// canonicalAddress returns the short form of an address: fd00:0::1 and [fd00::1] become
// fd00::1. Any other text is returned unchanged.
func canonicalAddress(text string) string {
	bare := text
	if n := len(bare); n > 2 && bare[0] == '[' && bare[n-1] == ']' {
		bare = bare[1 : n-1]
	}
	ip, err := netip.ParseAddr(bare)
	if err != nil || bare != text && !ip.Is6() {
		return text
	}
	return ip.Unmap().String()
}
