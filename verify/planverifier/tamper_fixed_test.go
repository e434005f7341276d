package planverifier_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// Clusters with strategies for tamperings that fit few random plans.
var (
	// The soft strategy hot moves pods of web from n1 to n2, within a zone. The zones of web are even.
	softBesideSpread = scenario.Scenario{Config: []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minConfidence: 0.1}
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", soft: true, args: {target: {cpu: 0.5}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1}}
`), Cluster: []byte(`objects:
- {kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: za}}}
- {kind: Node, metadata: {name: n2, labels: {topology.kubernetes.io/zone: za}}}
- {kind: Node, metadata: {name: n3, labels: {topology.kubernetes.io/zone: zb}}}
- {kind: Namespace, metadata: {name: shop}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 256Mi}, pods: [3 on n1, 3 on n3]}
- {kind: Pod, metadata: {name: fill-1}, requests: {cpu: "4", memory: 256Mi}, spec: {nodeName: n1}}
- {kind: Pod, metadata: {name: fill-3}, requests: {cpu: "1", memory: 256Mi}, spec: {nodeName: n3}}
`)}
	// Pods of web leave n1 for the strategy hot, and later n2 for the strategy cold.
	twoForOneWorkload = scenario.Scenario{Config: []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {maxUnavailableWithoutPDB: 3, protect: []}
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
evictor: {inFlight: {perNode: 16, perOwner: 4}}
strategies:
  cold: {type: NodeLoad, schedule: "*/10 * * * *", nodeSelector: "pool=b", args: {target: {memory: 0.2}}}
  hot: {weight: 9, type: NodeLoad, schedule: "*/10 * * * *", nodeSelector: "pool=a", args: {target: {cpu: 0.6}}}
`), Cluster: []byte(`base: three-nodes
objects:
- {kind: Node, metadata: {name: n1, labels: {pool: a}}}
- {kind: Node, metadata: {name: n2, labels: {pool: b}}}
- {kind: Node, metadata: {name: n4, labels: {pool: c}}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 1Gi}, pods: [7 on n1, 3 on n2]}
`)}
)

// Both strategies want n1 below the same target.
var twoForOneNode = scenario.Scenario{Config: []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
strategies:
  light: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5}}}
  heavy: {weight: 2, type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5}}}
`), Cluster: []byte(`base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 1Gi}, pods: [7 on n1, 1 on n2]}
`)}

// spreadByRack is softBesideSpread with racks instead of zones. The Deployment has further metadata, and zones further
// arguments.
func spreadByRack(metadata, args string) scenario.Scenario {
	cluster := strings.ReplaceAll(string(softBesideSpread.Cluster), "topology.kubernetes.io/zone", "rack")
	return scenario.Scenario{Cluster: []byte(strings.Replace(cluster, "name: web", "name: web"+metadata, 1)),
		Config: []byte(strings.Replace(string(softBesideSpread.Config), "maxSkew", args+"maxSkew", 1))}
}

// ofPoolA returns a cluster in which a strategy of a type counts the nodes n1 and n2 only. n3 is full.
func ofPoolA(strategyType string) scenario.Scenario {
	return scenario.Scenario{Config: []byte(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perNamespace: unlimited, perNode: unlimited, perOwner: unlimited}
strategies:
  spread: {type: ` + strategyType + `, schedule: "*/10 * * * *", nodeSelector: "pool=a", args: {}}
`), Cluster: []byte(`objects:
- {kind: Node, metadata: {name: n1, labels: {pool: a, kubernetes.io/hostname: n1, topology.kubernetes.io/zone: za}}}
- {kind: Node, metadata: {name: n2, labels: {pool: a, kubernetes.io/hostname: n2, topology.kubernetes.io/zone: zb}}}
- {kind: Node, metadata: {name: n3, labels: {pool: b, kubernetes.io/hostname: n3, topology.kubernetes.io/zone: zc}}}
- {kind: Namespace, metadata: {name: shop}}
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 1Gi}, pods: [5 on n1, 1 on n2]}
- {kind: Deployment, metadata: {name: full}, requests: {cpu: "9500m", memory: 1Gi}, pods: [1 on n3]}
`)}
}

// makeFixedCase makes a plan for a fixed cluster, with the rules of its strategies.
func makeFixedCase(t *testing.T, of scenario.Scenario) planCase {
	t.Helper()
	return planFixedCase(t, of.Objects(t), of)
}

// planFixedCase makes a plan for a cluster, with the configuration of the scenario.
func planFixedCase(t *testing.T, o *cluster.Objects, of scenario.Scenario) planCase {
	t.Helper()
	conf := must.Get(config.Load("fixed.yaml", of.Config))(t)
	p, rules := makePlanFor(t, o, string(of.Config), o.TakenAt, plan.PlannerState{})
	rules.Strategies = strategyRules(t, conf)
	return planCase{o, rules, p}
}

// joinWaves keeps two moves of the plan in one wave, the first of hot and the first of cold, and returns their pods.
func joinWaves(m *planCase) (hot, cold *corev1.Pod) {
	m.plan.Moves = slices.CompactFunc(m.plan.Moves, func(a, b plan.Move) bool { return a.Strategy == b.Strategy })[:2]
	for i := range m.plan.Moves {
		m.plan.Moves[i].Step, m.plan.Moves[i].Wave = i+1, 1
	}
	return m.pod(m.plan.Moves[0]), m.pod(m.plan.Moves[1])
}

// protectFor makes a strategy protect pods.
func protectFor(m *planCase, strategy, protection string) {
	i := slices.IndexFunc(m.rules.Strategies, func(s planverifier.StrategyRules) bool { return s.Name == strategy })
	m.rules.Strategies[i].Protect = append(m.rules.Strategies[i].Protect, protection)
}

// needBoth makes a pod need one of two pods, by required affinity.
func needBoth(m *planCase, a, b *corev1.Pod) {
	needs := a.DeepCopy()
	needs.Name, needs.UID, needs.Labels, needs.OwnerReferences = "needs", "needs", map[string]string{}, nil
	needs.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"only": "these"}}, TopologyKey: "room"}}}}
	m.o.Pods = append(m.o.Pods, needs)
	markBoth(a, b)
	for _, n := range m.o.Nodes {
		n.Labels["room"] = "one"
	}
}

func markBoth(a, b *corev1.Pod) {
	for _, p := range []*corev1.Pod{a, b} {
		p.Labels["only"] = "these"
	}
}

// fillExcluded excludes the target node of the first move, and adds a pod that requests half of its cpu.
func fillExcluded(m *planCase, x *plan.Move) {
	for _, n := range m.o.Nodes {
		if n.Name == x.To {
			n.Annotations = map[string]string{"evenkeel.io/exclude": "true"}
			half := n.Status.Allocatable.Cpu().MilliValue() / 2
			filler := m.pod(*x).DeepCopy()
			filler.Name, filler.UID, filler.OwnerReferences, filler.Labels, filler.Spec.NodeName = "filler", "filler", nil, nil, n.Name
			filler.Spec.Containers[0].Resources.Requests["cpu"] = *resource.NewMilliQuantity(half, resource.DecimalSI)
			m.o.Pods = append(m.o.Pods, filler)
		}
	}
}

// fixedTampers break the plan of a fixed cluster in one place.
var fixedTampers = []struct {
	of scenario.Scenario
	tampering
}{
	{softBesideSpread, tampering{"a soft move that worsens a firm spread", planverifier.WorsensGoal,
		editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })}},
	{spreadByRack(", annotations: {evenkeel.io/spread-by: rack}", ""), tampering{"a soft move that worsens a spread over another label",
		planverifier.WorsensGoal, editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })}},
	{spreadByRack("", "topologyKey: rack, "), tampering{"a soft move that worsens the spread of a strategy over another label",
		planverifier.WorsensGoal, editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })}},
	{spreadByRack(`, annotations: {evenkeel.io/max-skew: "1", evenkeel.io/spread-by: rack}`, "topologyKey: none, "), tampering{
		"a soft move that worsens a spread with a skew of its own", planverifier.WorsensGoal,
		func(m *planCase) (string, bool) {
			m.rules.Strategies[1].MaxSkew = 9
			return editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })(m)
		}}},
	{twoForOneWorkload, tampering{"the last pods that satisfy a required affinity, which the strategy protects", plan.RequiredByAffinity,
		func(m *planCase) (string, bool) {
			hot, cold := joinWaves(m)
			needBoth(m, hot, cold)
			protectFor(m, "hot", "PodsRequiredByAffinity")
			return hot.Namespace + "/" + hot.Name, true
		}}},
	{twoForOneWorkload, tampering{"the last Ready pods of a Service, which the strategy protects", plan.LastReadyPod,
		func(m *planCase) (string, bool) {
			hot, cold := joinWaves(m)
			markBoth(hot, cold)
			protectFor(m, "hot", "LastReadyPods")
			m.o.Services = append(m.o.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: hot.Namespace, Name: "only"},
				Spec: corev1.ServiceSpec{Selector: map[string]string{"only": "these"}}})
			return hot.Namespace + "/" + hot.Name, true
		}}},
	{twoForOneWorkload, tampering{"a degraded workload, which the strategy protects", plan.WorkloadDegraded,
		editSibling(func(m *planCase, p *corev1.Pod) {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
			protectFor(m, "hot", "DegradedWorkloads")
		})}},
	{twoForOneWorkload, tampering{"a storage class that the strategy protects", plan.ProtectedStorageClass,
		editFirstPod(func(m *planCase, p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			m.o.PersistentVolumeClaims = append(m.o.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("slow")}})
			m.rules.Strategies[1].ProtectedStorageClasses = []string{"slow"}
		})}},
	{ofPoolA("ZoneSpread"), tampering{"a landing in a zone that the strategy does not count", planverifier.PurposelessMove,
		editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })}},
	{ofPoolA("Duplicates"), tampering{"a landing on a node that the strategy does not count", planverifier.PurposelessMove,
		editFirstMove(func(m *planCase, x *plan.Move) { x.To = "n3" })}},
	{ofPoolA("Duplicates"), tampering{"a displaced pod that leaves the nodes that the strategy counts", planverifier.PurposelessMove,
		editFirstMove(func(m *planCase, x *plan.Move) {
			k := slices.IndexFunc(m.o.Pods, func(p *corev1.Pod) bool { return p.Labels["app"] == "web" && p.Spec.NodeName == "n2" })
			later := *x
			later.Step, later.Wave = 2, 2
			x.Pod.Name, x.Pod.UID, x.From, x.To = m.o.Pods[k].Name, string(m.o.Pods[k].UID), "n2", "n3"
			x.DisplacedFor = &later.Pod
			m.plan.Moves = []plan.Move{*x, later}
		})}},
	{twoForOneNode, tampering{"a move that fills an excluded node", planverifier.WorsensGoal, editFirstMove(fillExcluded)}},
	{ofPoolA("ZoneSpread"), tampering{"a move that fills a node that another strategy's target limits although it is excluded", planverifier.WorsensGoal,
		editFirstMove(func(m *planCase, x *plan.Move) {
			m.rules.Strategies = append(m.rules.Strategies, planverifier.StrategyRules{Name: "hot",
				NodeLevels: planverifier.NodeLevels{Targets: map[string]float64{"cpu": 0.5}}})
			fillExcluded(m, x)
		})}},
	{twoForOneNode, tampering{"a strategy whose goal the move improves less than that of another", planverifier.WrongStrategy,
		editFirstMove(func(m *planCase, x *plan.Move) { x.Strategy = "light" })}},
}

// TestTamperedStrategiesOfFixedClustersAreNamed breaks plans for fixed clusters. The verifier finds nothing before.
func TestTamperedStrategiesOfFixedClustersAreNamed(t *testing.T) {
	t.Parallel()
	for _, x := range fixedTampers {
		t.Run(x.name, func(t *testing.T) {
			m := makeFixedCase(t, x.of)
			if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); len(found) > 0 || len(m.plan.Moves) == 0 {
				t.Fatalf("%d moves, violations before the change: %v", len(m.plan.Moves), found)
			}
			pod, _ := x.apply(&m)
			if found := planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt); !hasViolation(found, pod, x.want) {
				t.Errorf("want %s about %q, found %v", x.want, pod, found)
			}
		})
	}
}
