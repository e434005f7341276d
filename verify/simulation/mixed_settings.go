package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Settings returns a random valid config.yaml with a NodeLoad strategy and often a ZoneSpread strategy.
func Settings(r *rand.Rand) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	maybe := func(p float64, format string, args ...any) {
		if r.Float64() < p {
			say(format, args...)
		}
	}
	say("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig")
	say("timeZone: %s", pickRandom(r, "Etc/UTC", "Europe/Berlin", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"))
	maybe(0.25, "nodeSelector: pool=general")
	say("namespaces:\n  exclude: [kube-system%s]", pickRandom(r, "", "", "", ", ns4"))
	maybe(0.05, "  include: [ns0, ns1, ns2]")
	maybe(0.05, "  selector: team=red")
	say("strategies:")
	say("  hot: {type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: %s, memory: 0.9}}}",
		pickRandom(r, "0.2", "0.3", "0.4", "0.5", "0.6"))
	maybe(0.8, "  zones: {type: ZoneSpread, schedule: \"0 * * * *\", args: {maxSkew: %d, by: %s}}", 1+r.IntN(2),
		pickRandom(r, "owner", "owner", "service"))
	writeGuards(r, say, maybe)
	say("limits:\n  perHour: {}")
	maybe(0.5, "  perPass: %s", pickRandom(r, "1", "3", "8", "12", "9%", "17%", "unlimited", "unlimited", "unlimited"))
	maybe(0.5, "  perNode: %s", pickRandom(r, "0", "1", "2", "3", "19%", "33%", "70%", "unlimited", "unlimited", "unlimited"))
	maybe(0.8, "  perNamespace: %s", pickRandom(r, "2", "4", "17%", "50%", "unlimited", "unlimited", "unlimited"))
	maybe(0.6, "  perOwner: %s", pickRandom(r, "1", "2", "30%", "49%", "70%", "70%", "0%", "unlimited", "unlimited", "unlimited"))
	maybe(0.5, "  perZone: %s", pickRandom(r, "2", "4", "11%", "23%", "50%", "unlimited", "unlimited"))
	if r.IntN(5) == 0 {
		writeWindows(r, say, maybe)
	}
	say("evictor:\n  inFlight: {total: %s, perNode: %s, perOwner: %s}", pickRandom(r, "1", "3", "16", "unlimited"),
		pickRandom(r, "1", "2", "3", "unlimited"), pickRandom(r, "1", "1", "2", "3", "unlimited"))
	perHour := "perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}"
	if r.IntN(4) == 0 {
		perHour = fmt.Sprintf("perHour: {owner: %s, namespace: %s, cluster: %s}", pickRandom(r, "1", "2", "3", "10", "unlimited"),
			pickRandom(r, "2", "6", "8", "100", "unlimited"), pickRandom(r, "6", "12", "20", "300", "unlimited"))
	}
	text := strings.Replace(b.String(), "perHour: {}", perHour, 1)
	if rand.New(rand.NewPCG(uint64(len(text)), 1)).IntN(12) == 0 { // a source of its own keeps the other settings
		text = strings.Replace(text, "guards:\n", "guards:\n  blockingPods: [{selector: role=leader, namespace: ns0}, {selector: track=canary, namespace: ns1}]\n", 1)
	}
	return addWindowLimits(text)
}

// addWindowLimits gives limits to some allow windows. A source of its own keeps the other settings.
func addWindowLimits(text string) string {
	before, allow, found := strings.Cut(text, "  allow: ")
	if !found {
		return text
	}
	r := rand.New(rand.NewPCG(uint64(len(text)), 2))
	windows, after, _ := strings.Cut(allow, "\n")
	list := strings.SplitAfter(windows, "}")
	for i := range list {
		if w, isWindow := strings.CutSuffix(list[i], "}"); isWindow && r.IntN(4) == 0 {
			list[i] = w + ", limits: {" + pickRandom(r, "perPass: 1", "perPass: 5%", "perOwner: 1", "perPass: 4, perOwner: 2",
				"perHour: {cluster: 3}", "perHour: {owner: 1}") + "}}"
		}
	}
	return before + "  allow: " + strings.Join(list, "") + "\n" + after
}

func writeGuards(r *rand.Rand, say func(string, ...any), maybe func(float64, string, ...any)) {
	var protect []string
	for _, p := range protections {
		if r.Float64() < p.often {
			protect = append(protect, p.name)
		}
	}
	say("guards:\n  protect: [%s]", strings.Join(protect, ", "))
	say("  minReplicas: %d", pickRandom(r, 1, 2, 2, 3))
	say("  minPodAge: %s", pickRandom(r, "0s", "2m", "5m"))
	if r.Float64() < 0.4 {
		say("  priorityBelow: %s", pickRandom(r, "high", "\"1000\"", "\"500\"", "system-node-critical"))
	} else {
		maybe(0.05, "  priorityBelow: %s", pickRandom(r, "batch", "missing"))
	}
	say("  maxUnavailableWithoutPDB: %d", pickRandom(r, 0, 1, 1, 1, 2, 3, 5))
	maybe(0.2, "  protectedStorageClasses: [%s]", pickRandom(r, "fast", "slow", "fast, slow"))
	maybe(0.2, "  podSelector: movable!=no")
	maybe(0.5, "  controllers: [%s]", pickRandom(r, "argoproj.io/Rollout", "example.com/Thing", "argoproj.io/Rollout, example.com/Thing"))
	maybe(0.5, "  noEvictionPolicy: mandatory")
	maybe(0.5, "  minConfidence: 0.5")
}

// protections lists values of guards.protect and the probability that a configuration contains them.
var protections = []struct {
	name  string
	often float64
}{
	{"PodsWithLocalStorage", 0.8}, {"DaemonSetPods", 0.9}, {"SystemCriticalPods", 0.8}, {"BarePods", 0.8}, {"FailedBarePods", 0.8}, {"Jobs", 0.4},
	{"DegradedWorkloads", 0.7}, {"LastReadyPods", 0.8},
	{"PodsWithPVC", 0.3}, {"PodsWithoutPDB", 0.08}, {"PodsWithResourceClaims, PodsRequiredByAffinity", 0.4},
}

func writeWindows(r *rand.Rand, say func(string, ...any), maybe func(float64, string, ...any)) {
	say("windows:")
	maybe(0.7, "  allow: [{schedule: \"0 %d * * *\", duration: %dh}%s]", r.IntN(24), 4+r.IntN(20),
		pickRandom(r, "", ", {schedule: \"0 6 * * 6,0\", duration: 12h, timeZone: America/New_York}"))
	maybe(0.5, "  deny: [{schedule: \"%d %d * * %s\", duration: %s}]", pickRandom(r, 30, 15), pickRandom(r, 2, r.IntN(24)),
		pickRandom(r, "*", "1-5", "6"),
		pickRandom(r, "45m", "3h", "8h"))
}
