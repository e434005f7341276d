package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// hostile adds n times something to a cluster that its author may declare as often as he likes.
var hostile = map[string]func(o *cluster.Objects, n int){
	"anti-affinity terms of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(n, func(int) string { return corev1.LabelHostname })}}
	}),
	"anti-affinity terms with keys that no node has": onFirstPod(func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(n, func(i int) string { return fmt.Sprint("key-", i) })}}
	}),
	"affinity terms of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(n, func(int) string { return corev1.LabelTopologyZone })}}
	}),
	"preferred terms of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		a := &corev1.PodAntiAffinity{}
		for _, t := range terms(n, func(int) string { return corev1.LabelHostname }) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.WeightedPodAffinityTerm{Weight: 1, PodAffinityTerm: t})
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: a}
	}),
	"spread constraints of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, spread(fmt.Sprint("key-", i), &metav1.LabelSelector{MatchLabels: p.Labels}))
		}
	}),
	"pods with constraints that select all others": func(o *cluster.Objects, n int) {
		for i := range n / 8 {
			p := anotherPod(o, i)
			for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, spread(key, notIn(i)))
			}
		}
	},
	"tolerations of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: fmt.Sprint("key-", i), Operator: corev1.TolerationOpExists})
		}
	}),
	"node affinity terms of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		var list []corev1.NodeSelectorTerm
		for i := range n {
			list = append(list, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: fmt.Sprint("key-", i), Operator: corev1.NodeSelectorOpExists}}})
		}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: list}}}
	}),
	"labels and annotations of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		p.Annotations = map[string]string{}
		for i := range n {
			p.Labels[fmt.Sprint("key-", i)], p.Annotations[fmt.Sprint("evenkeel.io/key-", i)] = "v", "v"
		}
	}),
	"owners of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		for i := range n {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: "ReplicaSet", Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i)), Controller: ptr.To(i%2 == 0)})
		}
	}),
	"controllers without a name": func(o *cluster.Objects, n int) {
		for i := range n / 8 {
			anotherPod(o, i).OwnerReferences = []metav1.OwnerReference{{Controller: ptr.To(true)}}
		}
	},
	"containers, ports and volumes of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		for i := range n {
			name := fmt.Sprint("c", i)
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name, Image: name, Ports: []corev1.ContainerPort{{HostPort: int32(i + 1)}}})
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
			o := corev1.ContainerStatus{Name: name, RestartCount: 9}
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, o)
		}
	}),
	"budgets": func(o *cluster.Objects, n int) {
		for i := range n {
			o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprint("b", i)},
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}})
		}
	},
	"values of a selector of a budget": func(o *cluster.Objects, n int) {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "b"}}
		r := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn}
		for i := range n {
			r.Values = append(r.Values, fmt.Sprint("d", i))
		}
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}
		o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, b)
	},
	"services": func(o *cluster.Objects, n int) {
		for i := range n {
			o.Services = append(o.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprint("s", i)}, Spec: corev1.ServiceSpec{Selector: o.Pods[i%len(o.Pods)].Labels}})
		}
	},
	"namespaces": func(o *cluster.Objects, n int) {
		for i := range n {
			o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("more-", i), Labels: map[string]string{"team": fmt.Sprint(i)}}})
		}
	},
	"claims": func(o *cluster.Objects, n int) {
		for i := range n {
			o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprint("c", i)}})
		}
	},
	"taints of one node": func(o *cluster.Objects, n int) {
		for i := range n {
			o.Nodes[0].Spec.Taints = append(o.Nodes[0].Spec.Taints, corev1.Taint{Key: fmt.Sprint("key-", i), Effect: corev1.TaintEffectNoSchedule})
		}
	},
	"conditions of one pod": onFirstPod(func(p *corev1.Pod, n int) {
		for i := range n {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint("c", i)), Status: corev1.ConditionTrue})
		}
	}),
}

func onFirstPod(change func(*corev1.Pod, int)) func(*cluster.Objects, int) {
	return func(o *cluster.Objects, n int) { change(o.Pods[0], n) }
}

func anotherPod(o *cluster.Objects, i int) *corev1.Pod {
	p := o.Pods[0].DeepCopy()
	p.Name, p.UID, p.Labels = fmt.Sprint("more-", i), types.UID(fmt.Sprint("more-", i)), map[string]string{"app": fmt.Sprint("more-", i)}
	p.OwnerReferences = nil
	o.Pods = append(o.Pods, p)
	return p
}

func notIn(i int) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: fmt.Sprint("x", i), Operator: metav1.LabelSelectorOpNotIn, Values: []string{"v"}}}}
}

func spread(key string, sel *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: sel}
}

func terms(n int, key func(int) string) (out []corev1.PodAffinityTerm) {
	for i := range n {
		out = append(out, corev1.PodAffinityTerm{TopologyKey: key(i), NamespaceSelector: &metav1.LabelSelector{}, LabelSelector: notIn(i)})
	}
	return out
}

// arguments has the arguments of the strategy types that require arguments.
var arguments = map[string]string{"NodeLoad": "target: {cpu: 0.8}", "NodeConsolidation": "below: {cpu: 0.4}, target: {cpu: 0.8}",
	"Lifetime": "maxAge: 9h", "Restarts": "minRestarts: 3"}

// cost is what one plan took.
type cost struct {
	bytes uint64
	cpu   time.Duration
}

// TestHostileObjectsCostTheirSize plans for every strategy with every kind of hostile object in three sizes. Four times
// as many objects may take eight times as much: a quadratic cost takes 16 times as much.
func TestHostileObjectsCostTheirSize(t *testing.T) {
	const small = 200
	for _, d := range strategies.All {
		conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies:\n  s: {type: "+d.Type+
			", schedule: \"0 * * * *\", args: {"+arguments[d.Type]+"}}\n")))(t)
		for name, add := range hostile {
			t.Run(strings.ReplaceAll(d.Type+"/"+name, " ", "_"), func(t *testing.T) {
				var took [3]cost
				for i := range took {
					o := simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 6, 6, 4)
					add(o, small<<i)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					began := cputime.Used(t)
					s := must.Get(cluster.New(o))(t)
					planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
					took[i].cpu = cputime.Used(t) - began
					runtime.ReadMemStats(&after)
					took[i].bytes = after.TotalAlloc - before.TotalAlloc
				}
				if took[2].bytes > 8*took[0].bytes+8<<20 {
					t.Errorf("memory grows faster than the objects: %+v", took)
				}
				if took[2].cpu > 8*took[0].cpu+300*time.Millisecond {
					t.Errorf("time grows faster than the objects: %+v", took)
				}
			})
		}
	}
}
