package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// An owner that is named but not there says nothing about replicas: the pod
// may be an orphan on its way to garbage collection.
var ownerNotFound = Rule{plan.OwnerNotFound, func(in Input) (string, bool) {
	if !in.Pod.OwnerMissing {
		return "", false
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "the pod's owner is not in the snapshot", true
	}
	if in.vouched(w) {
		return "", false // its kind is not read; the config vouches for it
	}
	return fmt.Sprintf("its owner %s %s/%s is not in the snapshot", w.Kind, w.Namespace, w.Name), true
}}
