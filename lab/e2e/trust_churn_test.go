package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

var bindingsToMake = flag.Int64("bindings", 3000, "bindings of the scheduler in TestAnUnchangedSchedulerStaysTrusted")

// TestAnUnchangedSchedulerStaysTrusted lets the default scheduler bind pods while 60 Deployments change their replicas.
// The cluster has 300 nodes, and the scheduler scores only a sample of them. Evenkeel examines some of the bindings,
// and must trust the scheduler in every pass.
func TestAnUnchangedSchedulerStaysTrusted(t *testing.T) {
	skipIfShort(t)
	const ns = "churn"
	rnd := rand.New(rand.NewPCG(1, 16))
	must.Succeed(t, seed.CreateNodes(t.Context(), lab.Client, 3, 100))
	must.Succeed(t, seed.CreateNamespace(t.Context(), lab.Client, ns))
	t.Cleanup(func() { deleteChurn(t, ns) })
	api := lab.Client.AppsV1().Deployments(ns)
	for i := range 60 {
		if _, err := api.Create(t.Context(), churnDeployment(i, rnd), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r := startProcess(t, ns, testbed.ConfigFile(t, `
dryRun: true
strategies:
  zones: {type: ZoneSpread, schedule: "* * * * *"}
`))
	const name = corev1.DefaultSchedulerName
	made := countBoundPods(t, ns)
	begun, passes := time.Now(), map[string]bool{}
	for n := made.Load(); n < *bindingsToMake; n = made.Load() {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, rnd.IntN(60))
		if _, err := api.Patch(t.Context(), fmt.Sprintf("d%02d", rnd.IntN(60)), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(2 * time.Second)
		_ = seed.WaitUntil(t.Context(), 5*time.Second, func() (bool, error) {
			return made.Load() >= n+10 || time.Now().After(deadline), nil
		})
		r.eachReport(t, func(id string, p testbed.Report) {
			if passes[id] = true; untrusted(p, name) {
				t.Fatalf("the unchanged scheduler lost its trust: %+v", p.Spec.Notices)
			}
		})
	}
	hits, predicted := r.metricCount(name, "hit"), r.countPredictedBindings(name)
	examined := r.bindingCount(name)
	t.Logf("%d bindings in %.0f s, %d of them examined, %d predicted, %d correctly; trusted in %d passes", made.Load(),
		time.Since(begun).Seconds(), examined, predicted, hits, len(passes))
	if examined < 30 || 4*predicted < examined {
		t.Errorf("%d bindings were examined and %d predicted, so the test proves little", examined, predicted)
	}
}

// countBoundPods counts the pods of the namespace that the scheduler binds from now on, until the test ends.
func countBoundPods(t *testing.T, ns string) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	factory := informers.NewSharedInformerFactoryWithOptions(lab.Client, 0, informers.WithNamespace(ns))
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		if before.(*corev1.Pod).Spec.NodeName == "" && after.(*corev1.Pod).Spec.NodeName != "" {
			n.Add(1)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	factory.WaitForCacheSync(t.Context().Done())
	return &n
}

// eachReport calls f for every complete report that the process has written, with its position.
func (r *process) eachReport(t *testing.T, f func(id string, p testbed.Report)) {
	t.Helper()
	for i, p := range testbed.Reports(r.log.String()) {
		f(strconv.Itoa(i), p)
	}
}

// deleteChurn deletes the namespace and the nodes.
func deleteChurn(t *testing.T, ns string) {
	if err := seed.DeleteNamespace(context.Background(), lab.Client, ns); err != nil {
		t.Error(err)
	}
	if err := lab.Client.CoreV1().Nodes().DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

// churnDeployment returns a Deployment with random requests, and with a spread constraint, an anti-affinity, or a
// preference for a zone.
func churnDeployment(i int, rnd *rand.Rand) *appsv1.Deployment {
	name := fmt.Sprintf("d%02d", i)
	labels := map[string]string{"app": name}
	spec := corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](1), Containers: []corev1.Container{{
		Name: "c", Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(50+rnd.Int64N(900), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity((64+rnd.Int64N(1500))<<20, resource.BinarySI)}}}}}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	switch i % 4 {
	case 1:
		when := []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}[rnd.IntN(2)]
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: seed.ZoneKey, WhenUnsatisfiable: when, LabelSelector: selector}}
	case 2:
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 50, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: selector}}}}}
	case 3:
		zone := corev1.NodeSelectorRequirement{Key: seed.ZoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprintf("zone-%d", 1+rnd.IntN(3))}}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 20, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{zone}}}}}}
	}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To(rnd.Int32N(40)),
		Selector: selector, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}}}
}
