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

// hintedCluster returns a random cluster. Some pods tolerate the steering taint, some require or
// prefer nodes without the label, and some do neither. Some nodes have another taint.
func hintedCluster(r *rand.Rand, hinted map[int]hints.Kind) *snapshotBuilder {
	b := newSnapshotBuilder()
	names := []string{""}
	for i := range 6 {
		names = append(names, fmt.Sprintf("n%d", i))
		other := r.IntN(3) == 0
		b.node(names[i+1], fmt.Sprintf("z%d", i%3), func(n *corev1.Node) {
			if other {
				n.Spec.Taints = []corev1.Taint{{Key: "other", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
			if kind, ok := hinted[i]; ok {
				*n = *func() *corev1.Node { x, _ := hints.WithHint(n, hints.Hint{Kind: kind, Run: "r"}); return x }()
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

// withoutHintLabel selects the nodes without the hint label.
var withoutHintLabel = corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: hints.Key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{hints.Value}}}}

// hintProfiles are profiles that read hints for every pod, for some pods or for none.
func hintProfiles() []scheduler.Profile {
	adds := func(a corev1.NodeAffinity) scheduler.Profile {
		return newProfileWith(func(p *scheduler.Profile) { p.AddedAffinity = &a })
	}
	return []scheduler.Profile{
		scheduler.DefaultProfile(),
		adds(corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 5, Preference: withoutHintLabel}}}),
		adds(corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{withoutHintLabel}}}),
		newProfileWith(func(p *scheduler.Profile) { p.Weights.TaintToleration = 0 }),
		mostAllocatedProfile(),
	}
}

// TestAModelWithHintsPredictsLikeHintedNodes checks that a model with hints predicts the same as a model of a cluster
// whose nodes have the hints. After the hints are removed, the model predicts the same as before.
func TestAModelWithHintsPredictsLikeHintedNodes(t *testing.T) {
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
		m := hintedCluster(r(), nil).modelWithProfile(t, profile)
		for i := range 6 {
			if rand.New(rand.NewPCG(seed, uint64(i))).IntN(2) == 0 {
				hinted[i] = kind
				nodes = append(nodes, nodeID(t, m, fmt.Sprintf("n%d", i)))
			}
		}
		standing := hintedCluster(r(), hinted).modelWithProfile(t, profile)
		for p := range m.Cluster.Snap.Pods {
			id := cluster.PodID(p)
			without := m.Predict(id)
			m.SetHints(kind, nodes)
			if got, want := m.Predict(id), standing.Predict(id); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s by %s on %v:\n got %+v\nwant %+v", seed, m.Cluster.Snap.Pods[p].Object.Name, kind, nodes, got, want)
			}
			if m.RespondsToHint(id, kind) {
				heard[which][kind]++
			}
			if changed := !reflect.DeepEqual(m.Predict(id), without); changed {
				differ[kind]++
				if !m.RespondsToHint(id, kind) {
					t.Fatalf("seed %d: the prediction of %s changes, but RespondsToHint is false", seed, m.Cluster.Snap.Pods[p].Object.Name)
				}
			}
			m.SetHints(kind, nil)
			if !reflect.DeepEqual(m.Predict(id), without) {
				t.Fatalf("seed %d: the prediction differs after the hints are removed", seed)
			}
		}
	}
	if differ[hints.Taint] < 100 || differ[hints.Label] < 50 {
		t.Errorf("hints changed predictions %v times only", differ)
	}
	// Profiles 1 and 2 read the label for every pod. In profile 3, the taint has no weight, so no
	// pod responds to it.
	if l := hints.Label; heard[1][l] <= heard[0][l] || heard[2][l] <= heard[0][l] || heard[3][hints.Taint] > 0 {
		t.Errorf("pods responded to hints %v times, by profile", heard)
	}
}

// TestATaintThatStandsCountsOnce adds a hint to a node that already has the taint.
func TestATaintThatStandsCountsOnce(t *testing.T) {
	m := hintedCluster(rand.New(rand.NewPCG(1, 1)), map[int]hints.Kind{0: hints.Taint}).model(t)
	for p := range m.Cluster.Snap.Pods {
		before := m.Predict(cluster.PodID(p))
		m.SetHints(hints.Taint, []cluster.NodeID{nodeID(t, m, "n0")})
		if !reflect.DeepEqual(m.Predict(cluster.PodID(p)), before) {
			t.Fatalf("%s", m.Cluster.Snap.Pods[p].Object.Name)
		}
		m.SetHints(hints.Taint, nil)
	}
}
