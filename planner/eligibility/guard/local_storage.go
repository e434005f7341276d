package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The data of an emptyDir or a hostPath stays on the node when the pod leaves.
var localStorage = Rule{plan.LocalStorage, PodScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectLocalStorage] {
		return "", false
	}
	var causes []localVolume
	for i := range in.Pod.Object.Spec.Volumes {
		v := &in.Pod.Object.Spec.Volumes[i]
		switch {
		case v.EmptyDir != nil:
			causes = append(causes, localVolume{v.Name, "an emptyDir"})
		case v.HostPath != nil:
			causes = append(causes, localVolume{v.Name, "a hostPath"})
		}
	}
	return joinCauses(causes), len(causes) > 0
}}

// localVolume is a volume whose data is on the node.
type localVolume struct{ name, kind string }

func (v localVolume) String() string { return "volume " + v.name + " is " + v.kind + " on the node" }
