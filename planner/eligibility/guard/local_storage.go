package guard

import "github.com/evenkeel-project/evenkeel/plan"

// emptyDir and hostPath hold data on the node; it does not follow the pod.
var localStorage = Rule{plan.LocalStorage, podScope, func(in Input) (string, bool) {
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
	return joined(causes), len(causes) > 0
}}

// localVolume is a volume on the node.
type localVolume struct{ name, kind string }

func (v localVolume) String() string { return "volume " + v.name + " is " + v.kind + " on the node" }
