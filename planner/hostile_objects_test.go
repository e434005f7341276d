package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// planTimeout bounds the CPU time for the plan of a small cluster with hostile objects. Most plans take milliseconds.
const planTimeout = 20 * time.Second

// TestHostileObjects: objects that an API server admits and that nobody uses in earnest neither crash the planner nor
// keep it busy, and no pod moves to a node that only an overflow makes look empty.
func TestHostileObjects(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *cluster.Objects)
	}{
		{"thousands of budgets for the same pods", func(o *cluster.Objects) {
			for i := range 2000 {
				o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
					ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprintf("budget-%d", i), Generation: 1},
					Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
					Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1 << 30}})
			}
			for i := range 2000 {
				p := o.Pods[0].DeepCopy()
				p.Namespace, p.Name, p.UID = "ns1", fmt.Sprintf("more-%d", i), types.UID(fmt.Sprintf("more-%d", i))
				p.Spec.NodeName = ""
				o.Pods = append(o.Pods, p)
			}
		}},
		{"allocatable 0", allocatable("0")},
		{"allocatable negative", allocatable("-1")},
		{"allocatable 2^63-1", allocatable("9223372036854775807")},
		{"allocatable 10^18", allocatable("1E")},
		{"allocatable beyond int64", allocatable("99999999999999999999999")},
		{"requests 2^63-1 of bound pods", bindHugePods("9223372036854775807")},
		{"requests 5*10^18 of bound pods", bindHugePods("5E")},
		{"requests beyond int64 of bound pods", bindHugePods("99999999999999999999999")},
		{"thousands of pods of 1Pi", func(o *cluster.Objects) {
			for i := range 9000 {
				bindPod(o, fmt.Sprintf("huge-%d", i), "n00011", "1Pi")
			}
		}},
		{"many images", func(o *cluster.Objects) {
			for _, n := range o.Nodes {
				for i := range 10_000 {
					n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: 1<<63 - 1,
						Names: []string{fmt.Sprintf("registry.example.com/%d:v1", i), "registry.example.com/d00001:v1"}})
				}
			}
		}},
		{"many tolerations", changeTemplates(func(s *corev1.PodSpec) {
			for i := range 5000 {
				s.Tolerations = append(s.Tolerations, toleration("key", i))
			}
		})},
		{"many taints", func(o *cluster.Objects) {
			for _, n := range o.Nodes {
				for i := range 1000 {
					n.Spec.Taints = append(n.Spec.Taints,
						corev1.Taint{Key: fmt.Sprintf("key-%d", i), Effect: corev1.TaintEffectPreferNoSchedule})
				}
			}
			changeTemplates(func(s *corev1.PodSpec) {
				for i := range 1000 {
					s.Tolerations = append(s.Tolerations, toleration("no", i))
				}
			})(o)
		}},
		{"many containers", changeTemplates(func(s *corev1.PodSpec) {
			for i := range 2000 {
				s.Containers = append(s.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: fmt.Sprintf("image-%d", i),
					Ports: []corev1.ContainerPort{{HostPort: int32(i + 1), ContainerPort: int32(i + 1)}}})
			}
		})},
		{"many node selector terms", changeTemplates(func(s *corev1.PodSpec) {
			var terms []corev1.NodeSelectorTerm
			for i := range 3000 {
				terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn,
						Values: []string{"no", fmt.Sprint(i), "n00011"}}}})
			}
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
		})},
		{"many preferred pod affinity terms", changeTemplates(func(s *corev1.PodSpec) {
			var terms []corev1.WeightedPodAffinityTerm
			for i := range 1000 {
				terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: 100, PodAffinityTerm: affinityTerm(i)})
			}
			s.Affinity = &corev1.Affinity{
				PodAffinity:     &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms},
				PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms},
			}
		})},
		{"many required anti-affinity terms", changeTemplates(func(s *corev1.PodSpec) {
			var terms []corev1.PodAffinityTerm
			for i := range 2000 {
				terms = append(terms, affinityTerm(i))
			}
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		})},
		{"many spread constraints", changeTemplates(func(s *corev1.PodSpec) {
			for i := range 2000 {
				s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, corev1.TopologySpreadConstraint{MaxSkew: 1 << 30,
					TopologyKey: fmt.Sprintf("key-%d", i), WhenUnsatisfiable: corev1.ScheduleAnyway,
					LabelSelector: affinityTerm(i).LabelSelector})
			}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, conf := simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 12, 12, 8), configWithTwoStrategies(t)
			c.change(o)
			began := cputime.Used(t)
			s, p := planRandomCluster(t, o, conf)
			took := cputime.Used(t) - began
			if took > planTimeout {
				t.Errorf("the plan took %s", took)
			}
			checkRoom(t, s, p)
			moves, _ := planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{},
				controller.Goals(s, conf.BuildStrategies(), nil), p, 1, s.TakenAt)
			checkRoom(t, s, plan.Plan{Moves: moves})
		})
	}
}

// checkRoom checks with exact arithmetic that each replacement has room on its node, next to all pods that are there
// before the plan and all earlier replacements.
func checkRoom(t *testing.T, s *cluster.Snapshot, p plan.Plan) {
	t.Helper()
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		used := map[string]*resource.Quantity{}
		for _, n := range s.Nodes {
			used[n.Name] = &resource.Quantity{}
			used[n.Name].AsDec()
			for _, id := range n.Pods {
				addRequests(used[n.Name], s.Pods[id].Object, name)
			}
		}
		for _, m := range p.Moves {
			n := s.NodeByName(m.To)
			addRequests(used[m.To], s.PodByUID(m.Pod.UID).Object, name)
			if have := n.Object.Status.Allocatable[name]; used[m.To].Cmp(have) > 0 {
				t.Errorf("step %d: node %s has %s of %s, and its pods request %s", m.Step, m.To, have.String(), name, used[m.To])
			}
		}
	}
}

func addRequests(sum *resource.Quantity, p *corev1.Pod, name corev1.ResourceName) {
	for i := range p.Spec.Containers {
		sum.Add(p.Spec.Containers[i].Resources.Requests[name])
	}
}

// allocatable sets all amounts of every third node.
func allocatable(amount string) func(*cluster.Objects) {
	return func(o *cluster.Objects) {
		for i, n := range o.Nodes {
			if i%3 == 0 {
				q := resource.MustParse(amount)
				n.Status.Allocatable = corev1.ResourceList{"cpu": q, "memory": q, "pods": q, "ephemeral-storage": q,
					"nvidia.com/gpu": q}
			}
		}
	}
}

// bindHugePods binds two pods to each of the last three nodes.
func bindHugePods(amount string) func(*cluster.Objects) {
	return func(o *cluster.Objects) {
		for i, node := range []string{"n00009", "n00010", "n00011", "n00009", "n00010", "n00011"} {
			bindPod(o, fmt.Sprintf("huge-%d", i), node, amount)
		}
	}
}

// bindPod adds a pod that waits for the kubelet of the node. Pod authors may set spec.nodeName.
func bindPod(o *cluster.Objects, name, node, amount string) {
	q := resource.MustParse(amount)
	o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": q, "memory": q, "nvidia.com/gpu": q}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending}})
}

// changeTemplates changes every pod and every pod template.
func changeTemplates(change func(*corev1.PodSpec)) func(*cluster.Objects) {
	return func(o *cluster.Objects) {
		for _, d := range o.Deployments {
			change(&d.Spec.Template.Spec)
		}
		for _, rs := range o.ReplicaSets {
			change(&rs.Spec.Template.Spec)
		}
		for _, p := range o.Pods {
			change(&p.Spec)
		}
	}
}

func toleration(prefix string, i int) corev1.Toleration {
	return corev1.Toleration{Key: fmt.Sprintf("%s-%d", prefix, i), Operator: corev1.TolerationOpExists}
}

func affinityTerm(i int) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: "topology.kubernetes.io/zone", LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn,
			Values: []string{fmt.Sprintf("d%05d", i+100), "x"}}}}}
}

// TestFlappingNodes: a wave that was planned while nodes were Ready is rechecked while some of them are not, and again
// after they have recovered. No pod moves to a node that is not Ready, or whose kubelet reports both states.
func TestFlappingNodes(t *testing.T) {
	conf := configWithTwoStrategies(t)
	o := simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 12, 12, 8)
	s, p := planRandomCluster(t, o, conf)
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	recheck := func(s *cluster.Snapshot) ([]plan.Move, []plan.Outcome) {
		return planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, goals, p, 1, s.TakenAt)
	}
	before, _ := recheck(s)
	for _, conditions := range [][]corev1.NodeCondition{
		{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}},
		{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}},
		{{Type: corev1.NodeReady, Status: "ready"}},
		{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		{},
	} {
		flapping := *o
		flapping.Nodes = nil
		bad := map[string]bool{}
		for _, n := range o.Nodes {
			if n = n.DeepCopy(); slices.ContainsFunc(before, func(m plan.Move) bool { return m.To == n.Name }) {
				n.Status.Conditions, bad[n.Name] = conditions, true
			}
			flapping.Nodes = append(flapping.Nodes, n)
		}
		later := must.Get(cluster.New(&flapping))(t)
		moves, dropped := recheck(later)
		for _, m := range moves {
			if bad[m.To] {
				t.Errorf("%v: step %d moves a pod to %s", conditions, m.Step, m.To)
			}
		}
		if len(moves)+len(dropped) != len(before) {
			t.Errorf("%v: kept %d and dropped %d of %d moves", conditions, len(moves), len(dropped), len(before))
		}
	}
	if after, dropped := recheck(s); len(before) == 0 || len(after) != len(before) || len(dropped) > 0 {
		t.Errorf("%d moves before, %d after the nodes recovered; dropped %+v", len(before), len(after), dropped)
	}
}
