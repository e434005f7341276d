package observe

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// kind is one kind of object that is watched.
type kind struct {
	group, resource string
	informer        func(informers.SharedInformerFactory, kubernetes.Interface, *staleness, cache.TransformFunc) cache.SharedIndexInformer
	add             func(*cluster.Objects, any)
}

type watchedKind struct {
	kind
	informer  cache.SharedIndexInformer
	staleness *staleness
}

// typedClient is the part of a typed client that an informer needs.
type typedClient[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// newKind describes a kind. The informer's watch error handler does not report every failure,
// and no success. Its requests are therefore tracked by staleness.
func newKind[T any, P interface {
	*T
	runtime.Object
}, L runtime.Object](group, resource string, client func(kubernetes.Interface) typedClient[L], into func(*cluster.Objects) *[]P) kind {
	informer := func(f informers.SharedInformerFactory, c kubernetes.Interface, cur *staleness,
		keep cache.TransformFunc) cache.SharedIndexInformer {
		lw := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return trackList(cur, opts, func() (L, error) {
					return listPage(opts, keep, func(o metav1.ListOptions) (L, error) { return client(c).List(ctx, o) })
				})
			},
			WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return trackWatch(cur, opts, func() (watch.Interface, error) { return client(c).Watch(ctx, opts) })
			},
		}
		return f.InformerFor(P(new(T)), func(c kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, c), P(new(T)),
				cache.SharedIndexInformerOptions{
					ResyncPeriod: resync, Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		})
	}
	add := func(o *cluster.Objects, x any) { list := into(o); *list = append(*list, x.(P)) }
	return kind{group, resource, informer, add}
}

// listPage lists one page and strips its objects. Lists are needed if the server does not
// stream the initial objects to a watch. Informers first ask for any version ("0"), which
// servers answer in full regardless of the limit. Decoding 100,000 pods takes 1.5 GB. listPage
// asks for the latest version instead, which servers send in pages.
func listPage[L runtime.Object](opts metav1.ListOptions, keep cache.TransformFunc, list func(metav1.ListOptions) (L, error)) (L, error) {
	if opts.ResourceVersion == "0" {
		opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
	}
	out, err := list(opts)
	if err != nil {
		return out, err
	}
	return out, meta.EachListItem(out, func(o runtime.Object) error {
		_, err := keep(o)
		return err
	})
}

// kinds lists everything that is watched. The chart grants get, list and watch on each.
var kinds = []kind{
	newKind("", "nodes", func(c kubernetes.Interface) typedClient[*corev1.NodeList] { return c.CoreV1().Nodes() },
		func(o *cluster.Objects) *[]*corev1.Node { return &o.Nodes }),
	newKind("", "pods", func(c kubernetes.Interface) typedClient[*corev1.PodList] { return c.CoreV1().Pods("") },
		func(o *cluster.Objects) *[]*corev1.Pod { return &o.Pods }),
	newKind("", "namespaces", func(c kubernetes.Interface) typedClient[*corev1.NamespaceList] { return c.CoreV1().Namespaces() },
		func(o *cluster.Objects) *[]*corev1.Namespace { return &o.Namespaces }),
	newKind("", "services", func(c kubernetes.Interface) typedClient[*corev1.ServiceList] { return c.CoreV1().Services("") },
		func(o *cluster.Objects) *[]*corev1.Service { return &o.Services }),
	newKind("", "replicationcontrollers", func(c kubernetes.Interface) typedClient[*corev1.ReplicationControllerList] {
		return c.CoreV1().ReplicationControllers("")
	},
		func(o *cluster.Objects) *[]*corev1.ReplicationController { return &o.ReplicationControllers }),
	newKind("", "persistentvolumeclaims", func(c kubernetes.Interface) typedClient[*corev1.PersistentVolumeClaimList] {
		return c.CoreV1().PersistentVolumeClaims("")
	},
		func(o *cluster.Objects) *[]*corev1.PersistentVolumeClaim { return &o.PersistentVolumeClaims }),
	newKind("policy", "poddisruptionbudgets", func(c kubernetes.Interface) typedClient[*policyv1.PodDisruptionBudgetList] {
		return c.PolicyV1().PodDisruptionBudgets("")
	},
		func(o *cluster.Objects) *[]*policyv1.PodDisruptionBudget { return &o.PodDisruptionBudgets }),
	newKind("apps", "replicasets", func(c kubernetes.Interface) typedClient[*appsv1.ReplicaSetList] { return c.AppsV1().ReplicaSets("") },
		func(o *cluster.Objects) *[]*appsv1.ReplicaSet { return &o.ReplicaSets }),
	newKind("apps", "deployments", func(c kubernetes.Interface) typedClient[*appsv1.DeploymentList] { return c.AppsV1().Deployments("") },
		func(o *cluster.Objects) *[]*appsv1.Deployment { return &o.Deployments }),
	newKind("apps", "statefulsets", func(c kubernetes.Interface) typedClient[*appsv1.StatefulSetList] { return c.AppsV1().StatefulSets("") },
		func(o *cluster.Objects) *[]*appsv1.StatefulSet { return &o.StatefulSets }),
	newKind("apps", "daemonsets", func(c kubernetes.Interface) typedClient[*appsv1.DaemonSetList] { return c.AppsV1().DaemonSets("") },
		func(o *cluster.Objects) *[]*appsv1.DaemonSet { return &o.DaemonSets }),
	newKind("batch", "jobs", func(c kubernetes.Interface) typedClient[*batchv1.JobList] { return c.BatchV1().Jobs("") },
		func(o *cluster.Objects) *[]*batchv1.Job { return &o.Jobs }),
	newKind("batch", "cronjobs", func(c kubernetes.Interface) typedClient[*batchv1.CronJobList] { return c.BatchV1().CronJobs("") },
		func(o *cluster.Objects) *[]*batchv1.CronJob { return &o.CronJobs }),
	newKind("scheduling.k8s.io", "priorityclasses", func(c kubernetes.Interface) typedClient[*schedulingv1.PriorityClassList] {
		return c.SchedulingV1().PriorityClasses()
	},
		func(o *cluster.Objects) *[]*schedulingv1.PriorityClass { return &o.PriorityClasses }),
	newKind("", "persistentvolumes", func(c kubernetes.Interface) typedClient[*corev1.PersistentVolumeList] {
		return c.CoreV1().PersistentVolumes()
	},
		func(o *cluster.Objects) *[]*corev1.PersistentVolume { return &o.PersistentVolumes }),
	newKind("storage.k8s.io", "storageclasses", func(c kubernetes.Interface) typedClient[*storagev1.StorageClassList] {
		return c.StorageV1().StorageClasses()
	},
		func(o *cluster.Objects) *[]*storagev1.StorageClass { return &o.StorageClasses }),
	newKind("storage.k8s.io", "csinodes", func(c kubernetes.Interface) typedClient[*storagev1.CSINodeList] { return c.StorageV1().CSINodes() },
		func(o *cluster.Objects) *[]*storagev1.CSINode { return &o.CSINodes }),
	newKind("storage.k8s.io", "csidrivers", func(c kubernetes.Interface) typedClient[*storagev1.CSIDriverList] { return c.StorageV1().CSIDrivers() },
		func(o *cluster.Objects) *[]*storagev1.CSIDriver { return &o.CSIDrivers }),
	newKind("storage.k8s.io", "volumeattachments", func(c kubernetes.Interface) typedClient[*storagev1.VolumeAttachmentList] {
		return c.StorageV1().VolumeAttachments()
	},
		func(o *cluster.Objects) *[]*storagev1.VolumeAttachment { return &o.VolumeAttachments }),
	newKind("storage.k8s.io", "csistoragecapacities", func(c kubernetes.Interface) typedClient[*storagev1.CSIStorageCapacityList] {
		return c.StorageV1().CSIStorageCapacities("")
	},
		func(o *cluster.Objects) *[]*storagev1.CSIStorageCapacity { return &o.CSIStorageCapacities }),
}

// Resource is a watched kind, by API group and resource name.
type Resource struct{ Group, Resource string }

// Resources lists the resources that the account must be allowed to get, list and watch.
func Resources() []Resource {
	out := make([]Resource, len(kinds))
	for i, k := range kinds {
		out[i] = Resource{k.group, k.resource}
	}
	return out
}
