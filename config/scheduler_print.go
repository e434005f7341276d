package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// SchedulerOptions say what a printed KubeSchedulerConfiguration contains.
type SchedulerOptions struct {
	// SpreadWeight is the weight of PodTopologySpread; 0: what Policy says, or
	// DefaultSpreadWeight.
	SpreadWeight int
	// PressureKey and PressureValue are a label of nodes that pods should avoid;
	// with an empty value the key alone. No key: none.
	PressureKey, PressureValue string
	// Watcher is the address of a load-watcher for trimaran; empty for none.
	Watcher string
	// Kubeconfig is the path that kube-scheduler connects with; empty: as a pod.
	Kubeconfig string
	// Policy is converted; nil for none.
	Policy *LegacyPolicy
}

// DefaultSpreadWeight is the weight of PodTopologySpread that does what
// SelectorSpreadPriority does with weight 5.
const DefaultSpreadWeight = 5

// printed is one profile in the making.
type printed struct {
	notes     []string // what of a Policy is lost, or differs
	weights   map[string]int
	scoresOff []string
	spread    []string // topology keys of default constraints
	required  []corev1.NodeSelectorRequirement
	preferred []corev1.PreferredSchedulingTerm
	hard      *int
	strategy  string
	shape     []shapePoint
	resources []resourceSpec
}

// PrintScheduler writes a KubeSchedulerConfiguration (v1) with comments, and says
// what of the Policy has no equivalent in it.
func PrintScheduler(o SchedulerOptions) (text string, lost []string) {
	p := &printed{weights: map[string]int{}}
	if o.Policy != nil {
		p.convert(o.Policy)
	} else {
		p.weights["PodTopologySpread"] = DefaultSpreadWeight
		p.spread = []string{corev1.LabelTopologyZone, corev1.LabelHostname}
	}
	if o.SpreadWeight > 0 {
		p.weights["PodTopologySpread"] = o.SpreadWeight
		p.scoresOff = slices.DeleteFunc(p.scoresOff, func(name string) bool { return name == "PodTopologySpread" })
	}
	if o.PressureKey != "" {
		avoid := corev1.NodeSelectorRequirement{Key: o.PressureKey, Operator: corev1.NodeSelectorOpDoesNotExist}
		if o.PressureValue != "" {
			avoid.Operator, avoid.Values = corev1.NodeSelectorOpNotIn, []string{o.PressureValue}
		}
		p.prefer(100, avoid)
		if slices.Contains(p.scoresOff, "NodeAffinity") {
			p.scoresOff = slices.DeleteFunc(p.scoresOff, func(name string) bool { return name == "NodeAffinity" })
			p.weights["NodeAffinity"] = 2
		}
	}
	w := &lines{}
	w.head(o, p)
	w.profile(p)
	if o.Watcher != "" {
		w.trimaran(o.Watcher)
	}
	return w.String(), p.notes
}

func (p *printed) prefer(weight int32, r corev1.NodeSelectorRequirement) {
	p.preferred = append(p.preferred, corev1.PreferredSchedulingTerm{Weight: weight,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}}})
}

// lines collects the text.
type lines struct{ strings.Builder }

func (w *lines) add(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *lines) head(o SchedulerOptions, p *printed) {
	w.add("# Configuration of kube-scheduler (its flag --config), printed by evenkeel config scheduler.")
	w.add("# Name it in Evenkeel's own configuration too (placement.schedulerConfig), so that")
	w.add("# Evenkeel foretells what this scheduler does.")
	if len(p.notes) > 0 {
		w.add("#\n# Converted from a legacy Policy. What has no equivalent, or is not quite the same:")
		for _, n := range p.notes {
			w.add("# - %s", n)
		}
	}
	w.add("apiVersion: %s\nkind: %s", schedulerVersion, schedulerKind)
	if o.Kubeconfig != "" {
		w.add("clientConnection:\n  kubeconfig: %s", strconv.Quote(o.Kubeconfig))
	} else {
		w.add("# Outside a pod, kube-scheduler needs clientConnection: {kubeconfig: PATH} here; it")
		w.add("# ignores its flag --kubeconfig beside --config.")
	}
}

func (w *lines) profile(p *printed) {
	w.add("profiles:\n- schedulerName: default-scheduler\n  plugins:")
	if len(p.weights) > 0 {
		w.add("    multiPoint:\n      enabled:")
		for _, name := range scorePlugins {
			if weight, ok := p.weights[name]; ok {
				w.add("      - {name: %s, weight: %d}", name, weight)
			}
		}
	}
	if len(p.scoresOff) > 0 {
		w.add("    score:\n      disabled:")
		for _, name := range p.scoresOff {
			w.add("      - {name: %s}", name)
		}
	}
	w.add("  pluginConfig:")
	w.spread(p)
	w.affinity(p)
	if p.hard != nil {
		w.add("  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: %d}", *p.hard)
	}
	w.fit(p)
}

func (w *lines) spread(p *printed) {
	w.add("  - name: PodTopologySpread\n    args:")
	w.add("      # For pods of a Service, ReplicationController, ReplicaSet or StatefulSet that")
	w.add("      # have no constraints of their own. A node that lacks one of the labels gets no")
	w.add("      # points: in a cluster without zones, take the zone's line out.")
	w.add("      defaultingType: List")
	if len(p.spread) == 0 {
		w.add("      defaultConstraints: []")
		return
	}
	w.add("      defaultConstraints:")
	for _, key := range p.spread {
		w.add("      - {maxSkew: 1, topologyKey: %s, whenUnsatisfiable: ScheduleAnyway}", word(key))
	}
}

func (w *lines) affinity(p *printed) {
	if len(p.required)+len(p.preferred) == 0 {
		return
	}
	w.add("  - name: NodeAffinity\n    args:\n      addedAffinity:")
	if len(p.required) > 0 {
		w.add("        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n          - matchExpressions:")
		for _, r := range p.required {
			w.add("            - %s", expression(r))
		}
	}
	if len(p.preferred) > 0 {
		w.add("        preferredDuringSchedulingIgnoredDuringExecution:")
		for _, t := range p.preferred {
			w.add("        - weight: %d\n          preference:\n            matchExpressions:", t.Weight)
			for _, r := range t.Preference.MatchExpressions {
				w.add("            - %s", expression(r))
			}
		}
	}
}

func expression(r corev1.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return fmt.Sprintf("{key: %s, operator: %s}", word(r.Key), r.Operator)
	}
	return fmt.Sprintf("{key: %s, operator: %s, values: [%s]}", word(r.Key), r.Operator, strconv.Quote(r.Values[0]))
}

// word quotes a label key, or the name of a rule, that YAML could take for anything but
// a string.
func word(key string) string {
	if strings.ContainsAny(key, "/.-") && key[0] > '9' {
		return key
	}
	switch strings.ToLower(key) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return strconv.Quote(key)
	}
	if key[0] <= '9' {
		return strconv.Quote(key)
	}
	return key
}

func (w *lines) fit(p *printed) {
	if p.strategy == "" {
		return
	}
	w.add("  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: %s", p.strategy)
	if len(p.resources) > 0 {
		w.add("        resources:")
		for _, r := range p.resources {
			w.add("        - {name: %s, weight: %d}", strconv.Quote(r.Name), max(r.Weight, 1))
		}
	}
	if len(p.shape) > 0 {
		w.add("        requestedToCapacityRatio:\n          shape:")
		for _, x := range p.shape {
			w.add("          - {utilization: %d, score: %d}", x.Utilization, x.Score)
		}
	}
}

// trimaran is printed as a comment: kube-scheduler does not have the plugin, and
// does not start with a profile that names it.
func (w *lines) trimaran(watcher string) {
	w.add("# For pods with schedulerName: trimaran, run the kube-scheduler of")
	w.add("# kubernetes-sigs/scheduler-plugins beside this one, with a file of its own: the")
	w.add("# lines above profiles, a Lease of its own (with the default's both would wait for")
	w.add("# one), and this profile. kube-scheduler itself lacks the plugin and would not start")
	w.add("# with it. The load-watcher is Evenkeel's, at /watcher.")
	w.add("#leaderElection: {leaderElect: true, resourceName: trimaran}")
	w.add("#profiles:")
	for _, line := range strings.Split(strings.TrimSpace(fmt.Sprintf(trimaranProfile, strconv.Quote(watcher))), "\n") {
		w.add("#%s", line)
	}
}

const trimaranProfile = `
- schedulerName: trimaran
  plugins:
    score:
      enabled:
      - {name: TargetLoadPacking}
      disabled:
      - {name: NodeResourcesFit}
      - {name: NodeResourcesBalancedAllocation}
  pluginConfig:
  - name: TargetLoadPacking
    args:
      targetUtilization: 40
      watcherAddress: %s
`
