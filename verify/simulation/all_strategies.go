package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// AllStrategySettings returns StrategySettings with most of the other strategies, which have random arguments, scopes,
// limits, guards, weights and softness too.
func AllStrategySettings(r *rand.Rand) string {
	before, after, _ := strings.Cut(StrategySettings(r), "strategies:\n")
	var b strings.Builder
	add := func(name, typ, args string) {
		if r.IntN(4) > 0 {
			own := ""
			if r.IntN(2) == 0 {
				own = strategyKeys(r, before+after)
			}
			fmt.Fprintf(&b, "  %s: {%stype: %s, schedule: \"0 * * * *\", args: {%s}}\n", name, own, typ, args)
		}
	}
	kinds := pickRandom(r, "", "", "ownerKinds: {exclude: [StatefulSet]}", "ownerKinds: {include: [Deployment]}")
	add("constraints", "TopologySpread", pickRandom(r, "", "whenUnsatisfiable: [DoNotSchedule, ScheduleAnyway]"))
	add("copies", "Duplicates", kinds)
	add("apart", "InterPodAntiAffinity", "")
	add("restarted", "Restarts", pickRandom(r, "minRestarts: 3", "minRestarts: 6, states: [Running]", "minRestarts: 1, states: [CrashLoopBackOff]"))
	add("old", "Lifetime", pickRandom(r, "maxAge: 9h", "maxAge: 8h, states: [Running, Succeeded]", strings.TrimSuffix("maxAge: 9h, "+kinds, ", "),
		"maxAge: 1h, states: [Failed, Pending]", "states: [Failed, CrashLoopBackOff]", "states: [Pending, CrashLoopBackOff], minAge: 6h"))
	add("failed", "FailedPods", pickRandom(r, "minAge: 0s", "minAge: 30m, remove: deletion", "reasons: [Evicted], remove: deletion"))
	add("affine", "NodeAffinity", pickRandom(r, "preferred: true", "", "required: false, preferred: true"))
	add("tainted", "NodeTaints", pickRandom(r, "preferNoSchedule: true", "", "exclude: [dedicated=a]", "include: [dedicated]"))
	add("pack", "NodeConsolidation", pickRandom(r, "below: {cpu: 0.4}, target: {cpu: 0.8}", "below: {cpu: 0.3}, target: {cpu: 0.9, memory: 0.9}, maxNodes: 1"))
	if r.IntN(2) == 0 {
		after += "placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]}\n"
	}
	return before + "strategies:\n" + b.String() + after
}

// AddedStrategies are the names of the strategies that AllStrategySettings adds.
var AddedStrategies = []string{"constraints", "copies", "apart", "restarted", "old", "failed", "affine", "tainted", "pack"}
