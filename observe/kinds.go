package observe

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// kind is one kind that is watched.
type kind struct {
	group, resource string
	informer        func(informers.SharedInformerFactory) cache.SharedIndexInformer
	add             func(*cluster.Objects, any)
}

type watched struct {
	kind
	informer cache.SharedIndexInformer
}

// kinds are all that is watched; the chart grants get, list and watch on each.
var kinds = []kind{
	{"", "nodes", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().Nodes().Informer()
	},
		func(o *cluster.Objects, x any) { o.Nodes = append(o.Nodes, x.(*corev1.Node)) }},
	{"", "pods", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().Pods().Informer()
	},
		func(o *cluster.Objects, x any) { o.Pods = append(o.Pods, x.(*corev1.Pod)) }},
	{"", "namespaces", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().Namespaces().Informer()
	},
		func(o *cluster.Objects, x any) { o.Namespaces = append(o.Namespaces, x.(*corev1.Namespace)) }},
	{"", "services", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().Services().Informer()
	},
		func(o *cluster.Objects, x any) { o.Services = append(o.Services, x.(*corev1.Service)) }},
	{"", "replicationcontrollers", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().ReplicationControllers().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.ReplicationControllers = append(o.ReplicationControllers, x.(*corev1.ReplicationController))
		}},
	{"", "persistentvolumeclaims", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().PersistentVolumeClaims().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, x.(*corev1.PersistentVolumeClaim))
		}},
	{"policy", "poddisruptionbudgets", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Policy().V1().PodDisruptionBudgets().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.PodDisruptionBudgets = append(o.PodDisruptionBudgets, x.(*policyv1.PodDisruptionBudget))
		}},
	{"apps", "replicasets", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Apps().V1().ReplicaSets().Informer()
	},
		func(o *cluster.Objects, x any) { o.ReplicaSets = append(o.ReplicaSets, x.(*appsv1.ReplicaSet)) }},
	{"apps", "deployments", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Apps().V1().Deployments().Informer()
	},
		func(o *cluster.Objects, x any) { o.Deployments = append(o.Deployments, x.(*appsv1.Deployment)) }},
	{"apps", "statefulsets", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Apps().V1().StatefulSets().Informer()
	},
		func(o *cluster.Objects, x any) { o.StatefulSets = append(o.StatefulSets, x.(*appsv1.StatefulSet)) }},
	{"apps", "daemonsets", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Apps().V1().DaemonSets().Informer()
	},
		func(o *cluster.Objects, x any) { o.DaemonSets = append(o.DaemonSets, x.(*appsv1.DaemonSet)) }},
	{"batch", "jobs", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Batch().V1().Jobs().Informer()
	},
		func(o *cluster.Objects, x any) { o.Jobs = append(o.Jobs, x.(*batchv1.Job)) }},
	{"batch", "cronjobs", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Batch().V1().CronJobs().Informer()
	},
		func(o *cluster.Objects, x any) { o.CronJobs = append(o.CronJobs, x.(*batchv1.CronJob)) }},
	{"scheduling.k8s.io", "priorityclasses", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Scheduling().V1().PriorityClasses().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.PriorityClasses = append(o.PriorityClasses, x.(*schedulingv1.PriorityClass))
		}},
	{"", "persistentvolumes", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().PersistentVolumes().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.PersistentVolumes = append(o.PersistentVolumes, x.(*corev1.PersistentVolume))
		}},
	{"storage.k8s.io", "storageclasses", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Storage().V1().StorageClasses().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.StorageClasses = append(o.StorageClasses, x.(*storagev1.StorageClass))
		}},
	{"storage.k8s.io", "csinodes", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Storage().V1().CSINodes().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.CSINodes = append(o.CSINodes, x.(*storagev1.CSINode))
		}},
	{"storage.k8s.io", "csidrivers", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Storage().V1().CSIDrivers().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.CSIDrivers = append(o.CSIDrivers, x.(*storagev1.CSIDriver))
		}},
	{"storage.k8s.io", "volumeattachments", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Storage().V1().VolumeAttachments().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.VolumeAttachments = append(o.VolumeAttachments, x.(*storagev1.VolumeAttachment))
		}},
	{"storage.k8s.io", "csistoragecapacities", func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Storage().V1().CSIStorageCapacities().Informer()
	},
		func(o *cluster.Objects, x any) {
			o.CSIStorageCapacities = append(o.CSIStorageCapacities, x.(*storagev1.CSIStorageCapacity))
		}},
}

// Resource is a kind of object that is read, by API group and resource name.
type Resource struct{ Group, Resource string }

// Resources lists what the account must be allowed to get, list and watch.
func Resources() []Resource {
	out := make([]Resource, len(kinds))
	for i, k := range kinds {
		out[i] = Resource{k.group, k.resource}
	}
	return out
}
