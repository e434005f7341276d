package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// seeder creates the objects of a snapshot in an empty cluster. The API server gives each object a new UID, so the
// seeder translates the UIDs of owners and claims.
type seeder struct {
	client kubernetes.Interface
	mu     sync.Mutex
	uids   map[types.UID]types.UID // by the UID in the snapshot
}

func newSeeder(client kubernetes.Interface) *seeder {
	return &seeder{client: client, uids: map[types.UID]types.UID{}}
}

// create creates the objects, and changes o. Owners precede the objects that they own. Quotas and LimitRanges follow
// the pods, so that they neither refuse nor change pods.
func (s *seeder) create(ctx context.Context, o *cluster.Objects) error {
	core, apps, storage := s.client.CoreV1(), s.client.AppsV1(), s.client.StorageV1()
	for _, n := range o.Namespaces { // pods need this ServiceAccount
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: "default"}}
		o.ServiceAccounts = append(o.ServiceAccounts, account)
	}
	for _, step := range []func() error{
		func() error { return createAll(ctx, s, o.Namespaces, unscoped(core.Namespaces())) },
		func() error { return createAll(ctx, s, o.Nodes, unscoped(core.Nodes())) },
		func() error {
			return createAll(ctx, s, o.PriorityClasses, unscoped(s.client.SchedulingV1().PriorityClasses()))
		},
		func() error { return createAll(ctx, s, o.RuntimeClasses, unscoped(s.client.NodeV1().RuntimeClasses())) },
		func() error { return createAll(ctx, s, o.StorageClasses, unscoped(storage.StorageClasses())) },
		func() error { return createAll(ctx, s, o.CSIDrivers, unscoped(storage.CSIDrivers())) },
		func() error { return createAll(ctx, s, o.CSINodes, unscoped(storage.CSINodes())) },
		func() error { return createAll(ctx, s, o.ServiceAccounts, scoped(core.ServiceAccounts)) },
		func() error { return createAll(ctx, s, o.PersistentVolumeClaims, scoped(core.PersistentVolumeClaims)) },
		func() error { return createAll(ctx, s, o.PersistentVolumes, unscoped(core.PersistentVolumes())) },
		func() error { return createAll(ctx, s, o.VolumeAttachments, unscoped(storage.VolumeAttachments())) },
		func() error { return createAll(ctx, s, o.Services, scoped(core.Services)) },
		func() error {
			return createAll(ctx, s, o.PodDisruptionBudgets, scoped(s.client.PolicyV1().PodDisruptionBudgets))
		},
		func() error { return createAll(ctx, s, o.Deployments, scoped(apps.Deployments)) },
		func() error { return createAll(ctx, s, o.ReplicaSets, scoped(apps.ReplicaSets)) },
		func() error { return createAll(ctx, s, o.ReplicationControllers, scoped(core.ReplicationControllers)) },
		func() error { return createAll(ctx, s, o.StatefulSets, scoped(apps.StatefulSets)) },
		func() error { return createAll(ctx, s, o.DaemonSets, scoped(apps.DaemonSets)) },
		func() error { return createAll(ctx, s, o.ControllerRevisions, scoped(apps.ControllerRevisions)) },
		func() error { return createAll(ctx, s, o.CronJobs, scoped(s.client.BatchV1().CronJobs)) },
		func() error { return createAll(ctx, s, o.Jobs, scoped(s.client.BatchV1().Jobs)) },
		func() error { return createAll(ctx, s, seedablePods(o), scoped(core.Pods)) },
		func() error { return createAll(ctx, s, o.ResourceQuotas, scoped(core.ResourceQuotas)) },
		func() error { return createAll(ctx, s, o.LimitRanges, scoped(core.LimitRanges)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type seedObject interface {
	metav1.Object
	runtime.Object
}

type creator[T any] interface {
	Create(ctx context.Context, x T, o metav1.CreateOptions) (T, error)
}

// statusUpdater is a creator of objects whose status the API server drops when it creates them.
type statusUpdater[T any] interface {
	UpdateStatus(ctx context.Context, x T, o metav1.UpdateOptions) (T, error)
}

// scoped and unscoped return the creator for a namespace.
func scoped[T any, C creator[T]](api func(namespace string) C) func(string) creator[T] {
	return func(namespace string) creator[T] { return api(namespace) }
}

func unscoped[T any](api creator[T]) func(string) creator[T] {
	return func(string) creator[T] { return api }
}

// createAll creates objects of one kind, several at a time. Objects that exist already remain as they are.
func createAll[T seedObject](ctx context.Context, s *seeder, objects []T, api func(namespace string) creator[T]) error {
	before := make([]types.UID, len(objects))
	for i, x := range objects { // in turn, because objects may share parts
		before[i] = x.GetUID()
		s.prepare(x)
	}
	return inParallel(ctx, len(objects), func(ctx context.Context, i int) error {
		x := objects[i]
		to := api(x.GetNamespace())
		made, err := to.Create(ctx, x, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", x, x.GetNamespace(), x.GetName(), err)
		}
		s.mu.Lock()
		s.uids[before[i]] = made.GetUID()
		s.mu.Unlock()
		if !copyStatus(x, made) {
			return nil
		}
		_, err = to.(statusUpdater[T]).UpdateStatus(ctx, made, metav1.UpdateOptions{})
		return err
	})
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

// prepare removes what a new object must not have, and adds what a snapshot lacks.
func (s *seeder) prepare(x seedObject) {
	x.SetUID("")
	x.SetResourceVersion("")
	x.SetManagedFields(nil)
	owners := x.GetOwnerReferences()
	for i, o := range owners {
		owners[i].UID = cmp.Or(s.uids[o.UID], o.UID)
	}
	x.SetOwnerReferences(owners)
	for _, spec := range cluster.PodSpecs(x) {
		prepareSpec(spec)
	}
	switch o := x.(type) {
	case *corev1.Node:
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, "kwok.x-k8s.io/node", "fake")
		if o.Status.Capacity == nil {
			o.Status.Capacity = o.Status.Allocatable
		}
	case *corev1.Service:
		if o.Spec.ClusterIP != corev1.ClusterIPNone { // the address may be outside the range of the lab
			o.Spec.ClusterIP, o.Spec.ClusterIPs = "", nil
		}
	case *corev1.PersistentVolume:
		if c := o.Spec.ClaimRef; c != nil {
			c.UID, c.ResourceVersion = s.uids[c.UID], ""
		}
	case *batchv1.Job:
		o.Spec.ManualSelector = new(true) // keep the selector of the snapshot
	case *batchv1.CronJob:
		o.Spec.Suspend = new(true)
	}
}

const pauseImage = "registry.k8s.io/pause:3.10"

// prepareSpec removes the fields that admission computes, and the settings that snapshots of a cluster omit.
func prepareSpec(s *corev1.PodSpec) {
	s.Priority, s.PreemptionPolicy, s.Overhead, s.EphemeralContainers = nil, nil, nil, nil
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			list[i].Env, list[i].Image = nil, cmp.Or(list[i].Image, pauseImage)
		}
	}
}

// copyStatus copies the status to the created object. It returns false if the kind needs no status.
func copyStatus(from, to any) bool {
	switch x := from.(type) {
	case *corev1.PersistentVolumeClaim:
		to.(*corev1.PersistentVolumeClaim).Status = x.Status
	case *corev1.PersistentVolume:
		to.(*corev1.PersistentVolume).Status = x.Status
	case *corev1.Pod:
		to.(*corev1.Pod).Status = completeStatus(x)
	default:
		return false
	}
	return true
}

// completeStatus returns the status of a pod. A Ready pod gets what a kubelet writes.
func completeStatus(p *corev1.Pod) corev1.PodStatus {
	s := *p.Status.DeepCopy()
	if !isReady(p) || len(s.ContainerStatuses) > 0 {
		return s
	}
	now := metav1.Now()
	s.PodIP, s.HostIP = cmp.Or(s.PodIP, "10.0.0.1"), cmp.Or(s.HostIP, "127.0.0.1")
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Ready: true, Image: c.Image,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	s.Conditions = nil
	for _, t := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, corev1.PodScheduled} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	return s
}
