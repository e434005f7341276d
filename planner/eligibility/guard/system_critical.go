package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The built-in classes have fixed values in every cluster
// (k8s.io/api/scheduling/v1 reserves everything above 1e9 for the system).
const (
	systemClusterCritical int32 = 2000000000
	systemNodeCritical    int32 = 2000001000
)

var systemCritical = Rule{plan.SystemCritical, podScope, func(in Input) (string, bool) {
	p, known := priority(in)
	if !known || p < systemClusterCritical || !in.Options.Protect[ProtectSystemCritical] {
		return "", false
	}
	return fmt.Sprintf("the pod is critical to the system (priority %d)", p), true
}}
