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

// newNodeIndex indexes nodes by all that may name them.
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

// find looks for the nodes whose name, hostname or address the text is, first as
// it stands and, if there are none, without a port: n1, 10.0.0.1, fd00::1,
// n1:9100, 10.0.0.1:9100, [fd00::1]:9100. One is the answer, none means unknown,
// and several mean that nobody can tell: n1 may be one node's name and another's
// hostname. Nothing is looked up anywhere, and no part of a name will do.
//
// fd00::1:9100 is an address, not one with a port: both can be read into it.
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

// canonicalAddress writes an address in its one short form: fd00:0::1 and [fd00::1] are
// fd00::1. Anything else stays as it is.
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
