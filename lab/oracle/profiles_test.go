package oracle

import (
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/placement"
	corev1 "k8s.io/api/core/v1"
)

var profileCount = flag.Int("oracle.profiles", 300, "random scheduler configurations to compare with")

// schedulerConfig returns a random KubeSchedulerConfiguration and the names of the changed settings.
func schedulerConfig(g *rand.Rand) (text string, features []string) {
	var plugins, args []string
	use := func(p float64, feature string) bool {
		if g.Float64() >= p {
			return false
		}
		features = append(features, feature)
		return true
	}
	one := func(list ...string) string {
		if schedulerMinor < 36 && list[len(list)-1] == "NodeDeclaredFeatures" {
			list = list[:len(list)-1] // older versions do not know the plugin
		}
		return list[g.Intn(len(list))]
	}
	scoring := scorePlugins
	if use(0.6, "score weights") {
		point := one("score", "multiPoint")
		plugins = append(plugins, fmt.Sprintf("%s: {enabled: [{name: %s, weight: %d}]}", point, one(scoring...), 1+g.Intn(9)))
	} else if use(0.5, "scores off") {
		plugins = append(plugins, fmt.Sprintf("score: {disabled: [{name: %s}, {name: %s}], enabled: [{name: %s, weight: %d}]}",
			one(scoring...), one(scoring...), one(scoring...), g.Intn(4)))
	} else if use(0.5, "plugins off") {
		plugins = append(plugins, fmt.Sprintf("multiPoint: {disabled: [{name: %s}]}", one(
			"NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "VolumeRestrictions", "NodeVolumeLimits", "VolumeZone",
			"PodTopologySpread", "InterPodAffinity", "ImageLocality", "NodeDeclaredFeatures")))
	}
	if use(0.25, "filters off") {
		plugins = append(plugins, fmt.Sprintf("filter: {disabled: [{name: %s}]}", one("NodeUnschedulable", "TaintToleration",
			"NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures")))
	}
	arg := func(name, text string) { args = append(args, fmt.Sprintf("  - {name: %s, args: %s}", name, text)) }
	resources := "[{name: cpu, weight: 3}, {name: memory}, {name: ephemeral-storage}]"
	switch {
	case use(0.2, "MostAllocated"):
		arg("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated}}")
	case use(0.25, "weighted resources"):
		arg("NodeResourcesFit", fmt.Sprintf("{scoringStrategy: {type: %s, resources: %s}}",
			one("LeastAllocated", "MostAllocated"), resources))
	case use(0.3, "RequestedToCapacityRatio"):
		arg("NodeResourcesFit", fmt.Sprintf("{scoringStrategy: {type: RequestedToCapacityRatio, resources: %s, requestedToCapacityRatio: "+
			"{shape: [{utilization: 0, score: %d}, {utilization: %d, score: %d}, {utilization: 100, score: %d}]}}}",
			resources, g.Intn(11), 10+g.Intn(80), g.Intn(11), g.Intn(11)))
	case use(0.2, "ignored resources"):
		arg("NodeResourcesFit", one("{ignoredResources: [example.com/gpu]}", "{ignoredResourceGroups: [example.com]}"))
	}
	if use(0.3, "balanced resources") {
		arg("NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: memory}, {name: ephemeral-storage}]}")
	}
	if use(0.4, "default constraints") {
		var list []string
		for _, key := range topologyKeys {
			if g.Intn(2) == 0 {
				list = append(list, fmt.Sprintf("{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: %s}",
					1+g.Intn(3), key, one("ScheduleAnyway", "ScheduleAnyway", "DoNotSchedule")))
			}
		}
		arg("PodTopologySpread", "{defaultingType: List, defaultConstraints: ["+strings.Join(list, ", ")+"]}")
	}
	if use(0.3, "added affinity") {
		kind := one("preferredDuringSchedulingIgnoredDuringExecution: "+
			"[{weight: 30, preference: {matchExpressions: [{key: disk, operator: NotIn, values: [hdd]}]}}]",
			"requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: Exists}]}]}")
		arg("NodeAffinity", "{addedAffinity: {"+kind+"}}")
	}
	if use(0.3, "affinity arguments") {
		arg("InterPodAffinity", fmt.Sprintf("{hardPodAffinityWeight: %d, ignorePreferredTermsOfExistingPods: %s}",
			g.Intn(3)*50, one("true", "false")))
	}
	text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler\n"
	if len(plugins) > 0 {
		text += "  plugins: {" + strings.Join(plugins, ", ") + "}\n"
	}
	if len(args) > 0 {
		text += "  pluginConfig:\n" + strings.Join(args, "\n") + "\n"
	}
	return text, features
}

// TestProfilesEqualScheduler parses random configurations with the scheduler's code and with Evenkeel's, and compares
// the results for every node.
func TestProfilesEqualScheduler(t *testing.T) {
	compared, used, sched := 0, map[string]int{}, newRealScheduler(t)
	for seed := range *profileCount {
		text, features := schedulerConfig(rand.New(rand.NewSource(int64(seed))))
		o := generateCluster(int64(10000 + seed))
		for _, n := range o.Nodes { // a profile that ignores taints cannot be predicted if nodes are not Ready
			n.Status.Conditions[0].Status = corev1.ConditionTrue
		}
		snap, err := cluster.New(o)
		if err != nil {
			t.Fatalf("cluster %d: %v", seed, err)
		}
		profiles, err := schedulerconfig.Load("s", []byte(text))
		if err != nil {
			t.Fatalf("loading the configuration: %v\n%s", err, text)
		}
		w := placement.NewClusterModel(snap, placement.Options{Profiles: profiles})
		victim := &snap.Pods[(seed*7)%len(snap.Pods)]
		if victim.Terminating {
			continue
		}
		if why, ok := w.Supported(victim.ID); !ok && mayBeUnsupported(victim.Object, why) {
			continue
		} else if !ok {
			t.Fatalf("configuration %d: %s\n%s", seed, why, text)
		}
		for _, f := range features {
			used[f]++
		}
		results := w.Explain(victim.ID)
		if err := sched.Configure(t.Context(), text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if err := sched.Load(toRealObjects(o)); err != nil {
			t.Fatal(err)
		}
		for _, gone := range []bool{false, true} {
			want, err := sched.Replace(t.Context(), slices.Index(o.Pods, victim.Object), gone)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range results {
				if v.Gone != gone {
					continue
				}
				compared++
				if diff := verdictDifference(v, want[snap.Nodes[v.Node].Name]); diff != "" {
					t.Errorf("configuration %d, pod %s, victim deleted: %v, node %s: %s\n%s",
						seed, victim.Object.Name, gone, snap.Nodes[v.Node].Name, diff, text)
				}
			}
		}
	}
	t.Logf("compared %d node results under %d configurations; features %v", compared, *profileCount, used)
}
