package target

import (
	"encoding/binary"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The kubelet refuses a pod whose spec.os is not the operating system of the node. The kind are all nodes that report
// their operating system, by label or by nodeInfo; other nodes are unknown and pass.
var operatingSystem = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(_ *Input, b []byte, p *cluster.Pod) []byte {
		if os := p.Object.Spec.OS; os != nil {
			b = append(b, os.Name...)
		}
		return b
	},
	Pod: func(_ *Input, p *cluster.Pod, n *cluster.Node) string {
		have, want := nodeOS(n), string(p.Object.Spec.OS.Name)
		if have == "" || have == want {
			return ""
		}
		return fmt.Sprintf("a %s node, and spec.os of the pod is %s", have, want)
	},
}

// An image may lack a variant for another operating system or architecture, and the pod would crash or never start. The
// kind are all workloads: a platform counts as proven if a Ready pod of the workload, or the pod itself, runs on it, or
// if the pod's spec names the platform.
var unproven = Rule{Code: plan.OnlyUnprovenPlatforms,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		if proven, all := in.provenPlatforms(p); !all {
			b = binary.AppendUvarint(b, proven)
		}
		return b
	},
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) string {
		proven, all := in.provenPlatforms(p)
		have := in.platformOf[n.ID]
		if all || have < 0 || proven&(1<<have) != 0 {
			return ""
		}
		return fmt.Sprintf("on %s/%s, where no Ready pod of the workload runs", in.platforms[have].os, in.platforms[have].arch)
	},
}

// platform is the operating system and the architecture of a node.
type platform struct{ os, arch string }

// maxPlatforms limits the platforms that are told apart. The nodes of further platforms are unknown.
const maxPlatforms = 64

// readPlatforms fills in the platforms of the nodes.
func (in *Input) readPlatforms() {
	in.platformOf, in.provenBy = make([]int, len(in.Snapshot.Nodes)), map[cluster.WorkloadID]uint64{}
	for i := range in.Snapshot.Nodes {
		n := &in.Snapshot.Nodes[i]
		is := platform{nodeOS(n), nodeLabel(n, corev1.LabelArchStable, n.Object.Status.NodeInfo.Architecture)}
		at := slices.Index(in.platforms, is)
		switch {
		case is.os == "" || is.arch == "" || at < 0 && len(in.platforms) == maxPlatforms:
			at = -1
		case at < 0:
			at, in.platforms = len(in.platforms), append(in.platforms, is)
		}
		in.platformOf[i] = at
	}
}

func nodeOS(n *cluster.Node) string {
	return nodeLabel(n, corev1.LabelOSStable, n.Object.Status.NodeInfo.OperatingSystem)
}

func nodeLabel(n *cluster.Node, key, otherwise string) string {
	if v, ok := n.Label(key); ok {
		return v
	}
	return otherwise
}

// provenPlatforms returns a bit for each platform that counts as proven for the pod; all is true if every one does.
func (in *Input) provenPlatforms(p *cluster.Pod) (proven uint64, all bool) {
	spec := &p.Object.Spec
	anyOS := spec.OS != nil || namesLabel(spec, corev1.LabelOSStable)
	anyArch := in.Scope.NewArchitectures || namesLabel(spec, corev1.LabelArchStable)
	runs := in.platformBit(p.Node) | in.provenByWorkload(p.Workload)
	if len(in.platforms) < 2 || runs == 0 || anyOS && anyArch {
		return 0, true
	}
	for i, a := range in.platforms {
		for k, b := range in.platforms {
			if runs&(1<<k) != 0 && (anyOS || a.os == b.os) && (anyArch || a.arch == b.arch) {
				proven |= 1 << i
			}
		}
	}
	return proven, false
}

func (in *Input) platformBit(n cluster.NodeID) uint64 {
	if n == cluster.NoNode || in.platformOf[n] < 0 {
		return 0
	}
	return 1 << in.platformOf[n]
}

func (in *Input) provenByWorkload(w cluster.WorkloadID) (bits uint64) {
	if w == cluster.NoWorkload {
		return 0
	}
	bits, known := in.provenBy[w]
	if known {
		return bits
	}
	for _, id := range in.Snapshot.Workloads[w].Pods {
		if p := &in.Snapshot.Pods[id]; p.Ready {
			bits |= in.platformBit(p.Node)
		}
	}
	in.provenBy[w] = bits
	return bits
}

// namesLabel reports whether the node selector or the required node affinity of a pod names a label, or its former
// name.
func namesLabel(s *corev1.PodSpec, key string) bool {
	is := func(k string) bool { return k == key || k == "beta."+key }
	for k := range s.NodeSelector {
		if is(k) {
			return true
		}
	}
	if s.Affinity == nil || s.Affinity.NodeAffinity == nil || s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return is(r.Key) })
	})
}
