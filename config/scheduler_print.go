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

// profileBuilder is one profile in the making.
type profileBuilder struct {
	notes                 []string // what of a Policy is lost, or differs
	weights               map[string]int
	scoresOff             []string
	spreadKeys            []string // topology keys of default constraints
	requiredTerms         []corev1.NodeSelectorRequirement
	preferredTerms        []corev1.PreferredSchedulingTerm
	hardPodAffinityWeight *int
	strategy              string
	shape                 []shapePoint
	resources             []resourceSpec
}

// PrintScheduler writes a KubeSchedulerConfiguration (v1) with comments, and says
// what of the Policy has no equivalent in it.
func PrintScheduler(o SchedulerOptions) (text string, lost []string) {
	p := &profileBuilder{weights: map[string]int{}}
	if o.Policy != nil {
		p.convertPolicy(o.Policy)
	} else {
		p.weights["PodTopologySpread"] = DefaultSpreadWeight
		p.spreadKeys = []string{corev1.LabelTopologyZone, corev1.LabelHostname}
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
		p.addPreferredTerm(100, avoid)
		if slices.Contains(p.scoresOff, "NodeAffinity") {
			p.scoresOff = slices.DeleteFunc(p.scoresOff, func(name string) bool { return name == "NodeAffinity" })
			p.weights["NodeAffinity"] = 2
		}
	}
	w := &configWriter{}
	w.writeHeader(o, p)
	w.writeProfile(p)
	if o.Watcher != "" {
		w.writeTrimaran(o.Watcher)
	}
	return w.String(), p.notes
}

func (p *profileBuilder) addPreferredTerm(weight int32, r corev1.NodeSelectorRequirement) {
	p.preferredTerms = append(p.preferredTerms, corev1.PreferredSchedulingTerm{Weight: weight,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}}})
}

// configWriter collects the text.
type configWriter struct{ strings.Builder }

func (w *configWriter) writeLine(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *configWriter) writeHeader(o SchedulerOptions, p *profileBuilder) {
	w.writeLine("# Configuration of kube-scheduler (its flag --config), printed by evenkeel config scheduler.")
	w.writeLine("# Name it in Evenkeel's own configuration too (placement.schedulerConfig), so that")
	w.writeLine("# Evenkeel foretells what this scheduler does.")
	if len(p.notes) > 0 {
		w.writeLine("#\n# Converted from a legacy Policy. What has no equivalent, or is not quite the same:")
		for _, n := range p.notes {
			w.writeLine("# - %s", n)
		}
	}
	w.writeLine("apiVersion: %s\nkind: %s", schedulerVersion, schedulerKind)
	if o.Kubeconfig != "" {
		w.writeLine("clientConnection:\n  kubeconfig: %s", strconv.Quote(o.Kubeconfig))
	} else {
		w.writeLine("# Outside a pod, kube-scheduler needs clientConnection: {kubeconfig: PATH} here; it")
		w.writeLine("# ignores its flag --kubeconfig beside --config.")
	}
}

func (w *configWriter) writeProfile(p *profileBuilder) {
	w.writeLine("profiles:\n- schedulerName: default-scheduler\n  plugins:")
	if len(p.weights) > 0 {
		w.writeLine("    multiPoint:\n      enabled:")
		for _, name := range scorePlugins {
			if weight, ok := p.weights[name]; ok {
				w.writeLine("      - {name: %s, weight: %d}", name, weight)
			}
		}
	}
	if len(p.scoresOff) > 0 {
		w.writeLine("    score:\n      disabled:")
		for _, name := range p.scoresOff {
			w.writeLine("      - {name: %s}", name)
		}
	}
	w.writeLine("  pluginConfig:")
	w.writeSpread(p)
	w.writeAffinity(p)
	if p.hardPodAffinityWeight != nil {
		w.writeLine("  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: %d}", *p.hardPodAffinityWeight)
	}
	w.writeResourceFit(p)
}

func (w *configWriter) writeSpread(p *profileBuilder) {
	w.writeLine("  - name: PodTopologySpread\n    args:")
	w.writeLine("      # For pods of a Service, ReplicationController, ReplicaSet or StatefulSet that")
	w.writeLine("      # have no constraints of their own. A node that lacks one of the labels gets no")
	w.writeLine("      # points: in a cluster without zones, take the zone's line out.")
	w.writeLine("      defaultingType: List")
	if len(p.spreadKeys) == 0 {
		w.writeLine("      defaultConstraints: []")
		return
	}
	w.writeLine("      defaultConstraints:")
	for _, key := range p.spreadKeys {
		w.writeLine("      - {maxSkew: 1, topologyKey: %s, whenUnsatisfiable: ScheduleAnyway}", quoteIfNeeded(key))
	}
}

func (w *configWriter) writeAffinity(p *profileBuilder) {
	if len(p.requiredTerms)+len(p.preferredTerms) == 0 {
		return
	}
	w.writeLine("  - name: NodeAffinity\n    args:\n      addedAffinity:")
	if len(p.requiredTerms) > 0 {
		w.writeLine("        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n          - matchExpressions:")
		for _, r := range p.requiredTerms {
			w.writeLine("            - %s", formatRequirement(r))
		}
	}
	if len(p.preferredTerms) > 0 {
		w.writeLine("        preferredDuringSchedulingIgnoredDuringExecution:")
		for _, t := range p.preferredTerms {
			w.writeLine("        - weight: %d\n          preference:\n            matchExpressions:", t.Weight)
			for _, r := range t.Preference.MatchExpressions {
				w.writeLine("            - %s", formatRequirement(r))
			}
		}
	}
}

func formatRequirement(r corev1.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return fmt.Sprintf("{key: %s, operator: %s}", quoteIfNeeded(r.Key), r.Operator)
	}
	return fmt.Sprintf("{key: %s, operator: %s, values: [%s]}", quoteIfNeeded(r.Key), r.Operator, strconv.Quote(r.Values[0]))
}

// quoteIfNeeded quotes a label key, or the name of a rule, that YAML could take for anything but
// a string.
func quoteIfNeeded(key string) string {
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

func (w *configWriter) writeResourceFit(p *profileBuilder) {
	if p.strategy == "" {
		return
	}
	w.writeLine("  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: %s", p.strategy)
	if len(p.resources) > 0 {
		w.writeLine("        resources:")
		for _, r := range p.resources {
			w.writeLine("        - {name: %s, weight: %d}", strconv.Quote(r.Name), max(r.Weight, 1))
		}
	}
	if len(p.shape) > 0 {
		w.writeLine("        requestedToCapacityRatio:\n          shape:")
		for _, x := range p.shape {
			w.writeLine("          - {utilization: %d, score: %d}", x.Utilization, x.Score)
		}
	}
}

// writeTrimaran is printed as a comment: kube-scheduler does not have the plugin, and
// does not start with a profile that names it.
func (w *configWriter) writeTrimaran(watcher string) {
	w.writeLine("# For pods with schedulerName: trimaran, run the kube-scheduler of")
	w.writeLine("# kubernetes-sigs/scheduler-plugins beside this one, with a file of its own: the")
	w.writeLine("# lines above profiles, a Lease of its own (with the default's both would wait for")
	w.writeLine("# one), and this profile. kube-scheduler itself lacks the plugin and would not start")
	w.writeLine("# with it. The load-watcher is Evenkeel's, at /watcher.")
	w.writeLine("#leaderElection: {leaderElect: true, resourceName: trimaran}")
	w.writeLine("#profiles:")
	for _, line := range strings.Split(strings.TrimSpace(fmt.Sprintf(trimaranProfile, strconv.Quote(watcher))), "\n") {
		w.writeLine("#%s", line)
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
