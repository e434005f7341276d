package guard

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If a group of pods is admitted or scheduled as a whole, the replacement of one member may wait
// for quota, and the other members may be restarted or may wait for it. Users can list programs in
// guards.groups. No prediction covers a native scheduling group.
var partOfGroup = Rule{plan.PartOfGroup, PodScope, func(in Input) (string, bool) {
	if !in.Pod.Ordinary {
		if g := in.Pod.Object.Spec.SchedulingGroup; g != nil {
			return fmt.Sprintf("the pod belongs to the scheduling group %q", ptr.Deref(g.PodGroupName, "")), true
		}
	}
	if len(in.Options.GroupKeys) > 0 {
		for _, o := range append([]metav1.Object{in.Pod.Object}, in.Pod.Owners...) {
			for _, key := range in.Options.GroupKeys {
				if _, has := o.GetLabels()[key]; has {
					return fmt.Sprintf("%s has the label %s, which marks the members of a group (guards.groupKeys)", o.GetName(), key), true
				}
			}
		}
	}
	for _, g := range in.podAnnotations().Groups {
		if !slices.Contains(in.Options.Groups, string(g.Program)) {
			return fmt.Sprintf("%s manages the pod as part of a group: %s (to allow evictions, add %s to guards.groups)",
				g.Program, g.Source, g.Program), true
		}
	}
	return "", false
}}
