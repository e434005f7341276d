package guard

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// An owner that is named but not there says nothing about replicas: the pod
// may be an orphan on its way to garbage collection.
var ownerNotFound = Rule{plan.OwnerNotFound, podScope, func(in Input) (string, bool) {
	if !in.Pod.OwnerMissing {
		return "", false
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "the pod's owner is not in the snapshot", true
	}
	if j, ok := w.Object.(*batchv1.Job); ok { // what starts Jobs is not there
		if above := metav1.GetControllerOfNoCopy(j); above != nil {
			return fmt.Sprintf("%s %s/%s, which controls its Job %s, is not in the snapshot", above.Kind, w.Namespace, above.Name, w.Name),
				!slices.Contains(in.Options.Controllers, groupKind(above.APIVersion, above.Kind))
		}
	}
	if in.vouched(w) {
		return "", false // its kind is not read; the config vouches for it
	}
	return fmt.Sprintf("its owner %s %s/%s is not in the snapshot", w.Kind, w.Namespace, w.Name), true
}}
