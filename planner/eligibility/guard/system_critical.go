package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The cluster needs system-critical pods to work.
var systemCritical = Rule{plan.SystemCritical, PodScope, func(in Input) (string, bool) {
	p, known := podPriority(in)
	if !known || p < systemClusterCriticalPriority || !in.Options.Protect[ProtectSystemCritical] {
		return "", false
	}
	return fmt.Sprintf("the pod is system-critical (priority %d)", p), true
}}
