package cluster

import (
	"maps"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
)

// Template stands for pods that were created alike. Such pods have the same controller, namespace, requests, priority,
// grace period and runtime class, the same labels except CopiedLabels, and no other field by which a scheduler can tell
// them apart. If a template has several pods, they have no claims, and none of their images is never pulled. Pods with
// different templates may be alike, too.
type Template struct {
	requests, nonZero Resources
	ClassKey          atomic.Value // package placement/model keeps here what it found about the pods
}

// CopiedLabels are the labels of a node that the API server copies to a pod when it binds the pod to the node
// (admission plugin PodTopologyLabels, on by default since Kubernetes 1.35).
var CopiedLabels = [...]string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion}

// newTemplate returns the template of the pod k. It is that of the pod last, which may be nil, if both are alike.
func newTemplate(last, k *indexedPod, features *kubeversion.Features) *Template {
	if last == nil || !sameRequestInputs(last.object, k.object) {
		out := &Template{}
		out.requests, out.nonZero = effectiveRequests(k.object, features)
		return out
	}
	if sameController(last.controller, k.controller) && alike(last.object, k.object) {
		return last.template
	}
	return &Template{requests: last.template.requests, nonZero: last.template.nonZero}
}

// alike reports whether both pods are as Template says, if they have the same controller and requests. It returns false
// for pods that were changed after their creation, and for most pods with rarely used fields.
func alike(p, q *corev1.Pod) bool {
	a, b := &p.Spec, &q.Spec
	return p.Namespace == q.Namespace && p.Generation <= 1 && q.Generation <= 1 && sameLabels(p.Labels, q.Labels) &&
		a.SchedulerName == b.SchedulerName && ptr.Equal(a.Priority, b.Priority) && a.PriorityClassName == b.PriorityClassName &&
		maps.Equal(a.NodeSelector, b.NodeSelector) && a.Affinity == b.Affinity && a.Resources == nil && b.Resources == nil &&
		slices.EqualFunc(a.Tolerations, b.Tolerations, sameToleration) &&
		slices.EqualFunc(a.TopologySpreadConstraints, b.TopologySpreadConstraints, sameConstraint) &&
		a.HostNetwork == b.HostNetwork && ptr.Equal(a.HostUsers, b.HostUsers) &&
		ptr.Equal(a.RuntimeClassName, b.RuntimeClassName) && a.OS == nil && b.OS == nil &&
		len(a.ResourceClaims)+len(b.ResourceClaims) == 0 &&
		ptr.Equal(a.TerminationGracePeriodSeconds, b.TerminationGracePeriodSeconds) &&
		alikeContainers(a.InitContainers, b.InitContainers) && alikeContainers(a.Containers, b.Containers) &&
		hasOrdinaryVolumes(a) && hasOrdinaryVolumes(b)
}

// sameLabels reports whether both have the same labels except CopiedLabels.
func sameLabels(a, b map[string]string) bool {
	count := len(b)
	for _, key := range CopiedLabels {
		if _, has := b[key]; has {
			count--
		}
	}
	for key, v := range a {
		if slices.Contains(CopiedLabels[:], key) {
			continue
		}
		if w, has := b[key]; !has || v != w {
			return false
		}
		count--
	}
	return count == 0
}

func sameController(a, b *metav1.OwnerReference) bool {
	return a != nil && b != nil && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name && a.UID == b.UID
}

func sameToleration(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect &&
		ptr.Equal(a.TolerationSeconds, b.TolerationSeconds)
}

// sameConstraint reports whether both constraints are equal. Constraints with rarely used fields
// are never equal.
func sameConstraint(a, b corev1.TopologySpreadConstraint) bool {
	return a.MaxSkew == b.MaxSkew && a.TopologyKey == b.TopologyKey && a.WhenUnsatisfiable == b.WhenUnsatisfiable &&
		len(a.MatchLabelKeys)+len(b.MatchLabelKeys) == 0 && a.MinDomains == nil && b.MinDomains == nil &&
		a.NodeAffinityPolicy == nil && b.NodeAffinityPolicy == nil && a.NodeTaintsPolicy == nil && b.NodeTaintsPolicy == nil &&
		a.LabelSelector != nil && b.LabelSelector != nil && len(a.LabelSelector.MatchExpressions)+len(b.LabelSelector.MatchExpressions) == 0 &&
		maps.Equal(a.LabelSelector.MatchLabels, b.LabelSelector.MatchLabels)
}

// alikeContainers reports whether the lists differ only in fields that no Template has in common.
func alikeContainers(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	same := sameArray(a, b)
	for i := range a {
		if !isOrdinaryContainer(&a[i]) || !same && (a[i].Image != b[i].Image || !isOrdinaryContainer(&b[i])) {
			return false
		}
	}
	return true
}

// isOrdinaryContainer reports whether a scheduler reads only the image, the requests and the restart policy, and
// whether the kubelet may pull the image.
func isOrdinaryContainer(c *corev1.Container) bool {
	return c.ImagePullPolicy != corev1.PullNever && len(c.RestartPolicyRules) == 0 &&
		!slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }) &&
		!slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return len(m.BindMountOptions) > 0 })
}

// hasOrdinaryVolumes reports whether no scheduler reads the volumes.
func hasOrdinaryVolumes(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if s := &spec.Volumes[i].VolumeSource; s.Projected == nil && s.EmptyDir == nil && s.ConfigMap == nil &&
			s.Secret == nil && s.HostPath == nil && s.DownwardAPI == nil {
			return false
		}
	}
	return true
}

// sameArray reports whether both slices are the same part of one array.
func sameArray[T any](a, b []T) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }
