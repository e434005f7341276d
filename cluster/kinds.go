package cluster

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// kindDef reads and writes the objects of one kind.
type kindDef struct {
	apiVersion, kind string
	decode           func(o *Objects, raw []byte) error
	count            func(o *Objects) int
	forEach          func(o *Objects, f func(object) error) error
	add              func(o *Objects, x object)
}

// kinds lists every kind that a snapshot holds, in the order in which they are written.
var kinds = []kindDef{
	newKindDef[corev1.Namespace]("v1", "Namespace", func(o *Objects) *[]*corev1.Namespace { return &o.Namespaces }),
	newKindDef[corev1.Node]("v1", "Node", func(o *Objects) *[]*corev1.Node { return &o.Nodes }),
	newKindDef[schedulingv1.PriorityClass]("scheduling.k8s.io/v1", "PriorityClass",
		func(o *Objects) *[]*schedulingv1.PriorityClass { return &o.PriorityClasses }),
	newKindDef[appsv1.Deployment]("apps/v1", "Deployment", func(o *Objects) *[]*appsv1.Deployment { return &o.Deployments }),
	newKindDef[appsv1.ReplicaSet]("apps/v1", "ReplicaSet", func(o *Objects) *[]*appsv1.ReplicaSet { return &o.ReplicaSets }),
	newKindDef[corev1.ReplicationController]("v1", "ReplicationController",
		func(o *Objects) *[]*corev1.ReplicationController { return &o.ReplicationControllers }),
	newKindDef[appsv1.StatefulSet]("apps/v1", "StatefulSet", func(o *Objects) *[]*appsv1.StatefulSet { return &o.StatefulSets }),
	newKindDef[appsv1.ControllerRevision]("apps/v1", "ControllerRevision",
		func(o *Objects) *[]*appsv1.ControllerRevision { return &o.ControllerRevisions }),
	newKindDef[appsv1.DaemonSet]("apps/v1", "DaemonSet", func(o *Objects) *[]*appsv1.DaemonSet { return &o.DaemonSets }),
	newKindDef[batchv1.Job]("batch/v1", "Job", func(o *Objects) *[]*batchv1.Job { return &o.Jobs }),
	newKindDef[batchv1.CronJob]("batch/v1", "CronJob", func(o *Objects) *[]*batchv1.CronJob { return &o.CronJobs }),
	newKindDef[corev1.Service]("v1", "Service", func(o *Objects) *[]*corev1.Service { return &o.Services }),
	newKindDef[policyv1.PodDisruptionBudget]("policy/v1", "PodDisruptionBudget",
		func(o *Objects) *[]*policyv1.PodDisruptionBudget { return &o.PodDisruptionBudgets }),
	newKindDef[corev1.PersistentVolumeClaim]("v1", "PersistentVolumeClaim",
		func(o *Objects) *[]*corev1.PersistentVolumeClaim { return &o.PersistentVolumeClaims }),
	newKindDef[corev1.PersistentVolume]("v1", "PersistentVolume",
		func(o *Objects) *[]*corev1.PersistentVolume { return &o.PersistentVolumes }),
	newKindDef[storagev1.StorageClass]("storage.k8s.io/v1", "StorageClass",
		func(o *Objects) *[]*storagev1.StorageClass { return &o.StorageClasses }),
	newKindDef[storagev1.CSINode]("storage.k8s.io/v1", "CSINode", func(o *Objects) *[]*storagev1.CSINode { return &o.CSINodes }),
	newKindDef[storagev1.CSIDriver]("storage.k8s.io/v1", "CSIDriver", func(o *Objects) *[]*storagev1.CSIDriver { return &o.CSIDrivers }),
	newKindDef[storagev1.VolumeAttachment]("storage.k8s.io/v1", "VolumeAttachment",
		func(o *Objects) *[]*storagev1.VolumeAttachment { return &o.VolumeAttachments }),
	newKindDef[storagev1.CSIStorageCapacity]("storage.k8s.io/v1", "CSIStorageCapacity",
		func(o *Objects) *[]*storagev1.CSIStorageCapacity { return &o.CSIStorageCapacities }),
	newKindDef[metricsv1beta1.NodeMetrics]("metrics.k8s.io/v1beta1", "NodeMetrics",
		func(o *Objects) *[]*metricsv1beta1.NodeMetrics { return &o.NodeMetrics }),
	newKindDef[corev1.Pod]("v1", "Pod", func(o *Objects) *[]*corev1.Pod { return &o.Pods }),
}

// newKindDef defines how objects of a kind are decoded into, and iterated from, their list in
// Objects.
func newKindDef[T any, P interface {
	*T
	object
}](apiVersion, kind string, list func(*Objects) *[]P) kindDef {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	return kindDef{apiVersion, kind,
		func(o *Objects, raw []byte) error {
			p := P(new(T))
			if err := json.Unmarshal(raw, p); err != nil {
				return plainDecodeError(raw, err)
			}
			if err := validateObject(kind, p); err != nil {
				return err
			}
			into := list(o)
			*into = append(*into, p)
			return nil
		},
		func(o *Objects) int { return len(*list(o)) },
		func(o *Objects, f func(object) error) error {
			for _, p := range sorted(*list(o)) {
				shallow := *p // informers drop apiVersion and kind; the object itself is shared
				c := P(&shallow)
				c.GetObjectKind().SetGroupVersionKind(gvk)
				if err := f(c); err != nil {
					return err
				}
			}
			return nil
		},
		func(o *Objects, x object) {
			into := list(o)
			*into = append(*into, x.(P))
		}}
}

// kindByName maps "apiVersion kind" to the definition of the kind.
var kindByName = func() map[string]kindDef {
	m := make(map[string]kindDef, len(kinds))
	for _, k := range kinds {
		m[k.apiVersion+" "+k.kind] = k
	}
	return m
}()
