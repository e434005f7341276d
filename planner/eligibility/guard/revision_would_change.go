package guard

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A StatefulSet pod comes back from the revision that its ordinal is due:
// with OnDelete, or above a partition, that may be another than it has. Such an
// update is for its owner to make.
var revisionWouldChange = Rule{plan.RevisionWouldChange, podScope, func(in Input) (string, bool) {
	if len(in.Pod.Owners) == 0 {
		return "", false
	}
	o, ok := in.Pod.Owners[0].(*appsv1.StatefulSet)
	if !ok {
		return "", false
	}
	has := in.Pod.Object.Labels[appsv1.ControllerRevisionHashLabelKey]
	next := nextRevision(o, in.Pod.Object.Name)
	switch {
	case next == "", has == next:
		return "", false
	case has == "":
		return "its revision is not known (label " + appsv1.ControllerRevisionHashLabelKey + "), and it would come back as " + next, true
	}
	return fmt.Sprintf("it is of revision %s and would come back as %s", has, next), true
}}

// nextRevision is the revision from which the pod would be made again; "" when
// the status names none.
func nextRevision(o *appsv1.StatefulSet, pod string) string {
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
