package schedulerconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
)

// Options select the content of a printed KubeSchedulerConfiguration.
type Options struct {
	// SpreadWeight is the weight of PodTopologySpread; 0 keeps the weight in Profile.
	SpreadWeight int
	// PressureKey and PressureValue select the label of nodes that pods should avoid. An empty value matches every
	// value of the key. An empty key disables this preference.
	PressureKey, PressureValue string
	// Watcher is the address of the load-watcher for a trimaran profile; "" omits the profile.
	Watcher string
	// Kubeconfig is the kubeconfig path for kube-scheduler; "" means that kube-scheduler runs in a pod.
	Kubeconfig string
	// Profile is the profile to print; nil selects DefaultProfile.
	Profile *Profile
}

// Profile is the content of one printed scheduler profile.
type Profile struct {
	// Notes list settings of a converted Policy that have no equivalent, or one that differs.
	Notes []string
	// Weights are the weights of score plugins, by plugin name.
	Weights        map[string]int
	DisabledScores []string
	// SpreadKeys are the topology keys of the default constraints of PodTopologySpread.
	SpreadKeys            []string
	RequiredTerms         []corev1.NodeSelectorRequirement
	PreferredTerms        []corev1.PreferredSchedulingTerm
	HardPodAffinityWeight *int
	// Strategy, Shape and Resources configure NodeResourcesFit. An empty Strategy selects the default.
	Strategy  string
	Shape     []ShapePoint
	Resources []ResourceSpec
}

// DefaultProfile returns a profile that spreads pods evenly over zones and nodes.
func DefaultProfile() *Profile {
	return &Profile{
		Weights:    map[string]int{"PodTopologySpread": 5}, // has the effect of weight 5 of the former SelectorSpreadPriority
		SpreadKeys: []string{corev1.LabelTopologyZone, corev1.LabelHostname},
	}
}

// AddNote adds a note. It replaces unprintable characters by spaces, because each note becomes a comment of one line.
func (p *Profile) AddNote(format string, args ...any) {
	p.Notes = append(p.Notes, strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...)))
}

// AddSpreadKey adds a topology key to the default constraints, unless the constraints already contain it.
func (p *Profile) AddSpreadKey(key string) {
	if !slices.Contains(p.SpreadKeys, key) {
		p.SpreadKeys = append(p.SpreadKeys, key)
	}
}

// AddPreferredTerm makes all pods prefer nodes that match r.
func (p *Profile) AddPreferredTerm(weight int32, r corev1.NodeSelectorRequirement) {
	p.PreferredTerms = append(p.PreferredTerms, corev1.PreferredSchedulingTerm{
		Weight:     weight,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}},
	})
}

func (p *Profile) enableScore(name string, weight int) {
	p.Weights[name] = weight
	p.DisabledScores = slices.DeleteFunc(p.DisabledScores, func(disabled string) bool { return disabled == name })
}

// Print returns a KubeSchedulerConfiguration with comments. It also returns the notes of the profile.
func Print(o Options) (text string, notes []string) {
	p := o.Profile
	if p == nil {
		p = DefaultProfile()
	}
	if o.SpreadWeight > 0 {
		p.enableScore("PodTopologySpread", o.SpreadWeight)
	}
	if o.PressureKey != "" {
		avoid := corev1.NodeSelectorRequirement{Key: o.PressureKey, Operator: corev1.NodeSelectorOpDoesNotExist}
		if o.PressureValue != "" {
			avoid.Operator, avoid.Values = corev1.NodeSelectorOpNotIn, []string{o.PressureValue}
		}
		p.AddPreferredTerm(100, avoid)
		if slices.Contains(p.DisabledScores, "NodeAffinity") {
			p.enableScore("NodeAffinity", 2)
		}
	}
	w := &configWriter{}
	w.writeHeader(o, p)
	w.writeProfile(p)
	if o.Watcher != "" {
		w.writeLine(trimaranProfile, strconv.Quote(o.Watcher))
	}
	return w.String(), p.Notes
}

// configWriter builds the text of the file.
type configWriter struct{ strings.Builder }

func (w *configWriter) writeLine(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

const header = `# Configuration of kube-scheduler (its flag --config), printed by evenkeel config scheduler.
# Set placement.schedulerConfig in Evenkeel's configuration to this file, too. Evenkeel
# then predicts where this scheduler places pods.`

func (w *configWriter) writeHeader(o Options, p *Profile) {
	w.writeLine(header)
	if len(p.Notes) > 0 {
		w.writeLine("#\n# Converted from a legacy Policy. These settings have no equivalent, or one that differs:")
		for _, n := range p.Notes {
			w.writeLine("# - %s", n)
		}
	}
	w.writeLine("apiVersion: %s\nkind: %s", version, kind)
	if o.Kubeconfig != "" {
		w.writeLine("clientConnection:\n  kubeconfig: %s", strconv.Quote(o.Kubeconfig))
	} else {
		w.writeLine("# Outside a pod, kube-scheduler needs clientConnection: {kubeconfig: PATH} here. With\n" +
			"# --config it ignores its flag --kubeconfig.")
	}
}

func (w *configWriter) writeProfile(p *Profile) {
	w.writeLine("profiles:\n- schedulerName: default-scheduler\n  plugins:")
	if len(p.Weights) > 0 {
		w.writeLine("    multiPoint:\n      enabled:")
		for _, name := range ScorePlugins {
			if weight, ok := p.Weights[name]; ok {
				w.writeLine("      - {name: %s, weight: %d}", name, weight)
			}
		}
	}
	if len(p.DisabledScores) > 0 {
		w.writeLine("    score:\n      disabled:")
		for _, name := range p.DisabledScores {
			w.writeLine("      - {name: %s}", name)
		}
	}
	w.writeLine("  pluginConfig:")
	w.writeSpread(p)
	w.writeAffinity(p)
	if p.HardPodAffinityWeight != nil {
		w.writeLine("  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: %d}", *p.HardPodAffinityWeight)
	}
	w.writeResourceFit(p)
}

const spreadArgsHeader = `  - name: PodTopologySpread
    args:
      # For pods of a Service, ReplicationController, ReplicaSet or StatefulSet that
      # have no constraints of their own. A node without one of these labels gets no
      # points. In a cluster without zones, remove the line with the zone.
      defaultingType: List`

func (w *configWriter) writeSpread(p *Profile) {
	w.writeLine(spreadArgsHeader)
	if len(p.SpreadKeys) == 0 {
		w.writeLine("      defaultConstraints: []")
		return
	}
	w.writeLine("      defaultConstraints:")
	for _, key := range p.SpreadKeys {
		w.writeLine("      - {maxSkew: 1, topologyKey: %s, whenUnsatisfiable: ScheduleAnyway}", QuoteIfNeeded(key))
	}
}

func (w *configWriter) writeAffinity(p *Profile) {
	if len(p.RequiredTerms)+len(p.PreferredTerms) == 0 {
		return
	}
	w.writeLine("  - name: NodeAffinity\n    args:\n      addedAffinity:")
	if len(p.RequiredTerms) > 0 {
		w.writeLine("        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n          - matchExpressions:")
		w.writeRequirements(p.RequiredTerms)
	}
	if len(p.PreferredTerms) > 0 {
		w.writeLine("        preferredDuringSchedulingIgnoredDuringExecution:")
		for _, t := range p.PreferredTerms {
			w.writeLine("        - weight: %d\n          preference:\n            matchExpressions:", t.Weight)
			w.writeRequirements(t.Preference.MatchExpressions)
		}
	}
}

func (w *configWriter) writeRequirements(list []corev1.NodeSelectorRequirement) {
	for _, r := range list {
		values := ""
		if len(r.Values) > 0 {
			values = fmt.Sprintf(", values: [%s]", strconv.Quote(r.Values[0]))
		}
		w.writeLine("            - {key: %s, operator: %s%s}", QuoteIfNeeded(r.Key), r.Operator, values)
	}
}

// QuoteIfNeeded returns text as YAML. It quotes text that YAML would read as another type.
func QuoteIfNeeded(text string) string {
	b, _ := yaml.Marshal(text) // never fails for a string
	return strings.TrimSpace(string(b))
}

func (w *configWriter) writeResourceFit(p *Profile) {
	if p.Strategy == "" {
		return
	}
	w.writeLine("  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: %s", p.Strategy)
	if len(p.Resources) > 0 {
		w.writeLine("        resources:")
		for _, r := range p.Resources {
			w.writeLine("        - {name: %s, weight: %d}", strconv.Quote(r.Name), max(r.Weight, 1))
		}
	}
	if len(p.Shape) > 0 {
		w.writeLine("        requestedToCapacityRatio:\n          shape:")
		for _, x := range p.Shape {
			w.writeLine("          - {utilization: %d, score: %d}", x.Utilization, x.Score)
		}
	}
}

// trimaranProfile is a comment: kube-scheduler lacks the plugin, and would not start with this profile.
const trimaranProfile = `# For pods with schedulerName: trimaran, run the kube-scheduler of
# kubernetes-sigs/scheduler-plugins as a second scheduler. Its file needs the lines
# above profiles, its own Lease (with the default Lease, only one of the two
# schedulers runs), and this profile. kube-scheduler itself does not have the plugin
# and does not start with it. Evenkeel serves the load-watcher API at /watcher.
#leaderElection: {leaderElect: true, resourceName: trimaran}
#profiles:
#- schedulerName: trimaran
#  plugins:
#    score:
#      enabled:
#      - {name: TargetLoadPacking}
#      disabled:
#      - {name: NodeResourcesFit}
#      - {name: NodeResourcesBalancedAllocation}
#  pluginConfig:
#  - name: TargetLoadPacking
#    args:
#      targetUtilization: 40
#      watcherAddress: %s`
