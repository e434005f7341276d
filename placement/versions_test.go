package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// buildForVersion returns a cluster of the server version 1.minor with the nodes a, b and c, and pod
// x-0 on a.
func buildForVersion(minor int) *snapshotBuilder {
	b := newSnapshotBuilder()
	b.objects.ServerVersion = fmt.Sprintf("1.%d", minor)
	b.node("a", "za")
	b.node("b", "zb")
	b.node("c", "zb")
	b.app("x", 100, nil, "a")
	return b
}

// byVersion maps the minor version of kube-scheduler to an expected value.
type byVersion map[int]int64

// TestScoresByVersion checks scores whose formula differs between versions. Each node has 10 CPUs
// and 10Gi; the victim on a is gone.
func TestScoresByVersion(t *testing.T) {
	const gpu = "example.com/gpu"
	overThree := newProfileWith(func(p *scheduler.Profile) {
		p.BalancedResources = []corev1.ResourceName{"cpu", "memory", gpu}
	})
	image := func(bytes int64) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				Image: &corev1.ImageVolumeSource{Reference: "registry.example/data:1"}}}}
			for _, n := range b.objects.Nodes {
				n.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example/data:1"}, SizeBytes: bytes}}
			}
		}
	}
	for _, c := range []struct {
		name, plugin, node string
		profile            scheduler.Profile
		edit               func(*snapshotBuilder)
		want               byVersion
	}{
		// The pod requests 1 CPU of 10 and no memory. Without it, the balance is 100. With it, the
		// deviation is 0.1 / 2, so the balance is 95: the gain is -5, and 50 + (50 - 5) / 2 is 72.
		{"a pod that unbalances", "NodeResourcesBalancedAllocation", "a", scheduler.DefaultProfile(), nil,
			byVersion{33: 95, 34: 95, 35: 95, 36: 72, 37: 72}},
		// Another pod requests 6Gi there: with the pod |0.1 - 0.6| / 2 = 0.25, without it 0.3.
		// 50 + (50 + 75 - 70) / 2 = 77.
		{"a pod that balances", "NodeResourcesBalancedAllocation", "b", scheduler.DefaultProfile(), nil,
			byVersion{33: 75, 34: 75, 35: 75, 36: 77, 37: 77}},
		// The pod also requests 2 GPUs of 4. Fractions of cpu, memory and GPUs: 0.1, 0, 0.5 with the pod, 0, 0, 0
		// without it. Their mean is 0.2, the sum of squares 0.01 + 0.04 + 0.09 = 0.14, the
		// deviation 0.216, so the balance is 78, and 50 + (50 + 78 - 100) / 2 = 64.
		{"three resources", "NodeResourcesBalancedAllocation", "a", overThree, nil,
			byVersion{33: 78, 34: 78, 35: 78, 36: 64, 37: 64}},
		// Every node has the image of 511 MiB. One container: (511 - 23) of (1000 - 23) MiB is 49 %. With
		// the image volume counted: (511 - 23) of (2000 - 23) MiB is 24 %.
		{"an image volume", "ImageLocality", "a", scheduler.DefaultProfile(), image(511 << 20),
			byVersion{33: 0, 34: 0, 35: 0, 36: 49, 37: 24}},
	} {
		for minor, want := range c.want {
			t.Run(fmt.Sprintf("%s/1.%d", c.name, minor), func(t *testing.T) {
				b := newSnapshotBuilder()
				b.objects.ServerVersion = fmt.Sprintf("1.%d", minor)
				b.node("a", "za")
				b.node("b", "zb")
				b.app("x", 0, cpuOnly("1"), "a")
				b.app("y", 0, func(s *corev1.PodSpec) {
					s.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("6Gi")}
				}, "b")
				if len(c.profile.BalancedResources) > 0 {
					withGPUs(2)(b)
				}
				if c.edit != nil {
					c.edit(b)
				}
				v := explainNode(t, b.modelWithProfile(t, c.profile), "x-0", c.node, true)
				if got := scoreOf(t, v, c.plugin); got != want {
					t.Errorf("score %d, want %d", got, want)
				}
			})
		}
	}
}

// TestFeasibleByVersion checks filters that differ between versions. The victim on a is gone.
func TestFeasibleByVersion(t *testing.T) {
	portworx := func(annotated bool, limit int32, more func(*snapshotBuilder)) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Volumes = portworxVolume("mine")
			b.csiNode("b", 0)
			n := b.objects.CSINodes[0]
			n.Spec.Drivers[0].Name, n.Spec.Drivers[0].Allocatable.Count = "pxd.portworx.com", &limit
			if annotated {
				n.Annotations = map[string]string{
					corev1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs,kubernetes.io/portworx-volume"}
			}
			if more != nil {
				more(b)
			}
		}
	}
	other := func(b *snapshotBuilder) {
		b.app("y", 0, func(s *corev1.PodSpec) { s.Volumes = portworxVolume("other") }, "b")
	}
	// x-0 uses a volume of the CSI driver, which counts in every version.
	csiVolume := func(more func(*snapshotBuilder)) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			other(b)
			b.boundClaim("c", nil)
			b.pod("x-0").Spec.Volumes = claimVolumes("c")
			b.objects.PersistentVolumes[0].Spec.CSI.Driver = "pxd.portworx.com"
			if more != nil {
				more(b)
			}
		}
	}
	stillAttached := csiVolume(func(b *snapshotBuilder) {
		b.volume("pv-other", "zonal", "1Gi", nil).Spec.CSI = &corev1.CSIPersistentVolumeSource{
			Driver: "pxd.portworx.com", VolumeHandle: "other"}
		b.volumeAttachment("pv-other", "b")
		b.objects.VolumeAttachments[0].Spec.Attacher = "pxd.portworx.com"
	})
	fast := "fast"
	attributes := func(more func(*snapshotBuilder)) func(*snapshotBuilder) {
		return withUnboundClaim(driver, func(b *snapshotBuilder) {
			b.objects.PersistentVolumeClaims[0].Spec.VolumeAttributesClassName = &fast
			if more != nil {
				more(b)
			}
		})
	}
	noProvisioner := func(b *snapshotBuilder) {
		b.objects.StorageClasses[0].Provisioner = "kubernetes.io/no-provisioner"
	}
	for _, c := range []struct {
		name string
		edit func(*snapshotBuilder)
		want map[int]string // feasible nodes by minor version
	}{
		{"a feature that no node declares", func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{
				{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
		}, map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "", 37: ""}},
		{"bind mount options, declared on b", func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
				{Name: "v", BindMountOptions: []string{"noexec"}}}
			b.objects.Nodes[1].Status.DeclaredFeatures = []string{"VolumeBindMountOptions"}
		}, map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "a b c", 37: "b"}},
		{"pod-level requests that fit nowhere", func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Resources = &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("11")}}
		}, map[int]string{33: "a b c", 34: "", 35: "", 36: "", 37: ""}},
		{"pod-level requests of another pod", func(b *snapshotBuilder) {
			b.app("y", 100, func(s *corev1.PodSpec) {
				s.Resources = &corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("10")}}
			}, "b")
		}, map[int]string{33: "a b c", 34: "a c", 35: "a c", 36: "a c", 37: "a c"}},
		// y-0 on b: one container grows from 2 to 6 CPUs, one shrinks from 5 to 1. x-0 requests 100m.
		{"another pod is being resized", func(b *snapshotBuilder) {
			b.app("y", 0, nil, "b")
			y := b.pod("y-0")
			for _, x := range []struct{ name, spec, status string }{{"grows", "6", "2"}, {"shrinks", "1", "5"}} {
				y.Spec.Containers = append(y.Spec.Containers, corev1.Container{Name: x.name,
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(x.spec)}}})
				now := corev1.ResourceList{"cpu": resource.MustParse(x.status)}
				y.Status.ContainerStatuses = append(y.Status.ContainerStatuses, corev1.ContainerStatus{Name: x.name,
					AllocatedResources: now, Resources: &corev1.ResourceRequirements{Requests: now}})
			}
		}, map[int]string{33: "a c", 34: "a c", 35: "a c", 36: "a c", 37: "a b c"}},
		{"Portworx, no annotation", portworx(false, 0, nil),
			map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "a c", 37: "a c"}},
		{"Portworx, annotation", portworx(true, 0, nil),
			map[int]string{33: "a c", 34: "a c", 35: "a c", 36: "a c", 37: "a c"}},
		{"another Portworx volume, no annotation", portworx(false, 1, other),
			map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "a c", 37: "a c"}},
		{"another Portworx volume, annotation", portworx(true, 1, other),
			map[int]string{33: "a c", 34: "a c", 35: "a c", 36: "a c", 37: "a c"}},
		{"a CSI volume beside a Portworx volume, no annotation", portworx(false, 1, csiVolume(nil)),
			map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "a c", 37: "a c"}},
		{"a CSI volume beside an attached Portworx volume", portworx(false, 1, stillAttached),
			map[int]string{33: "a c", 34: "a c", 35: "a c", 36: "a c", 37: "a c"}},
		{"one Portworx volume, in-tree and of its driver", portworx(true, 1, func(b *snapshotBuilder) {
			b.boundClaim("mine", nil)
			b.objects.PersistentVolumes[0].Spec.CSI.Driver = "pxd.portworx.com"
			p := b.pod("x-0")
			p.Spec.Volumes = append(p.Spec.Volumes, claimVolumes("mine")...)
		}), map[int]string{33: "a b c", 34: "a b c", 35: "a b c", 36: "a b c", 37: "a b c"}},
		{"attributes class, provisioned", attributes(nil),
			map[int]string{33: "", 34: "a b c", 35: "a b c", 36: "a b c", 37: "a b c"}},
		{"attributes class, selected node", attributes(func(b *snapshotBuilder) {
			b.objects.PersistentVolumeClaims[0].Annotations["volume.kubernetes.io/selected-node"] = "b"
		}), map[int]string{33: "b", 34: "b", 35: "b", 36: "b", 37: "b"}},
		{"attributes class, volume of this class", attributes(func(b *snapshotBuilder) {
			noProvisioner(b)
			b.volume("pv", "late", "5Gi", zoneAffinity("zb")).Spec.VolumeAttributesClassName = &fast
		}), map[int]string{33: "", 34: "b c", 35: "b c", 36: "b c", 37: "b c"}},
		{"volume of an attributes class", withUnboundClaim(driver, func(b *snapshotBuilder) {
			noProvisioner(b)
			b.volume("pv", "late", "5Gi", nil).Spec.VolumeAttributesClassName = &fast
		}), map[int]string{33: "", 34: "", 35: "", 36: "", 37: ""}},
	} {
		for minor, want := range c.want {
			t.Run(fmt.Sprintf("%s/1.%d", c.name, minor), func(t *testing.T) {
				b := buildForVersion(minor)
				c.edit(b)
				m := b.model(t)
				p := m.Predict(podID(t, m, "x-0"))
				if got := nodeNames(m, p.Gone.Feasible); got != want || p.UnsupportedReason != "" {
					t.Errorf("feasible: %q %s, want %q", got, p.UnsupportedReason, want)
				}
				checkMoveAndBack(t, m, p)
			})
		}
	}
}

func portworxVolume(id string) []corev1.Volume {
	return []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
		PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: id}}}}
}

// TestNamespaceSelectorsByVersion: releases of 1.34 to 1.36 differ in what a selector with only
// NotIn or DoesNotExist selects, if it belongs to the new pod.
func TestNamespaceSelectorsByVersion(t *testing.T) {
	requirement := func(op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "team", Operator: op, Values: values}}}
	}
	preferred := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: zoneKey, LabelSelector: appSelector("x")}}}}}
	never := map[int]bool{33: false, 34: false, 35: false, 36: false, 37: false}
	some := map[int]bool{33: false, 34: true, 35: true, 36: true, 37: false}
	for _, c := range []struct {
		name        string
		pod         string // that has the term
		selector    *metav1.LabelSelector
		unsupported map[int]bool
	}{
		{"NotIn", "x-0", requirement(metav1.LabelSelectorOpNotIn, "a"), some},
		{"DoesNotExist", "x-0", requirement(metav1.LabelSelectorOpDoesNotExist), some},
		{"In", "x-0", requirement(metav1.LabelSelectorOpIn, "a"), never},
		{"Exists", "x-0", requirement(metav1.LabelSelectorOpExists), never},
		{"everything", "x-0", &metav1.LabelSelector{}, never},
		{"nothing", "x-0", nil, never},
		{"NotIn of another pod", "y-0", requirement(metav1.LabelSelectorOpNotIn, "a"), never},
	} {
		for minor, want := range c.unsupported {
			for kind, affinity := range map[string]*corev1.Affinity{"affinity": affinityTo("x", zoneKey),
				"anti-affinity": antiAffinityTo("z", zoneKey), "preferred": preferred.DeepCopy()} {
				b := buildForVersion(minor)
				b.app("y", 100, nil, "b")
				b.pod(c.pod).Spec.Affinity = affinity
				for _, term := range podAffinityTerms(affinity) {
					term.NamespaceSelector = c.selector
				}
				m := b.model(t)
				why, ok := m.Supported(podID(t, m, "x-0"))
				if ok == want || !ok && !strings.Contains(why, fmt.Sprintf("some releases of kube-scheduler 1.%d", minor)) {
					t.Errorf("%s, %s, 1.%d: supported %v (%s), want %v", c.name, kind, minor, ok, why, !want)
				}
			}
		}
	}
}

// podAffinityTerms returns the inter-pod affinity terms that this test sets.
func podAffinityTerms(a *corev1.Affinity) (out []*corev1.PodAffinityTerm) {
	if p := a.PodAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			out = append(out, &p.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
	}
	return out
}
