package guard

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// replaces names the controllers, by API group and kind, whose way of replacing
// a pod is known.
var replaces = map[string]bool{
	"apps/ReplicaSet":        true,
	"apps/StatefulSet":       true,
	"apps/DaemonSet":         true,
	"batch/Job":              true,
	"/ReplicationController": true,
}

// When and from which template an unknown controller replaces a pod cannot be
// foretold, unless the config vouches for it.
var unknownController = Rule{plan.UnknownController, podScope, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil {
		return "", false
	}
	kind := groupKind(c.APIVersion, c.Kind)
	if by := jobManager(in.Pod.Owners); by != "" && !slices.Contains(in.Options.Controllers, kind) {
		return fmt.Sprintf("how %s replaces the pods of Job %s is not known (spec.managedBy; guards.controllers may name %s)", by, c.Name, kind), true
	}
	if replaces[kind] || slices.Contains(in.Options.Controllers, kind) {
		return "", false
	}
	return fmt.Sprintf("how %s replaces pods is not known (guards.controllers may name it)", strings.TrimPrefix(kind, "/")), true
}}

// jobManager is who manages the pod's Job where that is not the Job controller.
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

func groupKind(apiVersion, kind string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	return group + "/" + kind
}
