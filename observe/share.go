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

// siblings let objects of one controller share what is equal in them: they are
// decoded one by one, each with its own copy of the template. Objects that are
// stored are read-only, so that nobody sees the difference.
type siblings struct {
	pods family[corev1.Pod, *corev1.Pod]
	sets family[appsv1.ReplicaSet, *appsv1.ReplicaSet]
	amounts
	images
}

func newSiblings() *siblings {
	return &siblings{
		pods: family[corev1.Pod, *corev1.Pod]{of: map[types.UID]*elders[corev1.Pod]{}, join: sharePod},
		sets: family[appsv1.ReplicaSet, *appsv1.ReplicaSet]{of: map[types.UID]*elders[appsv1.ReplicaSet]{}, join: shareSet},
	}
}

// elders are those that others share with. They are held weakly: the store alone
// decides how long an object lives. Two, for one of them may be deleted.
type elders[T any] [2]weak.Pointer[T]

// family is the elders of every controller.
type family[T any, P interface {
	*T
	metav1.Object
}] struct {
	mu      sync.Mutex
	of      map[types.UID]*elders[T]
	sweepAt int
	join    func(from, to P)
}

func (f *family[T, P]) share(p P) {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil || c.UID == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sweep()
	e := f.of[c.UID]
	if e == nil {
		e = &elders[T]{}
		f.of[c.UID] = e
	}
	free := -1
	for i := range e {
		switch elder := P(e[i].Value()); {
		case elder == p: // seen again
			return
		case elder == nil || elder.GetDeletionTimestamp() != nil || elder.GetUID() == p.GetUID():
			if elder != nil {
				f.join(elder, p)
			}
			free = i
		default:
			f.join(elder, p)
		}
	}
	if free >= 0 && p.GetDeletionTimestamp() == nil {
		e[free] = weak.Make((*T)(p))
	}
}

// sweep forgets controllers of which nothing is left, whenever as many again
// have come.
func (f *family[T, P]) sweep() {
	if len(f.of) < max(f.sweepAt, 1024) {
		return
	}
	maps.DeleteFunc(f.of, func(_ types.UID, e *elders[T]) bool { return e[0].Value() == nil && e[1].Value() == nil })
	f.sweepAt = 2 * len(f.of)
}

// one makes *to the same as from where both say the same.
func one[T any](from T, to *T) {
	if reflect.DeepEqual(from, *to) {
		*to = from
	}
}

// same is one for words.
func same[T ~string](from T, to *T) {
	if from == *to {
		*to = from
	}
}

func sharePod(from, to *corev1.Pod) {
	one(from.Labels, &to.Labels)
	one(from.Annotations, &to.Annotations)
	one(from.OwnerReferences, &to.OwnerReferences)
	one(from.Finalizers, &to.Finalizers)
	same(from.Namespace, &to.Namespace)
	shareSpec(&from.Spec, &to.Spec)
	one(from.Status.ContainerStatuses, &to.Status.ContainerStatuses)
	one(from.Status.InitContainerStatuses, &to.Status.InitContainerStatuses)
	one(from.Status.Resources, &to.Status.Resources)
	one(from.Status.AllocatedResources, &to.Status.AllocatedResources)
	same(from.Status.Phase, &to.Status.Phase)
	same(from.Status.QOSClass, &to.Status.QOSClass)
}

func shareSet(from, to *appsv1.ReplicaSet) {
	one(from.OwnerReferences, &to.OwnerReferences)
	same(from.Namespace, &to.Namespace)
	shareSpec(&from.Spec.Template.Spec, &to.Spec.Template.Spec)
}

// shareSpec shares what a template gives to its pods.
func shareSpec(from, to *corev1.PodSpec) {
	one(from.Containers, &to.Containers)
	one(from.InitContainers, &to.InitContainers)
	one(from.Volumes, &to.Volumes)
	one(from.Tolerations, &to.Tolerations)
	one(from.Affinity, &to.Affinity)
	one(from.TopologySpreadConstraints, &to.TopologySpreadConstraints)
	one(from.NodeSelector, &to.NodeSelector)
	one(from.ReadinessGates, &to.ReadinessGates)
	one(from.Overhead, &to.Overhead)
	one(from.Resources, &to.Resources)
	one(from.TerminationGracePeriodSeconds, &to.TerminationGracePeriodSeconds)
	one(from.ActiveDeadlineSeconds, &to.ActiveDeadlineSeconds)
	one(from.Priority, &to.Priority)
	one(from.PreemptionPolicy, &to.PreemptionPolicy)
	one(from.EnableServiceLinks, &to.EnableServiceLinks)
	one(from.AutomountServiceAccountToken, &to.AutomountServiceAccountToken)
	same(from.PriorityClassName, &to.PriorityClassName)
	same(from.SchedulerName, &to.SchedulerName)
	same(from.ServiceAccountName, &to.ServiceAccountName)
	same(from.DeprecatedServiceAccount, &to.DeprecatedServiceAccount)
	same(from.RestartPolicy, &to.RestartPolicy)
	same(from.DNSPolicy, &to.DNSPolicy)
}
