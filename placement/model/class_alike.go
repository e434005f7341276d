package model

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sameClass reports that a pod has the same key (appendKey) as the pods of a class. False may be wrong: what
// few pods have is not compared. Most pods are like another one of their controller,
// and to compare them costs a fraction of making a key.
func sameClass(a *cluster.Pod, c *EquivalenceClass) bool {
	if !c.Simple {
		return false
	}
	b := c.Sample
	x, y := &a.Object.Spec, &b.Object.Spec
	return a.Object.Namespace == b.Object.Namespace && sameController(a.Controller, b.Controller) && maps.Equal(a.Object.Labels, b.Object.Labels) &&
		EqualResources(a.Requests, b.Requests) && EqualResources(a.NonZero, b.NonZero) &&
		priorityOf(a.Object) == priorityOf(b.Object) && scheduler.NameOf(a.Object) == scheduler.NameOf(b.Object) &&
		maps.Equal(x.NodeSelector, y.NodeSelector) && x.Affinity == nil && y.Affinity == nil && x.Resources == nil && y.Resources == nil &&
		slices.EqualFunc(x.Tolerations, y.Tolerations, sameToleration) &&
		slices.EqualFunc(x.TopologySpreadConstraints, y.TopologySpreadConstraints, sameConstraint) &&
		hasSimpleSpec(x) && sameImages(x.InitContainers, y.InitContainers) && sameImages(x.Containers, y.Containers)
}

func sameController(a, b *metav1.OwnerReference) bool {
	return a != nil && b != nil && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name
}

func sameToleration(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect &&
		(a.TolerationSeconds == nil) == (b.TolerationSeconds == nil) && (a.TolerationSeconds == nil || *a.TolerationSeconds == *b.TolerationSeconds)
}

func sameConstraint(a, b corev1.TopologySpreadConstraint) bool {
	return a.MaxSkew == b.MaxSkew && a.TopologyKey == b.TopologyKey && a.WhenUnsatisfiable == b.WhenUnsatisfiable &&
		len(a.MatchLabelKeys)+len(b.MatchLabelKeys) == 0 && a.MinDomains == nil && b.MinDomains == nil &&
		a.NodeAffinityPolicy == nil && b.NodeAffinityPolicy == nil && a.NodeTaintsPolicy == nil && b.NodeTaintsPolicy == nil &&
		a.LabelSelector != nil && b.LabelSelector != nil && len(a.LabelSelector.MatchExpressions)+len(b.LabelSelector.MatchExpressions) == 0 &&
		maps.Equal(a.LabelSelector.MatchLabels, b.LabelSelector.MatchLabels)
}

// hasSimpleSpec: nothing of the spec is in appendRest but priority and scheduler.
func hasSimpleSpec(spec *corev1.PodSpec) bool {
	for i := range spec.Volumes {
		if s := &spec.Volumes[i].VolumeSource; s.Projected == nil && s.EmptyDir == nil && s.ConfigMap == nil && s.Secret == nil && s.HostPath == nil && s.DownwardAPI == nil {
			return false
		}
	}
	if FeatureBits(spec) != 0 {
		return false
	}
	return len(hostPorts(spec)) == 0
}

func sameImages(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Image != b[i].Image {
			return false
		}
	}
	return true
}
