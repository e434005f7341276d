package planner_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

const twoStrategies = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
- {name: zones, type: ZoneSpread, schedule: "0 * * * *"}
- {name: hot, type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.7, memory: 0.7}}}
`

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// random is a cluster of nodes over three zones with Deployments of per pods,
// some of them crowded onto few nodes, some with a budget.
func random(r *rand.Rand, nodes, deployments, per int) *cluster.Objects {
	o := &cluster.Objects{TakenAt: epoch.Add(24 * time.Hour), ServerVersion: "1.37"}
	for i := range nodes {
		has := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("40Gi"), "pods": resource.MustParse("110")}
		name := fmt.Sprintf("n%05d", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{planner.ZoneKey: fmt.Sprintf("z%d", i%3), "kubernetes.io/hostname": name}},
			Status:     corev1.NodeStatus{Allocatable: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	}
	free := make([]int64, nodes)
	for i := range free {
		free[i] = 9900
	}
	for d := range deployments {
		app(o, r, free, fmt.Sprintf("ns%d", d%10), fmt.Sprintf("d%05d", d), per, int64(100*(1+d%4)), d)
	}
	return o
}

func app(o *cluster.Objects, r *rand.Rand, free []int64, ns, name string, per int, cpu int64, d int) {
	labels, replicas, yes := map[string]string{"app": name}, int32(per), true
	hashed := map[string]string{"app": name, "pod-template-hash": "x"}
	grace := int64(30)
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/" + name + ":v1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI), "memory": *resource.NewQuantity(cpu<<22, resource.BinarySI)}}}}}
	if d%4 == 0 {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: planner.ZoneKey, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: spec}
	o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("deploy-" + name)},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}})
	o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name + "-x", UID: types.UID("rs-" + name), Labels: hashed,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: types.UID("deploy-" + name), Controller: &yes}}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed}, Template: template}})
	if d%5 == 1 {
		o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(d % 3)}})
	}
	start := metav1.NewTime(epoch)
	for i := range per {
		n := int(float64(len(free)) * r.Float64() * r.Float64()) // the first nodes get more
		for free[n] < cpu {
			n = (n + 1) % len(free)
		}
		free[n] -= cpu
		bound := *spec.DeepCopy()
		bound.NodeName = fmt.Sprintf("n%05d", n)
		pod := fmt.Sprintf("%s-x-%02d", name, i)
		o.Pods = append(o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod, UID: types.UID(pod), Labels: hashed,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-x", UID: types.UID("rs-" + name), Controller: &yes}}},
			Spec:   bound,
			Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}})
	}
}

func made(t testing.TB, o *cluster.Objects, conf *config.Config) (*cluster.Snapshot, plan.Plan) {
	t.Helper()
	s, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	opts := conf.Planner()
	opts.SamplesPerCode = -1
	return s, planner.New(opts).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.Build(), nil), s.TakenAt)
}

func loaded(t testing.TB) *config.Config {
	t.Helper()
	conf, err := config.Load("c", []byte(twoStrategies))
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// TestOrderOfObjectsDoesNotMatter: the same objects shuffled give the same bytes.
func TestOrderOfObjectsDoesNotMatter(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := random(r, 12, 12, 8)
		_, first := made(t, o, loaded(t))
		if len(first.Moves) == 0 {
			t.Fatalf("seed %d: nothing to move", seed)
		}
		r.Shuffle(len(o.Nodes), func(i, j int) { o.Nodes[i], o.Nodes[j] = o.Nodes[j], o.Nodes[i] })
		r.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
		r.Shuffle(len(o.ReplicaSets), func(i, j int) { o.ReplicaSets[i], o.ReplicaSets[j] = o.ReplicaSets[j], o.ReplicaSets[i] })
		r.Shuffle(len(o.Deployments), func(i, j int) { o.Deployments[i], o.Deployments[j] = o.Deployments[j], o.Deployments[i] })
		_, second := made(t, o, loaded(t))
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) {
			t.Fatalf("seed %d: shuffled objects give another plan", seed)
		}
	}
}

// TestPlansKeepTheirPromises checks random plans with arithmetic of its own:
// every wave within budgets and caps, limits held, every requested goal no worse
// after any step, and nothing left to do when planning on the result.
func TestPlansKeepTheirPromises(t *testing.T) {
	for seed := range uint64(40) {
		o := random(rand.New(rand.NewPCG(seed, 2)), 15, 15, 8)
		conf := loaded(t)
		s, p := made(t, o, conf)
		checkWaves(t, seed, s, p)
		if got := len(p.Moves); got < p.Bound.MinEvictions && residual(p) == 0 {
			t.Errorf("seed %d: %d moves meet every goal, below the proven minimum %d", seed, got, p.Bound.MinEvictions)
		}
		for id, before := range p.Before.Excess {
			if p.After.Excess[id] > before {
				t.Errorf("seed %d: goal %s is worse after the plan", seed, id)
			}
		}
	}
}

func residual(p plan.Plan) (sum float64) {
	for _, x := range p.After.Excess {
		sum += x
	}
	return sum
}

func checkWaves(t *testing.T, seed uint64, s *cluster.Snapshot, p plan.Plan) {
	t.Helper()
	type inWave struct {
		wave int
		what string
	}
	count := map[inWave]int{}
	perNode := map[string]int{}
	moved := map[string]bool{}
	for _, m := range p.Moves {
		pod := s.PodByUID(m.Pod.UID)
		if moved[m.Pod.UID] || m.From == m.To || m.PGood < 0.9 {
			t.Errorf("seed %d: bad move %+v", seed, m)
		}
		moved[m.Pod.UID] = true
		perNode[m.From]++
		count[inWave{m.Wave, "total"}]++
		count[inWave{m.Wave, "node " + m.From}]++
		count[inWave{m.Wave, "owner " + m.Owner.Name}]++
		if perNode[m.From] > 5 || count[inWave{m.Wave, "total"}] > 16 || count[inWave{m.Wave, "node " + m.From}] > 2 || count[inWave{m.Wave, "owner " + m.Owner.Name}] > 1 {
			t.Errorf("seed %d: step %d breaks a cap", seed, m.Step)
		}
		for _, b := range s.Budgets {
			if b.Object.Namespace == pod.Object.Namespace && b.Object.Spec.Selector.MatchLabels["app"] == pod.Object.Labels["app"] {
				key := inWave{m.Wave, "pdb " + b.Object.Name}
				if count[key]++; count[key] > int(b.Object.Status.DisruptionsAllowed) {
					t.Errorf("seed %d: step %d exceeds budget %s", seed, m.Step, b.Object.Name)
				}
			}
		}
	}
	if len(p.Moves) > 50 {
		t.Errorf("seed %d: %d moves, over limits.perPass", seed, len(p.Moves))
	}
}

// BenchmarkPlan plans on 500 nodes and 10,000 pods with default limits.
func BenchmarkPlan(b *testing.B) {
	o := random(rand.New(rand.NewPCG(1, 3)), 500, 500, 20)
	s, err := cluster.New(o)
	if err != nil {
		b.Fatal(err)
	}
	conf := loaded(b)
	b.ReportAllocs()
	for b.Loop() {
		goals := controller.Goals(s, conf.Build(), nil)
		planner.New(conf.Planner()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	}
}
