package observe

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
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

// kind describes how objects of one kind are watched.
type kind struct {
	name     string // such as "v1 Pod"
	resource string
	// optional is true if a pass runs without the objects; what reads them is then off, and the snapshot says why.
	optional bool
	informer func(informers.SharedInformerFactory, client, *staleness, cache.TransformFunc) cache.SharedIndexInformer
}

type client = kubernetes.Interface

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

// newKind describes a kind. Its informer reports all requests to staleness, because the watch
// error handler of an informer reports only some failures and no successes.
func newKind[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}, L runtime.Object](resource string, typed func(client) typedClient[L]) kind {
	return kind{name: cluster.KindOf[P](), resource: resource, informer: func(f informers.SharedInformerFactory, c client, st *staleness, strip cache.TransformFunc) cache.SharedIndexInformer {
		source, semantics := typed(c), any(c)
		if l, ok := any(source).(podLister); ok {
			semantics = l
		}
		lw := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return trackList(st, opts, func(opts metav1.ListOptions) (L, error) {
					return listPage(opts, strip, func(o metav1.ListOptions) (L, error) { return source.List(ctx, o) })
				})
			},
			WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return trackWatch(st, opts, func(opts metav1.ListOptions) (watch.Interface, error) {
					return source.Watch(ctx, opts)
				})
			},
		}
		return f.InformerFor(P(new(T)), func(c client, resync time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(lw, semantics), P(new(T)),
				cache.SharedIndexInformerOptions{
					ResyncPeriod: resync, Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
		})
	}}
}

// asOptional makes the kind optional.
func (k kind) asOptional() kind {
	k.optional = true
	return k
}

// listPage lists one page and strips its objects. Informers list pods, and other objects if the API server does not
// stream them to a watch. They first request any version ("0"), which the API server answers without paging. listPage
// requests the latest version, which the API server also sends in pages.
func listPage[L runtime.Object](opts metav1.ListOptions, strip cache.TransformFunc, list func(metav1.ListOptions) (L, error)) (L, error) {
	if opts.ResourceVersion == "0" {
		opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
	}
	out, err := list(opts)
	if err != nil {
		return out, err
	}
	return out, meta.EachListItem(out, func(o runtime.Object) error {
		_, err := strip(o)
		return err
	})
}

// requiredKinds are the kinds without which no pass runs.
var requiredKinds = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.optional })

// kinds lists the kinds that an Observer watches. The chart grants get, list and watch on each.
var kinds = []kind{
	newKind[corev1.Node]("nodes", func(c client) typedClient[*corev1.NodeList] { return c.CoreV1().Nodes() }),
	newKind[corev1.Pod]("pods", podsOf),
	newKind[corev1.Namespace]("namespaces",
		func(c client) typedClient[*corev1.NamespaceList] { return c.CoreV1().Namespaces() }),
	newKind[corev1.Service]("services",
		func(c client) typedClient[*corev1.ServiceList] { return c.CoreV1().Services("") }),
	newKind[corev1.ReplicationController]("replicationcontrollers",
		func(c client) typedClient[*corev1.ReplicationControllerList] {
			return c.CoreV1().ReplicationControllers("")
		}),
	newKind[corev1.PersistentVolumeClaim]("persistentvolumeclaims",
		func(c client) typedClient[*corev1.PersistentVolumeClaimList] {
			return c.CoreV1().PersistentVolumeClaims("")
		}),
	newKind[corev1.ResourceQuota]("resourcequotas",
		func(c client) typedClient[*corev1.ResourceQuotaList] { return c.CoreV1().ResourceQuotas("") }),
	newKind[policyv1.PodDisruptionBudget]("poddisruptionbudgets",
		func(c client) typedClient[*policyv1.PodDisruptionBudgetList] {
			return c.PolicyV1().PodDisruptionBudgets("")
		}),
	newKind[appsv1.ReplicaSet]("replicasets",
		func(c client) typedClient[*appsv1.ReplicaSetList] { return c.AppsV1().ReplicaSets("") }),
	newKind[appsv1.Deployment]("deployments",
		func(c client) typedClient[*appsv1.DeploymentList] { return c.AppsV1().Deployments("") }),
	newKind[appsv1.StatefulSet]("statefulsets",
		func(c client) typedClient[*appsv1.StatefulSetList] { return c.AppsV1().StatefulSets("") }),
	newKind[appsv1.DaemonSet]("daemonsets",
		func(c client) typedClient[*appsv1.DaemonSetList] { return c.AppsV1().DaemonSets("") }),
	newKind[batchv1.Job]("jobs", func(c client) typedClient[*batchv1.JobList] { return c.BatchV1().Jobs("") }),
	newKind[batchv1.CronJob]("cronjobs",
		func(c client) typedClient[*batchv1.CronJobList] { return c.BatchV1().CronJobs("") }),
	newKind[schedulingv1.PriorityClass]("priorityclasses",
		func(c client) typedClient[*schedulingv1.PriorityClassList] { return c.SchedulingV1().PriorityClasses() }),
	newKind[corev1.PersistentVolume]("persistentvolumes",
		func(c client) typedClient[*corev1.PersistentVolumeList] { return c.CoreV1().PersistentVolumes() }),
	newKind[storagev1.StorageClass]("storageclasses",
		func(c client) typedClient[*storagev1.StorageClassList] { return c.StorageV1().StorageClasses() }),
	newKind[storagev1.CSINode]("csinodes",
		func(c client) typedClient[*storagev1.CSINodeList] { return c.StorageV1().CSINodes() }),
	newKind[storagev1.CSIDriver]("csidrivers",
		func(c client) typedClient[*storagev1.CSIDriverList] { return c.StorageV1().CSIDrivers() }),
	newKind[storagev1.VolumeAttachment]("volumeattachments",
		func(c client) typedClient[*storagev1.VolumeAttachmentList] { return c.StorageV1().VolumeAttachments() }),
	newKind[storagev1.CSIStorageCapacity]("csistoragecapacities",
		func(c client) typedClient[*storagev1.CSIStorageCapacityList] {
			return c.StorageV1().CSIStorageCapacities("")
		}),
	newKind[corev1.LimitRange]("limitranges",
		func(c client) typedClient[*corev1.LimitRangeList] { return c.CoreV1().LimitRanges("") }).asOptional(),
	newKind[corev1.ServiceAccount]("serviceaccounts",
		func(c client) typedClient[*corev1.ServiceAccountList] { return c.CoreV1().ServiceAccounts("") }).asOptional(),
	newKind[nodev1.RuntimeClass]("runtimeclasses",
		func(c client) typedClient[*nodev1.RuntimeClassList] { return c.NodeV1().RuntimeClasses() }).asOptional(),
}
