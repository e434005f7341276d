package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// StrategySettings returns Settings with random scopes, limits, guards, weights and softness of the
// strategies, and often a third strategy.
func StrategySettings(r *rand.Rand) string {
	text := Settings(r)
	if r.IntN(2) == 0 {
		text = strings.Replace(text, "strategies:\n", "strategies:\n"+fmt.Sprintf(
			"  warm: {type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: %s%s}}\n", pickRandom(r, "0.3", "0.5", "0.7"),
			moreLevels(text)), 1)
	}
	for _, name := range []string{"warm", "hot", "zones"} {
		if own := strategyKeys(r, text); own != "" {
			text = strings.Replace(text, "  "+name+": {", "  "+name+": {"+own, 1)
		}
	}
	return text
}

// moreLevels returns random levels of NodeLoad after a target for cpu and the end of the targets. A source of its own
// keeps the other settings.
func moreLevels(text string) string {
	r := rand.New(rand.NewPCG(uint64(len(text)), 3))
	below := pickRandom(r, "", "", ", below: {cpu: 0.3}", ", below: {cpu: 0.2}, numberOfNodes: 2", ", below: {cpu: 0.3}, numberOfNodes: 20")
	if r.IntN(2) == 0 {
		return fmt.Sprintf(", pods: %s}%s", pickRandom(r, "0.03", "0.1"), pickRandom(r, below, below, ", below: {pods: 0.02, cpu: 0.3}"))
	}
	return "}" + below
}

// strategyKeys returns random keys of one strategy, each followed by a comma. The guards are at
// least as strict as those of the configuration.
func strategyKeys(r *rand.Rand, text string) string {
	var b strings.Builder
	maybe := func(p float64, format string, args ...any) {
		if r.Float64() < p {
			fmt.Fprintf(&b, format+", ", args...)
		}
	}
	maybe(0.3, "nodeSelector: %s", pickRandom(r, "pool=general", "pool!=general"))
	maybe(0.25, "podSelector: %q", pickRandom(r, "movable!=no", "app in (a0, a1, a2, a3)", "track!=canary"))
	if !strings.Contains(text, "  include: ") {
		maybe(0.25, "namespaces: {%s}", pickRandom(r, "include: [ns0, ns1]", "exclude: [ns2]", "selector: team=red", "exclude: [ns0], selector: team!=red"))
	}
	maybe(0.3, "limits: {%s}", pickRandom(r, "perPass: 2", "perPass: 5%", "perOwner: 1", "perPass: 4, perOwner: 2",
		"perHour: {cluster: 3}", "perHour: {owner: 1}", "perPass: 0"))
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "guards: {%s}, ", strategyGuards(r))
	}
	maybe(0.3, "weight: %s", pickRandom(r, "0.1", "0.5", "2", "10"))
	maybe(0.3, "soft: true")
	return b.String()
}

// strategyGuards returns random guards, with a comma after each.
func strategyGuards(r *rand.Rand) string {
	var b strings.Builder
	maybe := func(key string, values ...string) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "%s: %s, ", key, pickRandom(r, values...))
		}
	}
	maybe("minReplicas", "3", "4")
	maybe("minPodAge", "5m", "1h")
	maybe("priorityBelow", "\"400\"", "batch")
	maybe("protect", "[PodsWithPVC]", "[LastReadyPods, PodsWithoutPDB]", "[LastReadyPods, DegradedWorkloads]", "[PodsWithLocalStorage, Jobs]",
		"[LastReadyPods, PodsWithPVC]")
	maybe("protectedStorageClasses", "[slow]", "[fast, slow]")
	return b.String()
}
