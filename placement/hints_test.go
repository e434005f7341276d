package placement

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// hintedCluster is random: pods that tolerate the steering taint, that look at
// the label softly or firmly, and others; some nodes have a taint of their own.
func hintedCluster(r *rand.Rand, hinted map[int]hints.Kind) *builder {
	b := newBuilder()
	names := []string{""}
	for i := range 6 {
		names = append(names, fmt.Sprintf("n%d", i))
		other := r.IntN(3) == 0
		b.node(names[i+1], fmt.Sprintf("z%d", i%3), func(n *corev1.Node) {
			if other {
				n.Spec.Taints = []corev1.Taint{{Key: "other", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
			if kind, ok := hinted[i]; ok {
				*n = *func() *corev1.Node { x, _ := hints.Put(n, hints.Hint{Kind: kind, Run: "r"}); return x }()
			}
		})
	}
	not := withoutHintLabel
	zone := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"z1"}}}}
	for a := range 5 {
		on := []string{}
		for range 1 + r.IntN(6) {
			on = append(on, names[1+r.IntN(6)])
		}
		b.app(fmt.Sprintf("a%d", a), int64(100*r.IntN(12)), func(s *corev1.PodSpec) {
			switch a {
			case 0:
				s.Tolerations = []corev1.Toleration{{Key: hints.Key, Operator: corev1.TolerationOpExists}}
			case 1:
				s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 3, Preference: not}, {Weight: 2, Preference: zone}}}}
			case 2:
				s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{not}}}}
			}
		}, on...)
	}
	return b
}

// withoutHintLabel are nodes without the label.
var withoutHintLabel = corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: hints.Key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{hints.Value}}}}

// hintProfiles are schedulers that look at hints for every pod, or not at all.
func hintProfiles() []scheduler.Profile {
	policy := scheduler.DefaultPolicy()
	adds := func(a corev1.NodeAffinity) scheduler.Profile {
		return profileWith(func(p *scheduler.Profile) { p.AddedAffinity = &a })
	}
	return []scheduler.Profile{
		scheduler.DefaultProfile(),
		adds(corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: withoutHintLabel}}}),
		adds(corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{withoutHintLabel}}}),
		profileWith(func(p *scheduler.Profile) { p.Weights.TaintToleration = 0 }),
		scheduler.PolicyProfile(policy),
	}
}

// TestAHintedWorldIsOneWhoseNodesCarryTheHint: what is foretold with hints that
// are thought of is what is foretold when they stand on the nodes; and nothing
// is left of them when they are taken back.
func TestAHintedWorldIsOneWhoseNodesCarryTheHint(t *testing.T) {
	profiles := hintProfiles()
	differ, heard := map[hints.Kind]int{}, make([]map[hints.Kind]int, len(profiles))
	for i := range heard {
		heard[i] = map[hints.Kind]int{}
	}
	for seed := range uint64(400) {
		which := int(seed / 2 % uint64(len(profiles)))
		profile := profiles[which]
		kind := []hints.Kind{hints.Taint, hints.Label}[seed%2]
		r := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 11)) }
		hinted := map[int]hints.Kind{}
		var nodes []cluster.NodeID
		w := hintedCluster(r(), nil).modelWithProfile(t, profile)
		for i := range 6 {
			if rand.New(rand.NewPCG(seed, uint64(i))).IntN(2) == 0 {
				hinted[i] = kind
				nodes = append(nodes, nodeID(t, w, fmt.Sprintf("n%d", i)))
			}
		}
		standing := hintedCluster(r(), hinted).modelWithProfile(t, profile)
		for p := range w.Snap.Pods {
			id := cluster.PodID(p)
			without := w.Predict(id)
			w.SetHints(kind, nodes)
			if got, want := w.Predict(id), standing.Predict(id); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s by %s on %v:\n got %+v\nwant %+v", seed, w.Snap.Pods[p].Object.Name, kind, nodes, got, want)
			}
			if w.RespondsToHint(id, kind) {
				heard[which][kind]++
			}
			if changed := !reflect.DeepEqual(w.Predict(id), without); changed {
				differ[kind]++
				if !w.RespondsToHint(id, kind) {
					t.Fatalf("seed %d: %s changes with a hint that it does not hear", seed, w.Snap.Pods[p].Object.Name)
				}
			}
			w.SetHints(kind, nil)
			if !reflect.DeepEqual(w.Predict(id), without) {
				t.Fatalf("seed %d: a hint is left behind", seed)
			}
		}
	}
	if differ[hints.Taint] < 100 || differ[hints.Label] < 50 {
		t.Errorf("hints changed predictions %v times only", differ)
	}
	// Every pod hears a label that the profile asks for; none a taint that does not score.
	if l := hints.Label; heard[1][l] <= heard[0][l] || heard[2][l] <= heard[0][l] || heard[3][hints.Taint] > 0 {
		t.Errorf("pods heard hints %v times, by profile", heard)
	}
}

// TestATaintThatStandsCountsOnce: hinting a node that carries the taint already.
func TestATaintThatStandsCountsOnce(t *testing.T) {
	w := hintedCluster(rand.New(rand.NewPCG(1, 1)), map[int]hints.Kind{0: hints.Taint}).model(t)
	for p := range w.Snap.Pods {
		before := w.Predict(cluster.PodID(p))
		w.SetHints(hints.Taint, []cluster.NodeID{nodeID(t, w, "n0")})
		if !reflect.DeepEqual(w.Predict(cluster.PodID(p)), before) {
			t.Fatalf("%s", w.Snap.Pods[p].Object.Name)
		}
		w.SetHints(hints.Taint, nil)
	}
}
