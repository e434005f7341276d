package guard

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// knownControllers lists the kinds whose way to replace pods Evenkeel knows.
var knownControllers = map[string]bool{
	"apps/ReplicaSet":        true,
	"apps/StatefulSet":       true,
	"apps/DaemonSet":         true,
	"batch/Job":              true,
	"/ReplicationController": true,
}

// Evenkeel cannot predict when an unknown controller replaces a pod, nor from which template.
// Users can list such kinds in guards.controllers.
var unknownController = Rule{plan.UnknownController, PodScope, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil {
		return "", false
	}
	kind := groupKind(c.APIVersion, c.Kind)
	if slices.Contains(in.Options.Controllers, kind) {
		return "", false
	}
	if manager := jobManager(in.Pod.Owners); manager != "" {
		return fmt.Sprintf("it is unknown how %s (spec.managedBy) replaces the pods of Job %s (to allow: add %s to guards.controllers)", manager, c.Name, kind), true
	}
	if knownControllers[kind] {
		return "", false
	}
	return fmt.Sprintf("it is unknown how %s replaces pods (to allow: add it to guards.controllers)", strings.TrimPrefix(kind, "/")), true
}}

// jobManager returns spec.managedBy of the pod's Job. It returns "" if the Job controller
// manages the Job, or if the pod has no Job.
func jobManager(owners []metav1.Object) string {
	if len(owners) == 0 {
		return ""
	}
	j, ok := owners[0].(*batchv1.Job)
	if !ok || j.Spec.ManagedBy == nil || *j.Spec.ManagedBy == batchv1.JobControllerName {
		return ""
	}
	return *j.Spec.ManagedBy
}
