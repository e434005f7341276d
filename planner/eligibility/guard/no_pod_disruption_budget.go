package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The protection PodsWithoutPDB lets users require a PodDisruptionBudget for every eviction.
var noPodDisruptionBudget = Rule{plan.NoPodDisruptionBudget, PodScope, func(in Input) (string, bool) {
	return "no PodDisruptionBudget selects the pod (guards.protect: PodsWithoutPDB)",
		len(in.Pod.Budgets) == 0 && in.Options.Protect[ProtectWithoutPDB]
}}
