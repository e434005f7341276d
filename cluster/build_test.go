package cluster_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestNewMatchesPlainComputation compares the results of caches and indexes with results that are
// computed for each pod alone.
func TestNewMatchesPlainComputation(t *testing.T) {
	compared, selected := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 11))
		o := simulation.Mixed(r)
		for _, p := range o.Pods {
			varyRequests(r, p)
		}
		addRandomSelectors(r, o)
		o.ServerVersion = fmt.Sprintf("1.%d", kubeversion.Oldest+seed%(kubeversion.Newest-kubeversion.Oldest+1))
		s := must.Get(cluster.New(o))(t)
		if !slices.IsSortedFunc(s.Pods, func(a, b cluster.Pod) int {
			return cmp.Or(cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
		}) || len(s.Pods) != len(o.Pods) {
			t.Fatalf("seed %d: the pods are in another order", seed)
		}
		for i := range s.Pods {
			p := &s.Pods[i]
			exact, nonZero := cluster.RequestsWithoutCache(p.Object, &s.Scheduler)
			if !reflect.DeepEqual(p.Requests, exact) || !reflect.DeepEqual(p.NonZero, nonZero) {
				t.Fatalf("seed %d: pod %s requests %v and %v, want %v and %v", seed, p.Object.Name, p.Requests, p.NonZero, exact, nonZero)
			}
			if s.PodByKey(p.Object.Namespace+"/"+p.Object.Name) != p || s.PodByKey(p.Object.Namespace+"/"+p.Object.Name+"x") != nil {
				t.Fatalf("seed %d: pod %s is not found by its name", seed, p.Object.Name)
			}
			compared++
		}
		selected += checkSelected(t, seed, s)
	}
	if compared < 5000 || selected < 5000 {
		t.Errorf("only %d pods and %d selections were compared", compared, selected)
	}
}

// checkSelected tests every pod against every selector.
func checkSelected(t *testing.T, seed uint64, s *cluster.Snapshot) (selected int) {
	ofPod := make([][2]string, len(s.Pods)) // budgets and Services
	match := func(kind int, id int, ns string, sel labels.Selector, terminalToo bool) (pods []cluster.PodID) {
		for i := range s.Pods {
			p := &s.Pods[i]
			if p.Object.Namespace == ns && sel.Matches(labels.Set(p.Object.Labels)) {
				ofPod[i][kind] += fmt.Sprint(id, " ")
				if terminalToo || !p.Terminal {
					pods = append(pods, p.ID)
				}
			}
		}
		return pods
	}
	for i, b := range s.Budgets {
		if want := match(0, i, b.Object.Namespace, b.Selector, true); !slices.Equal(b.Pods, want) {
			t.Fatalf("seed %d: budget %s selects %v, want %v", seed, b.Selector, b.Pods, want)
		}
		selected += len(b.Pods)
	}
	for i, x := range s.Services {
		if want := match(1, i, x.Object.Namespace, x.Selector, false); !slices.Equal(x.Pods, want) {
			t.Fatalf("seed %d: Service %s selects %v, want %v", seed, x.Selector, x.Pods, want)
		}
		selected += len(x.Pods)
	}
	for i := range s.Pods {
		got := [2]string{}
		for _, id := range s.Pods[i].Budgets {
			got[0] += fmt.Sprint(id, " ")
		}
		for _, id := range s.Pods[i].Services {
			got[1] += fmt.Sprint(id, " ")
		}
		if got != ofPod[i] {
			t.Fatalf("seed %d: pod %s has budgets and Services %v, want %v", seed, s.Pods[i].Object.Name, got, ofPod[i])
		}
	}
	return selected
}

// addRandomSelectors adds budgets and Services with selectors of all forms.
func addRandomSelectors(r *rand.Rand, o *cluster.Objects) {
	for i, p := range o.Pods {
		if r.IntN(3) > 0 || len(p.Labels) == 0 {
			continue
		}
		app := p.Labels["app"]
		sel := []*metav1.LabelSelector{
			nil,
			{},
			{MatchLabels: p.Labels},
			{MatchLabels: map[string]string{"tier": p.Labels["tier"]}},
			{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn,
				Values: []string{app, "a01", "a02"}}}},
			{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{app}}}},
			{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists},
				{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist}}},
			{MatchLabels: map[string]string{"tier": "front"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{app}}}},
		}[r.IntN(8)]
		name := metav1.ObjectMeta{Namespace: p.Namespace, Name: fmt.Sprintf("more-%03d", i)}
		o.PodDisruptionBudgets = append(o.PodDisruptionBudgets,
			&policyv1.PodDisruptionBudget{ObjectMeta: name, Spec: policyv1.PodDisruptionBudgetSpec{Selector: sel}})
		o.Services = append(o.Services, &corev1.Service{ObjectMeta: name, Spec: corev1.ServiceSpec{Selector: p.Labels}})
	}
}

// varyRequests changes every second pod. Some changes alter the requests of the pod, others only
// write the same requests differently.
func varyRequests(r *rand.Rand, p *corev1.Pod) {
	some := func() corev1.ResourceList {
		l := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(int64(100*r.IntN(4)), resource.DecimalSI)}
		if r.IntN(3) == 0 {
			l["example.com/gpu"] = *resource.NewQuantity(int64(r.IntN(3)), resource.DecimalSI)
		}
		return l
	}
	always, on := corev1.ContainerRestartPolicyAlways, len(p.Spec.Containers) > 0
	switch r.IntN(20) {
	case 0:
		p.Spec.Overhead = some()
	case 1:
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: some()}
	case 2:
		p.Spec.InitContainers = append(p.Spec.InitContainers,
			corev1.Container{Name: "i", Resources: corev1.ResourceRequirements{Requests: some()}})
	case 3:
		p.Spec.InitContainers = append(p.Spec.InitContainers,
			corev1.Container{Name: "i", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: some()}})
	case 4:
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible})
	case 5:
		p.Status.AllocatedResources, p.Status.Resources = some(), &corev1.ResourceRequirements{Requests: some()}
	case 6, 7, 8:
		if on {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, AllocatedResources: some(),
				Resources: &corev1.ResourceRequirements{Requests: some()}}}
		}
	case 9:
		if on {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, AllocatedResources: corev1.ResourceList{}}}
		}
	case 10:
		if on {
			p.Spec.Containers[0].Resources.Requests = some()
		}
	case 11:
		if on {
			p.Spec.Containers = append(slices.Clone(p.Spec.Containers), corev1.Container{Name: "more"})
		}
	}
}
