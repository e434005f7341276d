package guard

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// With OnDelete or a partition, the replacement of a StatefulSet pod may have another revision.
// The owner of the StatefulSet decides when to make such an update.
var revisionWouldChange = Rule{plan.RevisionWouldChange, PodScope, func(in Input) (string, bool) {
	if len(in.Pod.Owners) == 0 {
		return "", false
	}
	o, ok := in.Pod.Owners[0].(*appsv1.StatefulSet)
	if !ok {
		return "", false
	}
	current := in.Pod.Object.Labels[appsv1.ControllerRevisionHashLabelKey]
	next := replacementRevision(o, in.Pod.Object.Name)
	switch {
	case next == "", current == next:
		return "", false
	case current == "":
		return "the pod has no label " + appsv1.ControllerRevisionHashLabelKey + ", and its replacement would have revision " + next, true
	}
	return fmt.Sprintf("the pod has revision %s, and its replacement would have revision %s", current, next), true
}}

// replacementRevision returns the revision of the pod's replacement. It returns "" if the status
// of the StatefulSet names no revision.
func replacementRevision(o *appsv1.StatefulSet, pod string) string {
	st := &o.Status
	if st.UpdateRevision == "" || st.CurrentRevision == st.UpdateRevision {
		return st.UpdateRevision
	}
	if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return st.UpdateRevision
	}
	ordinal, err := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	if err != nil {
		return st.UpdateRevision
	}
	start := 0
	if o.Spec.Ordinals != nil {
		start = int(o.Spec.Ordinals.Start)
	}
	if ordinal < start+int(partition(o)) {
		return st.CurrentRevision
	}
	return st.UpdateRevision
}
