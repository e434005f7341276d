package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// kindDef reads and writes the objects of one kind.
type kindDef struct {
	name   string // apiVersion and kind, such as "apps/v1 Deployment"
	goType reflect.Type
	decode func(o *Objects, raw []byte) error
	// all iterates over shallow copies with apiVersion and kind, ordered by namespace and name.
	all func(o *Objects) iter.Seq[object]
	add func(o *Objects, x object)
	has func(o *Objects) bool
}

// kinds lists every kind that a snapshot can hold, in the order in which Write writes them.
var kinds = []kindDef{
	newKindDef("v1", func(o *Objects) *[]*corev1.Namespace { return &o.Namespaces }),
	newKindDef("v1", func(o *Objects) *[]*corev1.Node { return &o.Nodes }),
	newKindDef("scheduling.k8s.io/v1", func(o *Objects) *[]*schedulingv1.PriorityClass { return &o.PriorityClasses }),
	newKindDef("node.k8s.io/v1", func(o *Objects) *[]*nodev1.RuntimeClass { return &o.RuntimeClasses }),
	newKindDef("v1", func(o *Objects) *[]*corev1.ServiceAccount { return &o.ServiceAccounts }),
	newKindDef("apps/v1", func(o *Objects) *[]*appsv1.Deployment { return &o.Deployments }),
	newKindDef("apps/v1", func(o *Objects) *[]*appsv1.ReplicaSet { return &o.ReplicaSets }),
	newKindDef("v1", func(o *Objects) *[]*corev1.ReplicationController { return &o.ReplicationControllers }),
	newKindDef("apps/v1", func(o *Objects) *[]*appsv1.StatefulSet { return &o.StatefulSets }),
	newKindDef("apps/v1", func(o *Objects) *[]*appsv1.ControllerRevision { return &o.ControllerRevisions }),
	newKindDef("apps/v1", func(o *Objects) *[]*appsv1.DaemonSet { return &o.DaemonSets }),
	newKindDef("batch/v1", func(o *Objects) *[]*batchv1.Job { return &o.Jobs }),
	newKindDef("batch/v1", func(o *Objects) *[]*batchv1.CronJob { return &o.CronJobs }),
	newKindDef("v1", func(o *Objects) *[]*corev1.Service { return &o.Services }),
	newKindDef("policy/v1", func(o *Objects) *[]*policyv1.PodDisruptionBudget { return &o.PodDisruptionBudgets }),
	newKindDef("v1", func(o *Objects) *[]*corev1.ResourceQuota { return &o.ResourceQuotas }),
	newKindDef("v1", func(o *Objects) *[]*corev1.LimitRange { return &o.LimitRanges }),
	newKindDef("v1", func(o *Objects) *[]*corev1.PersistentVolumeClaim { return &o.PersistentVolumeClaims }),
	newKindDef("v1", func(o *Objects) *[]*corev1.PersistentVolume { return &o.PersistentVolumes }),
	newKindDef("storage.k8s.io/v1", func(o *Objects) *[]*storagev1.StorageClass { return &o.StorageClasses }),
	newKindDef("storage.k8s.io/v1", func(o *Objects) *[]*storagev1.CSINode { return &o.CSINodes }),
	newKindDef("storage.k8s.io/v1", func(o *Objects) *[]*storagev1.CSIDriver { return &o.CSIDrivers }),
	newKindDef("storage.k8s.io/v1", func(o *Objects) *[]*storagev1.VolumeAttachment { return &o.VolumeAttachments }),
	newKindDef("storage.k8s.io/v1", func(o *Objects) *[]*storagev1.CSIStorageCapacity { return &o.CSIStorageCapacities }),
	newKindDef("v1", func(o *Objects) *[]*corev1.Event { return &o.Events }),
	newKindDef("metrics.k8s.io/v1beta1", func(o *Objects) *[]*metricsv1beta1.NodeMetrics { return &o.NodeMetrics }),
	newKindDef("metrics.k8s.io/v1beta1", func(o *Objects) *[]*metricsv1beta1.PodMetrics { return &o.PodMetrics }),
	newKindDef("v1", func(o *Objects) *[]*corev1.Pod { return &o.Pods }),
}

// newKindDef describes the kind that has the name of the Go type T and the given list in Objects.
func newKindDef[T any, P interface {
	*T
	object
}](apiVersion string, list func(*Objects) *[]P) kindDef {
	goType := reflect.TypeFor[T]()
	gvk := schema.FromAPIVersionAndKind(apiVersion, goType.Name())
	add := func(o *Objects, x object) {
		into := list(o)
		*into = append(*into, x.(P))
	}
	decode := func(o *Objects, raw []byte) error {
		p := P(new(T))
		if err := json.Unmarshal(raw, p); err != nil {
			return plainDecodeError(raw, err)
		}
		if err := validateObject(gvk.Kind, p); err != nil {
			return err
		}
		add(o, p)
		return nil
	}
	all := func(o *Objects) iter.Seq[object] {
		return func(yield func(object) bool) {
			for _, p := range sortedByName(*list(o)) {
				shallow := *p // informers drop apiVersion and kind; the object itself is shared
				c := P(&shallow)
				c.GetObjectKind().SetGroupVersionKind(gvk)
				if !yield(c) {
					return
				}
			}
		}
	}
	has := func(o *Objects) bool { return len(*list(o)) > 0 }
	return kindDef{apiVersion + " " + gvk.Kind, reflect.PointerTo(goType), decode, all, add, has}
}

// Add adds an object to the list of its kind. Add panics if no snapshot holds objects of that kind.
func (o *Objects) Add(x any) {
	k, ok := kindByType[reflect.TypeOf(x)]
	if !ok {
		panic(fmt.Sprintf("no snapshot holds a %T", x))
	}
	k.add(o, x.(object))
}

// KindOf returns the API version and kind of objects of this type, such as "apps/v1 Deployment".
func KindOf[P object]() string { return kindByType[reflect.TypeFor[P]()].name }

var (
	kindByName = map[string]kindDef{}
	kindByType = map[reflect.Type]kindDef{}
)

func init() {
	for _, k := range kinds {
		kindByName[k.name], kindByType[k.goType] = k, k
	}
}

// sortedByName returns a copy ordered by namespace, name and UID. It extracts the names first: with
// 150,000 objects, calling the getters in every comparison takes three times as long.
func sortedByName[T metav1.Object](objects []T) []T {
	type keyed struct {
		namespace, name string
		object          T
	}
	keys := make([]keyed, len(objects))
	for i, o := range objects {
		keys[i] = keyed{o.GetNamespace(), o.GetName(), o}
	}
	slices.SortFunc(keys, func(a, b keyed) int {
		if c := cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name)); c != 0 {
			return c
		}
		return strings.Compare(string(a.object.GetUID()), string(b.object.GetUID()))
	})
	out := make([]T, len(keys))
	for i := range keys {
		out[i] = keys[i].object
	}
	return out
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
