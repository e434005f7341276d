package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// stripAndIntern removes the fields that no decision reads before an object is stored. Most
// bytes of a pod are container settings and managed fields. The stripped object gives the same
// plan.
//
// When an informer lists again, it passes each object twice: once per page, and once as a copy
// before storing it. The second pass only interns, because the first copies may be garbage. An
// object that was stripped before has a non-nil, empty list of managed fields. No server sends
// such a list.
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
		s.stripPodStatus(o)
	case *appsv1.ReplicaSet:
		o.Annotations = filterAnnotations(o.Annotations)
		shareLabels(&o.ObjectMeta, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.Deployment:
		o.Annotations = filterAnnotations(o.Annotations)
		shareLabels(&o.ObjectMeta, o.Spec.Selector, &o.Spec.Template)
	case *appsv1.StatefulSet, *appsv1.DaemonSet, *batchv1.Job, *batchv1.CronJob, *corev1.ReplicationController:
		m := x.(metav1.Object)
		m.SetAnnotations(filterAnnotations(m.GetAnnotations()))
	case *corev1.Node:
		delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
		o.Status.DaemonEndpoints, o.Status.NodeInfo, o.Status.Addresses = corev1.NodeDaemonEndpoints{}, corev1.NodeSystemInfo{},
			filterAddresses(o.Status.Addresses)
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

// filterAddresses keeps the internal IPs, which usage sources may use to name a node.
func filterAddresses(all []corev1.NodeAddress) []corev1.NodeAddress {
	var kept []corev1.NodeAddress
	for _, a := range all {
		if a.Type == corev1.NodeInternalIP {
			kept = append(kept, a)
		}
	}
	return kept
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

// mapSlice allocates an exact copy, because the decoded list may have spare capacity.
func mapSlice[T any](list []T, keep func(*T) T) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i := range list {
		out[i] = keep(&list[i])
	}
	return out
}

// shareLabels makes an owner, its selector and its template share their labels, which are
// mostly equal.
func shareLabels(m *metav1.ObjectMeta, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	template.Annotations = filterAnnotations(template.Annotations)
	shareEqual(template.Labels, &m.Labels)
	if selector != nil {
		shareEqual(template.Labels, &selector.MatchLabels)
	}
}

func (a *resourceListPool) stripContainer(c *corev1.Container) corev1.Container {
	out := cluster.SchedulingFields(c)
	a.intern(&out.Resources.Requests, &out.Resources.Limits)
	return out
}

func (a *resourceListPool) stripPodSpec(s *corev1.PodSpec) {
	s.Containers, s.InitContainers = mapSlice(s.Containers, a.stripContainer), mapSlice(s.InitContainers, a.stripContainer)
	s.EphemeralContainers, s.HostAliases, s.DNSConfig, s.ImagePullSecrets, s.SecurityContext = nil, nil, nil, nil, nil
	if slices.ContainsFunc(s.Volumes, isConfigVolume) {
		var rest []corev1.Volume
		for i := range s.Volumes {
			if !isConfigVolume(s.Volumes[i]) {
				rest = append(rest, s.Volumes[i])
			}
		}
		s.Volumes = rest
	}
}

// isConfigVolume reports whether a volume is made from API objects and works on any node. Every
// pod has one for its service account token.
func isConfigVolume(v corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
}

func (a *resourceListPool) stripPodStatus(p *corev1.Pod) {
	s := &p.Status
	s.ContainerStatuses, s.InitContainerStatuses = mapSlice(s.ContainerStatuses, a.stripContainerStatus),
		mapSlice(s.InitContainerStatuses, a.stripContainerStatus)
	s.Phase, s.QOSClass = internWord(s.Phase), internWord(s.QOSClass)
	s.EphemeralContainerStatuses, s.PodIP, s.PodIPs, s.HostIP, s.HostIPs = nil, "", nil, "", nil
	n := 0
	for i := range s.Conditions {
		if !isStartupCondition(s.Conditions[i]) {
			n++
		}
	}
	if n == len(s.Conditions) {
		return
	}
	rest := make([]corev1.PodCondition, 0, n)
	for _, c := range s.Conditions {
		if !isStartupCondition(c) {
			c.Type, c.Status = internWord(c.Type), internWord(c.Status)
			rest = append(rest, c)
		}
	}
	s.Conditions = rest
}

// isStartupCondition reports whether the condition is a step on the way to Ready.
func isStartupCondition(c corev1.PodCondition) bool {
	return c.Type == corev1.PodReadyToStartContainers || c.Type == corev1.PodInitialized || c.Type == corev1.ContainersReady
}

// internedWords are strings that occur in every pod. Decoding allocates each of them again.
var internedWords = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{string(corev1.PodReady), string(corev1.PodScheduled), string(corev1.ConditionTrue),
		string(corev1.ConditionFalse),
		string(corev1.PodRunning), string(corev1.PodPending), string(corev1.PodSucceeded), string(corev1.PodFailed),
		string(corev1.PodQOSGuaranteed), string(corev1.PodQOSBurstable), string(corev1.PodQOSBestEffort)} {
		m[w] = w
	}
	return m
}()

func internWord[T ~string](s T) T {
	if w, ok := internedWords[string(s)]; ok {
		return T(w)
	}
	return s
}

// stripContainerStatus keeps the fields that requests depend on while a pod is resized in
// place.
func (a *resourceListPool) stripContainerStatus(s *corev1.ContainerStatus) corev1.ContainerStatus {
	a.intern(&s.AllocatedResources)
	if s.Resources != nil {
		a.intern(&s.Resources.Requests, &s.Resources.Limits)
	}
	return corev1.ContainerStatus{Name: s.Name, Ready: s.Ready, Resources: s.Resources, AllocatedResources: s.AllocatedResources}
}
