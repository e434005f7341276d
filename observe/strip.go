package observe

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// stripAndIntern drops what no decision looks at before an object is stored: most of a
// pod's bytes are its containers' settings and the history of its writers. What
// is left makes the same plan. An informer that lists anew has every object kept
// twice, page by page and then, in a copy, before it is stored; the second time only
// what it shares is looked at, since the first copies may be gone. That it was kept
// before is told by a list of its writers that is there and empty: no server sends one.
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
		o.Status.DaemonEndpoints, o.Status.NodeInfo, o.Status.Addresses = corev1.NodeDaemonEndpoints{}, corev1.NodeSystemInfo{}, filterAddresses(o.Status.Addresses)
		o.Status.VolumesInUse, o.Status.VolumesAttached, o.Status.Config = nil, nil, nil
		s.resourceListPool.intern(&o.Status.Capacity, &o.Status.Allocatable)
		s.imagePool.intern(o.Status.Images)
	}
	s.internObject(x)
	return x, nil
}

// internObject lets pods and ReplicaSets share what is equal among those of a controller.
func (s *internCache) internObject(x any) {
	switch o := x.(type) {
	case *corev1.Pod:
		s.pods.intern(o)
	case *appsv1.ReplicaSet:
		s.sets.intern(o)
	}
}

// filterAddresses keeps those by which sources of usage may call a node.
func filterAddresses(all []corev1.NodeAddress) []corev1.NodeAddress {
	var kept []corev1.NodeAddress
	for _, a := range all {
		if a.Type == corev1.NodeInternalIP {
			kept = append(kept, a)
		}
	}
	return kept
}

// filterAnnotations keeps what people and other programs ask for.
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

// mapSlice makes a new list, for the list that was decoded may have room for more.
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

// shareLabels: the labels of an owner, of its selector and of its template are
// mostly the same.
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

// isConfigVolume: the volume is made from objects of the API server, on whatever node
// the pod runs. Every pod has one, for its account's token.
func isConfigVolume(v corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
}

func (a *resourceListPool) stripPodStatus(p *corev1.Pod) {
	s := &p.Status
	s.ContainerStatuses, s.InitContainerStatuses = mapSlice(s.ContainerStatuses, a.stripContainerStatus), mapSlice(s.InitContainerStatuses, a.stripContainerStatus)
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

// isStartupCondition: the condition tells of a step on the way to Ready.
func isStartupCondition(c corev1.PodCondition) bool {
	return c.Type == corev1.PodReadyToStartContainers || c.Type == corev1.PodInitialized || c.Type == corev1.ContainersReady
}

// internedWords stand in every pod; decoding makes a new one each time.
var internedWords = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{string(corev1.PodReady), string(corev1.PodScheduled), string(corev1.ConditionTrue), string(corev1.ConditionFalse),
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

// stripContainerStatus keeps what requests depend on while a pod is resized in place.
func (a *resourceListPool) stripContainerStatus(s *corev1.ContainerStatus) corev1.ContainerStatus {
	a.intern(&s.AllocatedResources)
	if s.Resources != nil {
		a.intern(&s.Resources.Requests, &s.Resources.Limits)
	}
	return corev1.ContainerStatus{Name: s.Name, Ready: s.Ready, Resources: s.Resources, AllocatedResources: s.AllocatedResources}
}
