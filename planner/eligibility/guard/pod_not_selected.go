package guard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
)

var podNotSelected = Rule{plan.PodNotSelected, podScope, func(in Input) (string, bool) {
	sel := in.Options.PodSelector
	if sel == nil || sel.Empty() {
		return "", false
	}
	return fmt.Sprintf("guards.podSelector %q does not select it", sel), !sel.Matches(labels.Set(in.Pod.Object.Labels))
}}
