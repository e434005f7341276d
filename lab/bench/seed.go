package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// The cluster has nodes with 10 CPU and 40Gi in three zones, and Deployments of 20 pods in ten namespaces. Every
// fourth Deployment has a required zone spread constraint. 30 % of the nodes have 1.7 times the mean number of pods,
// 30 % have 0.3 times the mean.
const (
	perApp         = 20
	namespaces     = 10
	zones          = 3
	nodeCPU        = 10
	usableMilliCPU = 9900 // milliCPU per node that pods may request
	parallelism    = 32
)

var cpuSizes = []int64{100, 200, 250, 300, 400} // milliCPU

func seedCluster(ctx context.Context, s settings, stderr *os.File) error {
	// The control plane runs no controller that creates pods.
	c, err := controlplane.Start(ctx, controlplane.Options{WithoutKwok: true,
		Controllers: []string{"serviceaccount-controller"}, Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	begun := time.Now()
	if err := createObjects(ctx, c.Client, s); err != nil {
		return err
	}
	took := time.Since(begun)
	folder := filepath.Join(s.work, "etcd")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := c.CopyEtcdData(folder); err != nil {
		return err
	}
	return writeJSON(s.resultPath("seed"), map[string]any{"nodes": s.nodes, "pods": s.pods,
		"seconds": took.Seconds(), "load": loadAverage()})
}

func createObjects(ctx context.Context, client kubernetes.Interface, s settings) error {
	rnd := rand.New(rand.NewPCG(1, 1))
	if err := inParallel(ctx, s.nodes, func(ctx context.Context, i int) error {
		return seed.CreateNode(ctx, client, seed.Node{Name: nodeName(i), Zone: fmt.Sprintf("z%d", i%zones), CPU: nodeCPU, MemoryGi: 40})
	}); err != nil {
		return err
	}
	err := inParallel(ctx, namespaces, func(ctx context.Context, i int) error {
		return seed.CreateNamespace(ctx, client, namespaceName(i))
	})
	if err != nil {
		return err
	}
	apps := make([]*app, s.pods/perApp)
	for i := range apps {
		apps[i] = newApp(i, 0.6+0.4*rnd.Float64())
	}
	if err := inParallel(ctx, len(apps), func(ctx context.Context, i int) error { return apps[i].create(ctx, client) }); err != nil {
		return fmt.Errorf("creating Deployments: %w", err)
	}
	places := distributePods(rnd, apps, s.nodes)
	if err := inParallel(ctx, len(places), func(ctx context.Context, i int) error { return places[i].create(ctx, client) }); err != nil {
		return fmt.Errorf("creating pods: %w", err)
	}
	return nil
}

// inParallel calls do for 0 to n-1, several at a time.
func inParallel(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

func namespaceName(i int) string { return fmt.Sprintf("ns%d", i) }
func nodeName(i int) string      { return fmt.Sprintf("n%05d", i) }

// app is a Deployment with its ReplicaSet.
type app struct {
	namespace, name string
	milliCPU        int64
	spec            corev1.PodSpec
	rs              *appsv1.ReplicaSet
}

// newApp returns an app that requests memPart of 4Gi memory per CPU.
func newApp(i int, memPart float64) *app {
	a := &app{namespace: namespaceName(i % namespaces), name: fmt.Sprintf("d%05d", i), milliCPU: cpuSizes[i%len(cpuSizes)]}
	grace := int64(30)
	memory := int64(float64(a.milliCPU)*4.096*memPart) << 20
	requests := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(a.milliCPU, resource.DecimalSI),
		"memory": *resource.NewQuantity(memory, resource.BinarySI)}
	a.spec = corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "app",
		Image: "registry.k8s.io/pause:3.10", Resources: corev1.ResourceRequirements{Requests: requests}}}}
	if i%4 == 0 {
		a.spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: seed.ZoneKey,
			WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}}}}
	}
	return a
}

func (a *app) create(ctx context.Context, client kubernetes.Interface) error {
	labels := map[string]string{"app": a.name}
	hashed := map[string]string{"app": a.name, appsv1.DefaultDeploymentUniqueLabelKey: "seed"}
	replicas := int32(perApp)
	d, err := client.AppsV1().Deployments(a.namespace).Create(ctx,
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: a.name, Labels: labels},
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: a.spec}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	a.rs, err = client.AppsV1().ReplicaSets(a.namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: a.name + "-seed", Labels: hashed,
			Annotations:     map[string]string{"deployment.kubernetes.io/revision": "1"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: hashed},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: a.spec}}}, metav1.CreateOptions{})
	return err
}

// podPlacement is a pod with its node.
type podPlacement struct {
	app     *app
	ordinal int
	node    string
}

// distributePods distributes the pods randomly over the nodes.
func distributePods(rnd *rand.Rand, apps []*app, nodes int) []podPlacement {
	var all []podPlacement
	for _, a := range apps {
		for k := range perApp {
			all = append(all, podPlacement{app: a, ordinal: k})
		}
	}
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	mean := float64(len(all)) / float64(nodes)
	next, order := 0, rnd.Perm(nodes)
	for rank, n := range order {
		part := 1.0
		switch at := float64(rank) / float64(nodes); {
		case at < 0.3:
			part = 1.7
		case at >= 0.7:
			part = 0.3
		}
		used := int64(0)
		for k := math.Round(mean * part); k > 0 && next < len(all) && used+all[next].app.milliCPU <= usableMilliCPU; k-- {
			used += all[next].app.milliCPU
			all[next].node = nodeName(n)
			next++
		}
	}
	middling := order[int(0.3*float64(nodes)):int(math.Ceil(0.7*float64(nodes)))]
	for i := next; i < len(all); i++ {
		all[i].node = nodeName(middling[i%len(middling)])
	}
	return all
}

func (p podPlacement) create(ctx context.Context, client kubernetes.Interface) error {
	spec := *p.app.spec.DeepCopy()
	spec.NodeName = p.node
	pods := client.CoreV1().Pods(p.app.namespace)
	owner := *metav1.NewControllerRef(p.app.rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	meta := metav1.ObjectMeta{Name: fmt.Sprintf("%s-%02d", p.app.rs.Name, p.ordinal), Labels: p.app.rs.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{owner}}
	made, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	made.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, PodIP: "10.0.0.1", HostIP: "127.0.0.1",
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: true, Image: "registry.k8s.io/pause:3.10",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}}
	for _, t := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, corev1.PodScheduled} {
		condition := corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now}
		made.Status.Conditions = append(made.Status.Conditions, condition)
	}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}
