package passes

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// emptyAndPrefer empties nodes with hints, which expire before the next pass, and moves pods to nodes that they prefer.
const emptyAndPrefer = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  empty: {type: NodeConsolidation, schedule: "*/30 * * * *", args: {below: {cpu: 0.4}, target: {cpu: 0.9}, maxNodes: 24, keepEmptyFor: 10m}}
  prefer: {schedule: "*/30 * * * *", PREFER}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {steer: taint, perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// TestConsolidationEnds empties nodes of a cluster that does not change, whose pods prefer some of its
// nodes. If NodeConsolidation could move pods to nodes that they prefer less, the other strategy would
// move them back, and so on. If it could fill one empty node to empty another, it would not end either.
//
// A node that took a replacement is not emptied within an hour, so it takes rounds of three passes until all nodes that
// can be emptied are empty. As many are empty then as without that rule, which empties them in half of the passes but
// moves every twelfth pod twice within an hour.
func TestConsolidationEnds(t *testing.T) {
	for prefer, change := range map[string]func(c *Simulation){
		"type: NodeAffinity, args: {preferred: true}":                        preferSomeNodes,
		"type: NodeTaints, args: {preferNoSchedule: true, exclude: [other]}": taintSomeNodes,
	} {
		t.Run(prefer, func(t *testing.T) {
			conf := must.Get(config.Load("pair", []byte(strings.Replace(emptyAndPrefer, "PREFER", prefer, 1))))(t)
			evictions, again, empty, late := 0, 0, 0, 0
			for seed := range uint64(4) {
				c := Start(Scenario{Nodes: 24, Pods: 240, Seed: seed, EveryMinutes: 30}, conf)
				change(c)
				for pass := range 12 {
					got := c.runPass()
					t.Logf("seed %d, pass %d: %d evictions, %d of pods that moved before, %d empty nodes\n%s", seed, pass+1, got.Evictions,
						got.EvictedAgain, c.emptyNodes(), c.describeMoves())
					evictions, again = evictions+got.Evictions, again+got.EvictedAgain
					if pass >= 9 {
						late += got.Evictions
					}
					c.now = c.now.Add(30 * time.Minute)
				}
				empty += c.emptyNodes()
			}
			t.Logf("%d evictions, %d of pods that moved before, %d empty nodes", evictions, again, empty)
			if evictions < 100 || late > 0 {
				t.Errorf("%d evictions, %d of them after the ninth pass, want at least 100 and none", evictions, late)
			}
			if again*100 > evictions {
				t.Errorf("%d of %d evictions are of pods that moved within the hour before, want at most 1%%", again, evictions)
			}
			if empty < 4*14 {
				t.Errorf("%d nodes of 4 clusters are empty at the end, want at least 14 of each", empty)
			}
		})
	}
}

// preferSomeNodes lets the pods of some Deployments prefer every second node. The difference is smaller than that of a
// hint, and of an empty node.
func preferSomeNodes(c *Simulation) {
	for i, n := range c.o.Nodes {
		n.Labels["disk"] = []string{"ssd", "hdd"}[i%2]
	}
	term := func(weight int32, values ...string) corev1.PreferredSchedulingTerm {
		return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: values}}}}
	}
	affinity := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		term(95, "ssd", "hdd"), term(5, "ssd")}}}
	changeSpecs(c, func(choosy bool, s *corev1.PodSpec) {
		if choosy {
			s.Affinity = affinity
		}
	})
}

// taintSomeNodes puts a taint that counts on every second node, and another taint on the others. The scheduler prefers
// neither of them. The pods of some Deployments do not tolerate the taint that counts.
func taintSomeNodes(c *Simulation) {
	for i, n := range c.o.Nodes {
		n.Spec.Taints = []corev1.Taint{{Key: []string{"other", "spot"}[i%2], Effect: corev1.TaintEffectPreferNoSchedule}}
	}
	changeSpecs(c, func(choosy bool, s *corev1.PodSpec) {
		if !choosy {
			s.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}, {Key: "other", Operator: corev1.TolerationOpExists}}
		}
	})
}

// changeSpecs changes the template and the pods of each Deployment. Every fourth Deployment is choosy.
func changeSpecs(c *Simulation, change func(choosy bool, s *corev1.PodSpec)) {
	choosy := map[string]bool{}
	for i, rs := range c.o.ReplicaSets {
		choosy[rs.Name] = i%4 == 0
		change(i%4 == 0, &rs.Spec.Template.Spec)
		c.o.Deployments[i].Spec.Template = rs.Spec.Template
	}
	for _, p := range c.o.Pods {
		change(choosy[p.OwnerReferences[0].Name], &p.Spec)
	}
}
