package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/strategies"
)

var (
	listIndex    = regexp.MustCompile(`\[\d+\]`)
	strategyName = regexp.MustCompile(`^strategies\.[^.]*`)
)

// remedies tell what to write instead of keys that are unknown in one place but plausible there, by the path without
// indexes and names of strategies, or instead of keys and values where an earlier format had them.
var remedies = map[string]string{
	"guards.schedulerTimeout":                         " (it is always 1m)",
	"guards.maxStaleness":                             " (it is always 2m)",
	"evictor.steerMaxFrac":                            " (it is always 0.67)",
	"evictor.steerTTL":                                " (it is always 10m)",
	"evictor.background":                              " (want backgroundTimeout, such as 1h)",
	"evictor.breaker.maxBadLandingsFrac":              " (maxFailedFrac also bounds the share of bad landings)",
	"load.metricsServer":                              " (want load.timeout)",
	"load.prometheus.timeout":                         " (want load.timeout)",
	"load.loadWatcher.timeout":                        " (want load.timeout)",
	"load.prometheus.insecureSkipVerify":              " (want caFile: a file with the certificate authority of the server)",
	"web":                                             " (want load.serve)",
	"hints.formerLabels":                              " (want hints.former)",
	"hints.formerTaints":                              " (want hints.former)",
	"hints.skipTaints":                                " (it is always the taints of control planes)",
	"hints.for":                                       " (want for in the rules)",
	"hints.clearMargin":                               " (want clear in the rules; without it, a hint goes 10% inside the level)",
	"hints.rules[].clearBelow":                        " (want clear)",
	"hints.rules[].clearAbove":                        " (want clear)",
	"placement.profiles[].score":                      " (write plugins and pluginConfig, as in a KubeSchedulerConfiguration)",
	"placement.profiles[].weights":                    " (write plugins and pluginConfig, as in a KubeSchedulerConfiguration)",
	"placement.profiles[].targetLoadPacking":          " (write plugins and pluginConfig, as in a KubeSchedulerConfiguration)",
	"placement.profiles[].loadVariationRiskBalancing": " (write plugins and pluginConfig, as in a KubeSchedulerConfiguration)",
	"placement.profiles[].lowRiskOverCommitment":      " (write plugins and pluginConfig, as in a KubeSchedulerConfiguration)",
	"placement.profiles[].policy":                     " (`evenkeel config scheduler --from-policy FILE` converts a Policy; name its result in placement.schedulerConfig)",
	"windows.deny[].limits":                           " (nothing is evicted while a deny window is open; want limits only in windows.allow)",
	"strategies.*.jitter":                             " (there is none: other minutes in schedule spread the runs)",
	"strategies.*.missed":                             " (a missed firing is always skipped)",
	"strategies.*.on":                                 " (want onNodeReady, such as 5m)",
	"strategies.*.true":                               " (without quotes, YAML 1.1 reads on as true; want onNodeReady, such as 5m)",
	"strategies.*.timeZone":                           " (timeZone at the top level applies to all strategies)",
	"placement.trust":                                 " (want minHitRate alone, such as placement.trust: 0.9)",
	"evictor.backoff":                                 " (want initial alone, such as evictor.backoff: 10m)",
	"hints.label":                                     " (want KEY=VALUE, such as hints.label: evenkeel.io/pressure=true)",
	"hints.taint":                                     " (want the key alone, such as hints.taint: evenkeel.io/pressure)",
	"guards.landing":                                  " (want landing in the strategies that need no place)",
	"history.maxBytes":                                " (it is always 64 MiB)",
	"notify[].timeout":                                " (it is always 10s)",
	"mode":                                            " (want dryRun: true or false for all strategies, or mode in a strategy)",
	"podSelector":                                     " (want guards.podSelector for all strategies, or podSelector in a strategy)",
	"windows.allow[].limits.perNode":                  " (only limits.perNode at the top level is possible)",
	"windows.allow[].limits.perNamespace":             " (only limits.perNamespace at the top level is possible)",
	"windows.allow[].limits.perZone":                  " (only limits.perZone at the top level is possible)",
	"windows.allow[].limits.perHour.namespace":        " (only limits.perHour.namespace at the top level is possible)",
	"strategies.*.limits.perNode":                     " (only limits.perNode at the top level is possible)",
	"strategies.*.limits.perNamespace":                " (only limits.perNamespace at the top level is possible)",
	"strategies.*.limits.perZone":                     " (only limits.perZone at the top level is possible)",
	"strategies.*.limits.perHour.namespace":           " (only limits.perHour.namespace at the top level is possible)",
	"windows.allow[].limits.maxPredictions":           " (limits.maxPredictions at the top level bounds every plan)",
	"strategies.*.limits.maxPredictions":              " (limits.maxPredictions at the top level bounds the planning for all strategies)",
	"strategies.*.name":                               " (the name is the key of the strategy: strategies are a map by name)",
	"strategies.*.priority":                           " (did you mean weight? Goals of a greater weight come first; the default is 1)",
	"strategies.*.args.pools":                         " (write a strategy with a nodeSelector for each pool)",
	"strategies.*.guards.podSelector":                 " (write podSelector beside guards)",
}

// Remedies returns what to write instead of keys that are unknown in one place but plausible there, and of keys and
// values where an earlier format had them. The paths have [] for each index and * for each name of a strategy.
func Remedies() map[string]string { return maps.Clone(remedies) }

// remedy says what to write instead of an unknown key, or of a value of another kind. Its parent is then nil.
func remedy(path string, parent, value *yaml.Node) string {
	pattern := strategyName.ReplaceAllString(listIndex.ReplaceAllString(path, "[]"), "strategies.*")
	key := path[strings.LastIndexByte(path, '.')+1:]
	if text := remedies[pattern]; text != "" {
		return text
	}
	if parent == nil {
		return listRemedy(key, value)
	}
	switch {
	case pattern == "strategies.*.dryRun":
		if value.Value == "true" {
			return " (did you mean mode: dryRun?)"
		}
		return " (want mode: automatic, approve or dryRun)"
	case pattern == "strategies.*."+key:
		typ := ""
		if n := valueAt(parent, "type"); n != nil {
			typ = n.Value
		}
		switch {
		case strategies.HasArgument(typ, key):
			return fmt.Sprintf(" (it is an argument of %s; write it in args)", typ)
		case slices.Contains(keysOf[Config](), key):
			return " (it is a key of the whole file; write it at the top level)"
		}
	case pattern == "strategies.*.guards."+key && slices.Contains(keysOf[Guards](), key):
		return " (only guards." + key + " at the top level is possible)"
	case pattern == key && slices.Contains(keysOf[Strategy](), key):
		return " (it is a key of a strategy)"
	}
	return ""
}

// listRemedy says what to write instead of a list where keys and values are wanted.
func listRemedy(key string, n *yaml.Node) string {
	if key == "strategies" && n.Kind == yaml.SequenceNode {
		return " (strategies are a map by name; `evenkeel config convert FILE` makes one of the list)"
	}
	var names []string
	if n.Decode(&names) != nil || len(names) == 0 {
		return ""
	}
	isProtection := func(name string) bool { return slices.Contains(guard.Protections(), guard.Protection(name)) }
	switch {
	case key == "namespaces":
		return fmt.Sprintf(" (did you mean {include: [%s]}?)", strings.Join(names, ", "))
	case key == "guards" && !slices.ContainsFunc(names, func(n string) bool { return !isProtection(n) }):
		return fmt.Sprintf(" (did you mean {protect: [%s]}?)", strings.Join(names, ", "))
	}
	return ""
}

// valueAt returns the value of a key of a mapping, or nil.
func valueAt(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping != nil && mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// keysOf returns the keys of a struct.
func keysOf[T any]() []string {
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// isMisplacedInArgs reports whether an unknown argument is a key of strategies.
func isMisplacedInArgs(typ, argument string) bool {
	return !strategies.HasArgument(typ, argument) && slices.Contains(keysOf[Strategy](), argument)
}

// hasArgumentBesideArgs reports whether an argument of the strategy is written beside args. An error about a missing
// argument would then only repeat the mistake.
func hasArgumentBesideArgs(d *strict.Decoder, path, typ string) bool {
	return slices.ContainsFunc(strategies.Arguments(typ), func(name string) bool {
		return !slices.Contains(keysOf[Strategy](), name) && d.HasErrors(path+"."+name)
	})
}
