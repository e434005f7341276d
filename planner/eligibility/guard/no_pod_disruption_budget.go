package guard

import "github.com/evenkeel-project/evenkeel/plan"

// Where every workload that may be disrupted is meant to have a budget, one
// without has not been thought about.
var noPodDisruptionBudget = Rule{plan.NoPodDisruptionBudget, podScope, func(in Input) (string, bool) {
	return "no PodDisruptionBudget selects it (guards.protect: PodsWithoutPDB)", len(in.Pod.Budgets) == 0 && in.Options.Protect[ProtectWithoutPDB]
}}
