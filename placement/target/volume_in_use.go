package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A volume that can be attached to one node only stays where another pod uses it: package volume says which ones. A
// replacement elsewhere would wait in ContainerCreating (FailedAttachVolume), and the workload would lose a replica.
// The kind are all pods that share such a volume, whatever their owners. All of them stay, because the plan would have
// to move them at once.
var volumeInUse = Rule{
	Code: plan.VolumeInUse,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		for use := range in.Volumes.Shared(p.Object) {
			b = append(append(b, use.ID...), 0)
		}
		return b
	},
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) string {
		for use := range in.Volumes.Shared(p.Object) {
			if use.Excludes(n.ID) {
				return use.Words
			}
		}
		return ""
	},
}
