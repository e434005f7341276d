package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// emptyDir and hostPath hold data on the node; it does not follow the pod.
var localStorage = Rule{plan.LocalStorage, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectLocalStorage] {
		return "", false
	}
	for i := range in.Pod.Object.Spec.Volumes {
		v := &in.Pod.Object.Spec.Volumes[i]
		switch {
		case v.EmptyDir != nil:
			return fmt.Sprintf("volume %s is an emptyDir on the node", v.Name), true
		case v.HostPath != nil:
			return fmt.Sprintf("volume %s is a hostPath on the node", v.Name), true
		}
	}
	return "", false
}}
