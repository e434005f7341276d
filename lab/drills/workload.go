package drills

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/lab/recording"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const (
	zoneCount    = 3
	nodesPerZone = 2
	replicas     = 6
)

var workloadNamespaces = []string{"workload-a", "workload-b"}

// app is a Deployment of the workload.
type app struct {
	namespace, name string
	replicas        int32
	milliCPU        int64
	budget          *policyv1.PodDisruptionBudgetSpec
	protected       string // why its pods must not be evicted; empty if they may be
	podAnnotations  map[string]string
	annotations     map[string]string
}

// workload consists of Deployments whose pods are repeatedly moved into one zone, and protected pods that must not be
// evicted.
type workload struct {
	client kubernetes.Interface
	apps   []app
}

// budgetSpec returns a budget with minAvailable or maxUnavailable; an empty value is omitted.
func budgetSpec(minAvailable, maxUnavailable string) *policyv1.PodDisruptionBudgetSpec {
	s := &policyv1.PodDisruptionBudgetSpec{}
	if minAvailable != "" {
		s.MinAvailable = ptr.To(intstr.Parse(minAvailable))
	}
	if maxUnavailable != "" {
		s.MaxUnavailable = ptr.To(intstr.Parse(maxUnavailable))
	}
	return s
}

func workloadApps(now time.Time) []app {
	closed := fmt.Sprintf("0 %d * * * 1h Etc/UTC", (now.UTC().Hour()+12)%24)
	var apps []app
	budgets := []*policyv1.PodDisruptionBudgetSpec{nil, budgetSpec("", "1"), budgetSpec("80%", ""), nil,
		budgetSpec("", "34%"), budgetSpec("5", ""), budgetSpec("6", ""), nil}
	for i, b := range budgets {
		apps = append(apps, app{namespace: workloadNamespaces[i%2], name: fmt.Sprintf("d%d", i), replicas: replicas,
			milliCPU: 300, budget: b})
	}
	return append(apps,
		app{namespace: metav1.NamespaceSystem, name: "system", replicas: 4, milliCPU: 100, protected: "kube-system"},
		app{namespace: "workload-a", name: "guarded", replicas: 4, milliCPU: 100, protected: "do-not-disrupt",
			podAnnotations: map[string]string{"evenkeel.io/do-not-disrupt": "true"}},
		app{namespace: "workload-b", name: "never", replicas: 4, milliCPU: 100, protected: "evict-never",
			annotations: map[string]string{"evenkeel.io/evict": "never"}},
		app{namespace: "workload-a", name: "closed", replicas: 4, milliCPU: 100, protected: "window",
			podAnnotations: map[string]string{"evenkeel.io/window": closed}},
		app{namespace: "workload-b", name: "single", replicas: 1, milliCPU: 100, protected: "min-replicas"},
	)
}

// createWorkload creates nodes, apps and protected pods. The protected pods all start in zone-1.
func createWorkload(ctx context.Context, client kubernetes.Interface) (*workload, error) {
	t := &workload{client, workloadApps(time.Now())}
	if err := seed.CreateNodes(ctx, client, zoneCount, nodesPerZone); err != nil {
		return nil, err
	}
	for _, ns := range workloadNamespaces {
		if err := seed.CreateNamespace(ctx, client, ns); err != nil {
			return nil, err
		}
	}
	if err := t.cordonAllBut(ctx, 1); err != nil {
		return nil, err
	}
	for _, a := range t.apps {
		if err := t.createApp(ctx, a); err != nil {
			return nil, fmt.Errorf("creating %s/%s: %w", a.namespace, a.name, err)
		}
	}
	if err := t.createUncontrolled(ctx); err != nil {
		return nil, err
	}
	if err := t.waitUntilStable(ctx, stableTimeout); err != nil {
		return nil, err
	}
	// n6 is in zone-3. The pods on n6 must not be evicted, but they count for their zone.
	if err := t.patchNode(ctx, "n6", `{"metadata":{"annotations":{"evenkeel.io/exclude":"true"}}}`); err != nil {
		return nil, err
	}
	return t, t.cordonAllBut(ctx, 0)
}

func podTemplate(a app) corev1.PodTemplateSpec {
	labels := map[string]string{"app": a.name}
	if a.protected != "" {
		labels[recording.ProtectedLabel] = a.protected
	}
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: a.podAnnotations},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				"cpu":    *resource.NewMilliQuantity(a.milliCPU, resource.DecimalSI),
				"memory": *resource.NewQuantity(a.milliCPU<<20, resource.BinarySI)}}}}}}
}

func (t *workload) createApp(ctx context.Context, a app) error {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}}
	object := metav1.ObjectMeta{Name: a.name, Annotations: a.annotations}
	if _, err := t.client.AppsV1().Deployments(a.namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: object,
		Spec: appsv1.DeploymentSpec{Replicas: &a.replicas, Selector: selector, Template: podTemplate(a)}},
		metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := t.client.CoreV1().Services(a.namespace).Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: a.name},
		Spec: corev1.ServiceSpec{Selector: selector.MatchLabels, Ports: []corev1.ServicePort{{Port: 80}}}},
		metav1.CreateOptions{}); err != nil {
		return err
	}
	if a.budget == nil {
		return nil
	}
	spec := *a.budget
	spec.Selector = selector
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: a.name}, Spec: spec}
	_, err := t.client.PolicyV1().PodDisruptionBudgets(a.namespace).Create(ctx, pdb, metav1.CreateOptions{})
	return err
}

// createUncontrolled creates a DaemonSet and two pods without a controller. All these pods are protected.
func (t *workload) createUncontrolled(ctx context.Context) error {
	each := podTemplate(app{name: "each", milliCPU: 50, protected: "daemonset"})
	if _, err := t.client.AppsV1().DaemonSets("workload-a").Create(ctx, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "each"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "each"}},
			Template: each}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	for i := range 2 {
		bare := podTemplate(app{name: "bare", milliCPU: 100, protected: "bare"})
		p := &corev1.Pod{ObjectMeta: bare.ObjectMeta, Spec: bare.Spec}
		p.Name = fmt.Sprintf("bare-%d", i)
		if _, err := t.client.CoreV1().Pods("workload-b").Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (t *workload) patchNode(ctx context.Context, name, patch string) error {
	_, err := t.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// cordonAllBut cordons all zones but one; zone 0 uncordons all.
func (t *workload) cordonAllBut(ctx context.Context, zone int) error {
	for i := range zoneCount * nodesPerZone {
		closed := zone != 0 && i%zoneCount+1 != zone
		if err := t.patchNode(ctx, fmt.Sprintf("n%d", i+1), fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, closed)); err != nil {
			return fmt.Errorf("cordoning: %w", err)
		}
	}
	return nil
}

// unbalance moves the pods of half of the apps into one zone.
func (t *workload) unbalance(ctx context.Context, rnd *rand.Rand) error {
	zone := rnd.IntN(zoneCount) + 1
	var piled []app
	for _, i := range rnd.Perm(8)[:4] {
		piled = append(piled, t.apps[i])
	}
	if err := t.cordonAllBut(ctx, zone); err != nil {
		return err
	}
	if err := t.deletePodsOutside(ctx, piled, zone); err != nil {
		return err
	}
	if err := t.waitUntilStable(ctx, stableTimeout); err != nil {
		return err
	}
	if err := t.cordonAllBut(ctx, 0); err != nil {
		return err
	}
	return t.waitUntilStable(ctx, stableTimeout)
}

// deletePodsOutside deletes the pods of apps that run outside of a zone.
func (t *workload) deletePodsOutside(ctx context.Context, apps []app, zone int) error {
	for _, a := range apps {
		pods, err := t.client.CoreV1().Pods(a.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + a.name})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			var n int
			if _, err := fmt.Sscanf(p.Spec.NodeName, "n%d", &n); err == nil && (n-1)%zoneCount+1 == zone {
				continue
			}
			err := t.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}
