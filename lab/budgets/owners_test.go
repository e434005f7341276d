package budgets

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const noUID = "00000000-0000-0000-0000-000000000000"

// controllerRef returns a controller reference.
func controllerRef(apiVersion, kind, name string, uid types.UID) *metav1.OwnerReference {
	yes := true
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: &yes}
}

// create creates an owner and the owner's own controllers, and returns the reference for its pods.
func (o ownerPlan) create(ctx context.Context, ns string) (*metav1.OwnerReference, error) {
	switch o.kind {
	case deployment, rollingOut:
		d, err := o.createDeployment(ctx, ns)
		if err != nil {
			return nil, err
		}
		above := controllerRef("apps/v1", "Deployment", d.Name, d.UID)
		if o.kind == rollingOut {
			if _, err := o.createReplicaSet(ctx, ns, o.name+"-old", 2, above); err != nil {
				return nil, err
			}
			// The replicas of the pods' own ReplicaSet differ from the Deployment's.
			return o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas+1, above)
		}
		return o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, above)
	case directDeployment:
		d, err := o.createDeployment(ctx, ns)
		if err != nil {
			return nil, err
		}
		return controllerRef("apps/v1", "Deployment", d.Name, d.UID), nil
	case replicaSet:
		return o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, nil)
	case ofExtensions:
		r, err := o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, nil)
		if err == nil {
			r.APIVersion = "extensions/v1beta1"
		}
		return r, err
	case foreignReplicaSet:
		return o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, controllerRef("argoproj.io/v1alpha1", "Rollout", o.name, noUID))
	case orphanReplicaSet:
		return o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, controllerRef("apps/v1", "Deployment", o.name, noUID))
	case missing:
		return controllerRef("apps/v1", "ReplicaSet", o.name+"-rs", noUID), nil
	case otherUID:
		r, err := o.createReplicaSet(ctx, ns, o.name+"-rs", o.replicas, nil)
		if err == nil {
			r.UID = noUID
		}
		return r, err
	case unserved:
		return controllerRef("nobody.example.org/v1", "Thing", o.name, noUID), nil
	}
	return o.createNonReplicaSet(ctx, ns)
}

func (o ownerPlan) createNonReplicaSet(ctx context.Context, ns string) (*metav1.OwnerReference, error) {
	meta, template := metav1.ObjectMeta{Name: o.name}, o.template()
	switch o.kind {
	case statefulSet:
		s, err := client.AppsV1().StatefulSets(ns).Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Replicas: &o.replicas, Selector: o.selector(), Template: template}}, metav1.CreateOptions{})
		return controllerRef("apps/v1", "StatefulSet", o.name, s.GetUID()), err
	case daemonSet:
		d, err := client.AppsV1().DaemonSets(ns).Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta,
			Spec: appsv1.DaemonSetSpec{Selector: o.selector(), Template: template}}, metav1.CreateOptions{})
		return controllerRef("apps/v1", "DaemonSet", o.name, d.GetUID()), err
	case replicationControl:
		r, err := client.CoreV1().ReplicationControllers(ns).Create(ctx, &corev1.ReplicationController{ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Replicas: &o.replicas, Selector: o.selector().MatchLabels,
				Template: &template}}, metav1.CreateOptions{})
		return controllerRef("v1", "ReplicationController", o.name, r.GetUID()), err
	case job:
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
		template.Labels = nil
		j, err := client.BatchV1().Jobs(ns).Create(ctx, &batchv1.Job{ObjectMeta: meta,
			Spec: batchv1.JobSpec{Parallelism: &o.replicas, Template: template}}, metav1.CreateOptions{})
		return controllerRef("batch/v1", "Job", o.name, j.GetUID()), err
	case scalable:
		return o.createCustomOwner(ctx, ns, widgets, "Widget")
	case unscalable:
		return o.createCustomOwner(ctx, ns, gadgets, "Gadget")
	}
	return nil, fmt.Errorf("unknown kind of owner: %s", o.kind)
}

func (o ownerPlan) createCustomOwner(ctx context.Context, ns string, r schema.GroupVersionResource,
	kind string) (*metav1.OwnerReference, error) {
	x, err := objects.Resource(r).Namespace(ns).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": o.name},
		"spec": map[string]any{"replicas": int64(o.replicas)}}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return controllerRef(x.GetAPIVersion(), kind, o.name, x.GetUID()), nil
}

func (o ownerPlan) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"owner": o.name}}
}

func (o ownerPlan) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: o.selector().MatchLabels}, Spec: podSpec()}
}

func (o ownerPlan) createDeployment(ctx context.Context, ns string) (*appsv1.Deployment, error) {
	return client.AppsV1().Deployments(ns).Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: o.name},
		Spec: appsv1.DeploymentSpec{Replicas: &o.replicas, Selector: o.selector(), Template: o.template()}}, metav1.CreateOptions{})
}

func (o ownerPlan) createReplicaSet(ctx context.Context, ns, name string, replicas int32,
	above *metav1.OwnerReference) (*metav1.OwnerReference, error) {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: o.selector(), Template: o.template()}}
	if above != nil {
		rs.OwnerReferences = []metav1.OwnerReference{*above}
	}
	rs, err := client.AppsV1().ReplicaSets(ns).Create(ctx, rs, metav1.CreateOptions{})
	return controllerRef("apps/v1", "ReplicaSet", name, rs.GetUID()), err
}

// rescale changes the replicas of all owners to their later value.
func (c *testCase) rescale(ctx context.Context) error {
	for _, o := range c.owners {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, o.later)
		var err error
		switch o.kind {
		case deployment, rollingOut, directDeployment:
			_, err = client.AppsV1().Deployments(c.namespace).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{})
		case replicaSet, ofExtensions, foreignReplicaSet, orphanReplicaSet:
			_, err = client.AppsV1().ReplicaSets(c.namespace).Patch(ctx, o.name+"-rs", types.MergePatchType, patch, metav1.PatchOptions{})
		case statefulSet:
			_, err = client.AppsV1().StatefulSets(c.namespace).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{})
		case replicationControl:
			_, err = client.CoreV1().ReplicationControllers(c.namespace).Patch(ctx, o.name, types.MergePatchType, patch,
				metav1.PatchOptions{})
		case scalable:
			_, err = objects.Resource(widgets).Namespace(c.namespace).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil {
			return fmt.Errorf("scaling %s %s: %w", o.kind, o.name, err)
		}
	}
	return nil
}

func podSpec() corev1.PodSpec {
	no := false
	return corev1.PodSpec{TerminationGracePeriodSeconds: &gracePeriodSeconds, AutomountServiceAccountToken: &no,
		Containers: []corev1.Container{{Name: "app", Image: "registry.k8s.io/pause:3.10"}}}
}
