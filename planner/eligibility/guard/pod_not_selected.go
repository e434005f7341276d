package guard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
)

// guards.podSelector limits evictions to the pods that it selects.
var podNotSelected = Rule{plan.PodNotSelected, PodScope, func(in Input) (string, bool) {
	selector := in.Options.PodSelector
	if selector == nil || selector.Empty() {
		return "", false
	}
	return fmt.Sprintf("guards.podSelector %q does not select the pod", selector), !selector.Matches(labels.Set(in.Pod.Object.Labels))
}}
