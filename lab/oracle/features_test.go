package oracle

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schedulerFeature is a scheduler feature that package placement supports. A feature decides a case
// if its removal changes the feasible nodes or the winners.
type schedulerFeature struct {
	name string
	// remove removes the feature from a copy of a cluster. remove returns false if the cluster does not use the
	// feature.
	remove func(*cluster.Objects) bool
}

// eachPod calls f with every pod and reports whether any call changed it.
func eachPod(f func(*corev1.Pod) bool) func(*cluster.Objects) bool {
	return func(o *cluster.Objects) bool { return anyChanged(o.Pods, f) }
}

// eachSpec calls f with every pod spec and reports whether any call changed it.
func eachSpec(f func(*corev1.PodSpec) bool) func(*cluster.Objects) bool {
	return func(o *cluster.Objects) (any bool) {
		for _, p := range o.Pods {
			any = f(&p.Spec) || any
		}
		return any
	}
}

func eachContainer(f func(*corev1.Container) bool) func(*cluster.Objects) bool {
	return eachSpec(func(s *corev1.PodSpec) (any bool) {
		for _, cs := range [...][]corev1.Container{s.InitContainers, s.Containers} {
			for i := range cs {
				any = f(&cs[i]) || any
			}
		}
		return any
	})
}

func removeVolumes(drop func(*corev1.Volume) bool) func(*cluster.Objects) bool {
	return eachSpec(func(s *corev1.PodSpec) bool {
		n := len(s.Volumes)
		s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool { return drop(&v) })
		return len(s.Volumes) < n
	})
}

func eachTerm(f func(*corev1.PodAffinityTerm) bool) func(*cluster.Objects) bool {
	return eachSpec(func(s *corev1.PodSpec) bool { return changeTermsOf(s, f) })
}

func changeTermsOf(s *corev1.PodSpec, f func(*corev1.PodAffinityTerm) bool) bool {
	if s.Affinity == nil {
		return false
	}
	var together, apart bool
	if a := s.Affinity.PodAffinity; a != nil {
		together = changeTerms(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, f)
	}
	if a := s.Affinity.PodAntiAffinity; a != nil {
		apart = changeTerms(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, f)
	}
	return together || apart
}

func changeTerms(hard []corev1.PodAffinityTerm, soft []corev1.WeightedPodAffinityTerm, f func(*corev1.PodAffinityTerm) bool) (any bool) {
	for i := range hard {
		any = f(&hard[i]) || any
	}
	for i := range soft {
		any = f(&soft[i].PodAffinityTerm) || any
	}
	return any
}

func eachSpread(f func(*corev1.TopologySpreadConstraint) bool) func(*cluster.Objects) bool {
	return eachSpec(func(s *corev1.PodSpec) (any bool) {
		for i := range s.TopologySpreadConstraints {
			any = f(&s.TopologySpreadConstraints[i]) || any
		}
		return any
	})
}

// anyChanged calls f with every item and reports whether any call changed it.
func anyChanged[T any](list []T, f func(T) bool) (any bool) {
	for _, x := range list {
		any = f(x) || any
	}
	return any
}

// removeMergedLabelKeys removes what merge added.
func removeMergedLabelKeys(t *corev1.PodAffinityTerm, op metav1.LabelSelectorOperator) {
	t.LabelSelector.MatchExpressions = slices.DeleteFunc(t.LabelSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == "tier" && r.Operator == op
	})
	t.MatchLabelKeys, t.MismatchLabelKeys = nil, nil
}

// selectsWithoutLabels reports whether the term's namespaceSelector matches namespaces without labels, but not all
// namespaces.
func selectsWithoutLabels(t *corev1.PodAffinityTerm) bool {
	return t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchExpressions) > 0
}

// removeInitStatuses removes the statuses of sidecars, or of the other init containers.
func removeInitStatuses(p *corev1.Pod, sidecars bool) bool {
	list := &p.Status.InitContainerStatuses
	n := len(*list)
	*list = slices.DeleteFunc(*list, func(s corev1.ContainerStatus) bool {
		return sidecars == slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == s.Name && c.RestartPolicy != nil
		})
	})
	return len(*list) < n
}

var podFeatures = []schedulerFeature{
	{"host ports", eachContainer(func(c *corev1.Container) bool { had := len(c.Ports) > 0; c.Ports = nil; return had })},
	{"extended resources", eachContainer(func(c *corev1.Container) bool {
		_, had := c.Resources.Requests["example.com/gpu"]
		delete(c.Resources.Requests, "example.com/gpu")
		return had
	})},
	{"overhead", eachSpec(func(s *corev1.PodSpec) bool { had := s.Overhead != nil; s.Overhead = nil; return had })},
	{"pod-level resources", eachSpec(func(s *corev1.PodSpec) bool { had := s.Resources != nil; s.Resources = nil; return had })},
	{"sidecars", eachContainer(func(c *corev1.Container) bool { had := c.RestartPolicy != nil; c.RestartPolicy = nil; return had })},
	{"declared features", func(o *cluster.Objects) bool {
		return anyChanged(o.Nodes, func(n *corev1.Node) bool {
			n.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport",
				"VolumeBindMountOptions"}
			return true
		})
	}},
	{"statuses of containers", eachPod(func(p *corev1.Pod) bool {
		had := p.Status.ContainerStatuses != nil
		p.Status.ContainerStatuses = nil
		return had
	})},
	{"statuses of sidecars", eachPod(func(p *corev1.Pod) bool { return removeInitStatuses(p, true) })},
	{"statuses of init containers", eachPod(func(p *corev1.Pod) bool { return removeInitStatuses(p, false) })},
	{"statuses of pods", eachPod(func(p *corev1.Pod) bool {
		had := p.Status.Resources != nil || p.Status.AllocatedResources != nil
		p.Status.Resources, p.Status.AllocatedResources = nil, nil
		return had
	})},
	{"allocations without resources", eachPod(func(p *corev1.Pod) (any bool) {
		for _, list := range [...][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
			for i := range list {
				if s := &list[i]; s.Resources == nil && s.AllocatedResources != nil {
					s.AllocatedResources, any = nil, true
				}
			}
		}
		return any
	})},
	{"infeasible resizes", eachPod(func(p *corev1.Pod) bool {
		had := p.Status.Conditions != nil
		p.Status.Conditions = nil
		return had
	})},
	{"nominated pods", func(o *cluster.Objects) bool {
		return anyChanged(o.Pods, func(p *corev1.Pod) bool {
			had := p.Status.NominatedNodeName != ""
			p.Status.NominatedNodeName = ""
			return had
		})
	}},
	{"namespaceSelector", eachTerm(func(t *corev1.PodAffinityTerm) bool {
		had := t.NamespaceSelector != nil
		t.NamespaceSelector = nil
		return had
	})},
	{"negative namespaceSelector", eachTerm(func(t *corev1.PodAffinityTerm) bool {
		had := selectsWithoutLabels(t)
		if had {
			t.NamespaceSelector = nil
		}
		return had
	})},
	{"matchLabelKeys of affinity", eachTerm(func(t *corev1.PodAffinityTerm) bool {
		had := len(t.MatchLabelKeys) > 0
		if had {
			removeMergedLabelKeys(t, metav1.LabelSelectorOpIn)
		}
		return had
	})},
	{"mismatchLabelKeys of affinity", eachTerm(func(t *corev1.PodAffinityTerm) bool {
		had := len(t.MismatchLabelKeys) > 0
		if had {
			removeMergedLabelKeys(t, metav1.LabelSelectorOpNotIn)
		}
		return had
	})},
	{"matchLabelKeys of spread", eachSpread(func(c *corev1.TopologySpreadConstraint) bool {
		had := len(c.MatchLabelKeys) > 0
		c.MatchLabelKeys = nil
		return had
	})},
	{"minDomains", eachSpread(func(c *corev1.TopologySpreadConstraint) bool {
		had := c.MinDomains != nil
		c.MinDomains = nil
		return had
	})},
	{"nodeAffinityPolicy", eachSpread(func(c *corev1.TopologySpreadConstraint) bool {
		had := c.NodeAffinityPolicy != nil
		c.NodeAffinityPolicy = nil
		return had
	})},
	{"nodeTaintsPolicy", eachSpread(func(c *corev1.TopologySpreadConstraint) bool {
		had := c.NodeTaintsPolicy != nil
		c.NodeTaintsPolicy = nil
		return had
	})},
	{"image volumes", removeVolumes(func(v *corev1.Volume) bool { return v.Image != nil })},
	{"Portworx volumes", func(o *cluster.Objects) bool {
		inline := removeVolumes(func(v *corev1.Volume) bool { return v.PortworxVolume != nil })(o)
		bound := anyChanged(o.PersistentVolumes, func(v *corev1.PersistentVolume) bool {
			had := v.Spec.PortworxVolume != nil
			v.Spec.PortworxVolume = nil
			return had
		})
		for _, c := range o.StorageClasses {
			if c.Name == "portworx" {
				c.Provisioner = "csi.none"
			}
		}
		return inline || bound
	}},
	{"exclusive disks", removeVolumes(func(v *corev1.Volume) bool {
		return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
	})},
	{"ephemeral volumes", removeVolumes(func(v *corev1.Volume) bool { return v.Ephemeral != nil })},
}

var volumeFeatures = []schedulerFeature{
	{"ReadWriteOncePod", func(o *cluster.Objects) bool {
		return anyChanged(o.PersistentVolumeClaims, func(c *corev1.PersistentVolumeClaim) bool {
			had := c.Spec.AccessModes[0] == corev1.ReadWriteOncePod
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			return had
		})
	}},
	{"zone labels of volumes", func(o *cluster.Objects) bool {
		return anyChanged(o.PersistentVolumes, func(v *corev1.PersistentVolume) bool { had := len(v.Labels) > 0; v.Labels = nil; return had })
	}},
	{"node affinity of bound volumes", func(o *cluster.Objects) bool {
		return anyChanged(o.PersistentVolumes, func(v *corev1.PersistentVolume) bool {
			had := v.Status.Phase == corev1.VolumeBound && v.Spec.NodeAffinity != nil
			if had {
				v.Spec.NodeAffinity = nil
			}
			return had
		})
	}},
	{"available volumes for waiting claims", func(o *cluster.Objects) bool {
		return anyChanged(o.PersistentVolumes, func(v *corev1.PersistentVolume) bool {
			had := v.Status.Phase == corev1.VolumeAvailable
			if had {
				v.Status.Phase = corev1.VolumePending
			}
			return had
		})
	}},
	{"allowedTopologies", func(o *cluster.Objects) bool {
		return anyChanged(o.StorageClasses, func(c *storagev1.StorageClass) bool {
			had := c.AllowedTopologies != nil
			c.AllowedTopologies = nil
			return had
		})
	}},
	{"CSIStorageCapacity", func(o *cluster.Objects) bool {
		huge := resource.NewQuantity(math.MaxInt64, resource.BinarySI)
		return anyChanged(o.CSIStorageCapacities, func(c *storagev1.CSIStorageCapacity) bool { c.MaximumVolumeSize = huge; return true })
	}},
	{"attach limits", func(o *cluster.Objects) bool {
		return anyChanged(o.CSINodes, func(c *storagev1.CSINode) (any bool) {
			for i := range c.Spec.Drivers {
				any = any || c.Spec.Drivers[i].Allocatable != nil
				c.Spec.Drivers[i].Allocatable = nil
			}
			return any
		})
	}},
	{"Portworx annotations", func(o *cluster.Objects) bool {
		return anyChanged(o.CSINodes, func(c *storagev1.CSINode) bool {
			had := c.Annotations != nil
			c.Annotations = nil
			return had
		})
	}},
	{"volumeAttributesClassName", func(o *cluster.Objects) bool {
		claims := anyChanged(o.PersistentVolumeClaims, func(c *corev1.PersistentVolumeClaim) bool {
			had := c.Spec.VolumeAttributesClassName != nil
			c.Spec.VolumeAttributesClassName = nil
			return had
		})
		volumes := anyChanged(o.PersistentVolumes, func(v *corev1.PersistentVolume) bool {
			had := v.Spec.VolumeAttributesClassName != nil
			v.Spec.VolumeAttributesClassName = nil
			return had
		})
		return claims || volumes
	}},
	{"volumes still attached", func(o *cluster.Objects) bool {
		had := len(o.VolumeAttachments) > 0
		o.VolumeAttachments = nil
		return had
	}},
	{"missing drivers", func(o *cluster.Objects) bool {
		return anyChanged(o.CSIDrivers, func(d *storagev1.CSIDriver) bool {
			had := *d.Spec.PreventPodSchedulingIfMissing
			d.Spec.PreventPodSchedulingIfMissing = nil
			return had
		})
	}},
}
