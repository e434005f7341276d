package observe

import (
	"maps"
	"reflect"
	"sync"
	"weak"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// internCache makes objects of one controller share equal parts in memory. Each object is
// decoded with its own copy of the template. Stored objects are read-only, so sharing is safe.
type internCache struct {
	pods ownerCache[corev1.Pod, *corev1.Pod]
	sets ownerCache[appsv1.ReplicaSet, *appsv1.ReplicaSet]
	resourceListPool
	imagePool
}

func newInternCache() *internCache {
	return &internCache{
		pods: ownerCache[corev1.Pod, *corev1.Pod]{byOwner: map[types.UID]*internEntry[corev1.Pod]{}, copyShared: sharePodFields},
		sets: ownerCache[appsv1.ReplicaSet, *appsv1.ReplicaSet]{byOwner: map[types.UID]*internEntry[appsv1.ReplicaSet]{},
			copyShared: shareReplicaSetFields},
	}
}

// internEntry holds two objects of a controller whose parts later objects share. The pointers
// are weak, so only the informer store decides how long an object lives. There are two, because
// one may be deleted.
type internEntry[T any] [2]weak.Pointer[T]

// ownerCache holds the intern entry of every controller.
type ownerCache[T any, P interface {
	*T
	metav1.Object
}] struct {
	mu         sync.Mutex
	byOwner    map[types.UID]*internEntry[T]
	sweepAt    int
	copyShared func(from, to P)
}

func (f *ownerCache[T, P]) intern(p P) {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil || c.UID == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removeDead()
	e := f.byOwner[c.UID]
	if e == nil {
		e = &internEntry[T]{}
		f.byOwner[c.UID] = e
	}
	free := -1
	for i := range e {
		switch entry := P(e[i].Value()); {
		case entry == p: // the object is already an entry
			return
		case entry == nil || entry.GetDeletionTimestamp() != nil || entry.GetUID() == p.GetUID():
			if entry != nil {
				f.copyShared(entry, p)
			}
			free = i
		default:
			f.copyShared(entry, p)
		}
	}
	if free >= 0 && p.GetDeletionTimestamp() == nil {
		e[free] = weak.Make((*T)(p))
	}
}

// removeDead removes controllers without live objects each time the number of controllers has
// doubled.
func (f *ownerCache[T, P]) removeDead() {
	if len(f.byOwner) < max(f.sweepAt, 1024) {
		return
	}
	maps.DeleteFunc(f.byOwner, func(_ types.UID, e *internEntry[T]) bool { return e[0].Value() == nil && e[1].Value() == nil })
	f.sweepAt = 2 * len(f.byOwner)
}

// shareEqual sets *to to from if both are equal.
func shareEqual[T any](from T, to *T) {
	if reflect.DeepEqual(from, *to) {
		*to = from
	}
}

// sameList reports whether both are the same list in memory.
func sameList[T any](a, b []T) bool {
	return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0]
}

// shareEqualString is shareEqual for strings.
func shareEqualString[T ~string](from T, to *T) {
	if from == *to {
		*to = from
	}
}

// sharePodFields skips what a podDecoder has shared: the metadata if the owner references are the same in memory, and
// the specification if its containers are.
func sharePodFields(from, to *corev1.Pod) {
	shareEqual(from.Annotations, &to.Annotations)
	if !sameList(from.OwnerReferences, to.OwnerReferences) {
		shareEqual(from.Labels, &to.Labels)
		shareEqual(from.OwnerReferences, &to.OwnerReferences)
		shareEqual(from.Finalizers, &to.Finalizers)
		shareEqualString(from.Namespace, &to.Namespace)
	}
	if !sameList(from.Spec.Containers, to.Spec.Containers) {
		sharePodSpecFields(&from.Spec, &to.Spec)
	}
	if sameList(from.Status.ContainerStatuses, to.Status.ContainerStatuses) {
		return
	}
	shareEqual(from.Status.ContainerStatuses, &to.Status.ContainerStatuses)
	shareEqual(from.Status.InitContainerStatuses, &to.Status.InitContainerStatuses)
	shareEqual(from.Status.Resources, &to.Status.Resources)
	shareEqual(from.Status.AllocatedResources, &to.Status.AllocatedResources)
	shareEqualString(from.Status.Phase, &to.Status.Phase)
	shareEqualString(from.Status.QOSClass, &to.Status.QOSClass)
}

func shareReplicaSetFields(from, to *appsv1.ReplicaSet) {
	shareEqual(from.OwnerReferences, &to.OwnerReferences)
	shareEqualString(from.Namespace, &to.Namespace)
	sharePodSpecFields(&from.Spec.Template.Spec, &to.Spec.Template.Spec)
}

// sharePodSpecFields shares the fields that pods get from their template.
func sharePodSpecFields(from, to *corev1.PodSpec) {
	shareEqual(from.Containers, &to.Containers)
	shareEqual(from.InitContainers, &to.InitContainers)
	shareEqual(from.Volumes, &to.Volumes)
	shareEqual(from.SecurityContext, &to.SecurityContext)
	shareEqual(from.Tolerations, &to.Tolerations)
	shareEqual(from.Affinity, &to.Affinity)
	shareEqual(from.TopologySpreadConstraints, &to.TopologySpreadConstraints)
	shareEqual(from.NodeSelector, &to.NodeSelector)
	shareEqual(from.ReadinessGates, &to.ReadinessGates)
	shareEqual(from.Overhead, &to.Overhead)
	shareEqual(from.Resources, &to.Resources)
	shareEqual(from.TerminationGracePeriodSeconds, &to.TerminationGracePeriodSeconds)
	shareEqual(from.ActiveDeadlineSeconds, &to.ActiveDeadlineSeconds)
	shareEqual(from.Priority, &to.Priority)
	shareEqual(from.PreemptionPolicy, &to.PreemptionPolicy)
	shareEqual(from.EnableServiceLinks, &to.EnableServiceLinks)
	shareEqual(from.AutomountServiceAccountToken, &to.AutomountServiceAccountToken)
	shareEqualString(from.PriorityClassName, &to.PriorityClassName)
	shareEqualString(from.SchedulerName, &to.SchedulerName)
	shareEqualString(from.ServiceAccountName, &to.ServiceAccountName)
	shareEqualString(from.DeprecatedServiceAccount, &to.DeprecatedServiceAccount)
	shareEqualString(from.RestartPolicy, &to.RestartPolicy)
	shareEqualString(from.DNSPolicy, &to.DNSPolicy)
}
