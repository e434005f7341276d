package guard

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If the owner does not exist, its replicas are unknown, and the garbage collector may soon
// delete the pod.
var ownerNotFound = Rule{plan.OwnerNotFound, PodScope, func(in Input) (string, bool) {
	if !in.Pod.OwnerMissing {
		return "", false
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "the pod's owner is not in the snapshot", true
	}
	if j, ok := w.Object.(*batchv1.Job); ok { // the Job exists; its own controller is missing
		if owner := metav1.GetControllerOfNoCopy(j); owner != nil {
			return fmt.Sprintf("%s %s/%s, which controls its Job %s, is not in the snapshot", owner.Kind, w.Namespace, owner.Name, w.Name),
				!slices.Contains(in.Options.Controllers, groupKind(owner.APIVersion, owner.Kind))
		}
	}
	if in.isConfiguredController(w) {
		return "", false // Evenkeel does not read this kind, but the configuration lists it
	}
	return fmt.Sprintf("its owner %s %s/%s is not in the snapshot", w.Kind, w.Namespace, w.Name), true
}}
