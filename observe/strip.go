package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/redaction"
)

// stripAndIntern removes the fields that no decision reads, and shares the remaining ones with
// other objects. Most bytes of a pod are container settings and managed fields. Plans are the same
// with and without stripping.
//
// The informer passes a listed object twice: once with its page, and once before it stores the
// object. The second call only interns. It recognizes stripped objects by a non-nil, empty list of
// managed fields, which no API server sends.
func (s *internCache) stripAndIntern(x any) (any, error) {
	if o, ok := x.(metav1.Object); ok {
		if w := o.GetManagedFields(); w != nil && len(w) == 0 {
			s.internObject(x)
			return x, nil
		}
		o.SetManagedFields([]metav1.ManagedFieldsEntry{})
	}
	for _, spec := range cluster.PodSpecs(x) {
		s.stripPodSpec(spec)
	}
	switch o := x.(type) {
	case *corev1.Pod:
		o.Annotations, o.GenerateName = filterAnnotations(o.Annotations), ""
		s.stripPodStatus(&o.Status)
	case *appsv1.ReplicaSet:
		o.Annotations = filterAnnotations(o.Annotations)
		shareLabels(&o.ObjectMeta, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.Deployment:
		o.Annotations = filterAnnotations(o.Annotations)
		shareLabels(&o.ObjectMeta, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.StatefulSet:
		redaction.Keep(&o.Spec.VolumeClaimTemplates, cluster.IsDecisionAnnotation)
		stripAnnotations(&o.ObjectMeta, &o.Spec.Template.ObjectMeta)
	case *appsv1.DaemonSet:
		stripAnnotations(&o.ObjectMeta, &o.Spec.Template.ObjectMeta)
	case *batchv1.Job:
		stripAnnotations(&o.ObjectMeta, &o.Spec.Template.ObjectMeta)
	case *batchv1.CronJob:
		stripAnnotations(&o.ObjectMeta, &o.Spec.JobTemplate.ObjectMeta, &o.Spec.JobTemplate.Spec.Template.ObjectMeta)
	case *corev1.ReplicationController:
		stripAnnotations(&o.ObjectMeta)
		if o.Spec.Template != nil {
			stripAnnotations(&o.Spec.Template.ObjectMeta)
		}
	case *corev1.ServiceAccount: // a cluster has thousands, and decisions read only whether one exists
		*o = corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID,
			ResourceVersion: o.ResourceVersion, ManagedFields: o.ManagedFields}}
	case *corev1.Node:
		delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
		o.Status.DaemonEndpoints, o.Status.NodeInfo = corev1.NodeDaemonEndpoints{}, corev1.NodeSystemInfo{}
		// Usage sources may identify a node by its internal IP.
		o.Status.Addresses = slices.Clone(slices.DeleteFunc(o.Status.Addresses,
			func(a corev1.NodeAddress) bool { return a.Type != corev1.NodeInternalIP }))
		o.Status.VolumesInUse, o.Status.VolumesAttached, o.Status.Config = nil, nil, nil
		s.resourceListPool.intern(&o.Status.Capacity, &o.Status.Allocatable)
		s.imagePool.intern(o.Status.Images)
	}
	s.internObject(x)
	return x, nil
}

// internObject makes pods and ReplicaSets share equal parts with others of their controller.
func (s *internCache) internObject(x any) {
	switch o := x.(type) {
	case *corev1.Pod:
		s.pods.intern(o)
	case *appsv1.ReplicaSet:
		s.sets.intern(o)
	}
}

func stripAnnotations(of ...*metav1.ObjectMeta) {
	for _, m := range of {
		m.Annotations = filterAnnotations(m.Annotations)
	}
}

// filterAnnotations keeps the annotations that decisions read.
func filterAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range all {
		if cluster.IsDecisionAnnotation(key) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// stripElements returns the stripped elements in a new list without spare capacity.
func stripElements[T any](list []T, strip func(*T) T) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i := range list {
		out[i] = strip(&list[i])
	}
	return out
}

// shareLabels makes a workload, its selector and its pod template share their labels, which are
// mostly equal.
func shareLabels(m *metav1.ObjectMeta, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	template.Annotations = filterAnnotations(template.Annotations)
	shareEqual(template.Labels, &m.Labels)
	if selector != nil {
		shareEqual(template.Labels, &selector.MatchLabels)
	}
}

func (p *resourceListPool) stripContainer(c *corev1.Container) corev1.Container {
	out := cluster.SchedulingFields(c)
	p.intern(&out.Resources.Requests, &out.Resources.Limits)
	return out
}

func (p *resourceListPool) stripPodSpec(s *corev1.PodSpec) {
	s.Containers, s.InitContainers = stripElements(s.Containers, p.stripContainer), stripElements(s.InitContainers, p.stripContainer)
	s.EphemeralContainers, s.HostAliases, s.DNSConfig, s.ImagePullSecrets = nil, nil, nil, nil
	s.Volumes = slices.Clone(slices.DeleteFunc(s.Volumes, isConfigVolume))
	redaction.Keep(&s.Volumes, cluster.IsDecisionAnnotation)
}

// isConfigVolume reports whether a volume only projects API objects, so it works on any node.
// Every pod has such a volume for its service account token.
func isConfigVolume(v corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
}

func (p *resourceListPool) stripPodStatus(s *corev1.PodStatus) {
	strip := func(c *corev1.ContainerStatus) corev1.ContainerStatus { return p.stripContainerStatus(c, s.Phase) }
	s.ContainerStatuses, s.InitContainerStatuses = stripElements(s.ContainerStatuses, strip), stripElements(s.InitContainerStatuses, strip)
	s.EphemeralContainerStatuses = stripElements(s.EphemeralContainerStatuses, strip)
	s.PodIP, s.PodIPs, s.HostIP, s.HostIPs = "", nil, "", nil
	stripConditions(s)
}

// stripConditions removes the startup conditions.
func stripConditions(s *corev1.PodStatus) {
	s.Conditions = slices.Clone(slices.DeleteFunc(s.Conditions, func(c corev1.PodCondition) bool { return cluster.IsStartupCondition(&c) }))
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.Type, c.Status = internWord(c.Type), internWord(c.Status)
	}
}

// internWord returns the constant for a word that occurs in every pod, because the decoder
// allocates each occurrence.
func internWord[T ~string](word T) T {
	for _, known := range [...]string{string(corev1.PodReady), string(corev1.PodScheduled),
		string(corev1.ConditionTrue), string(corev1.ConditionFalse)} {
		if string(word) == known {
			return T(known)
		}
	}
	return word
}

// stripContainerStatus keeps the fields that decisions read of a container of a pod in the phase.
func (p *resourceListPool) stripContainerStatus(s *corev1.ContainerStatus, phase corev1.PodPhase) corev1.ContainerStatus {
	p.intern(&s.AllocatedResources)
	if s.Resources != nil {
		p.intern(&s.Resources.Requests, &s.Resources.Limits)
	}
	return cluster.StatusFields(s, phase)
}
