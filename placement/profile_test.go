package placement

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func requireLabelIn(key string, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
}

// cpuOnly makes the pods of an app request CPU and no memory.
func cpuOnly(cpu string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
	}
}

func newProfileWith(edit func(*scheduler.Profile)) scheduler.Profile {
	p := scheduler.DefaultProfile()
	edit(&p)
	return p
}

// TestProfileScores changes one setting of the default profile and compares a plugin's scores of
// nodes a and b after the victim on a is gone. Each node has 10 CPUs and 10Gi; pods on b request 5
// CPUs and 2Gi.
func TestProfileScores(t *testing.T) {
	const gpu = "example.com/gpu"
	cases := []struct {
		name, plugin string
		profile      scheduler.Profile
		edit         func(*snapshotBuilder)
		a, b         int64
	}{
		{"least", "NodeResourcesFit", scheduler.DefaultProfile(), nil, 90, 55},
		{"most", "NodeResourcesFit", mostAllocatedProfile(), nil, 10, 45},
		{"least, cpu thrice", "NodeResourcesFit", newProfileWith(func(p *scheduler.Profile) {
			p.FitStrategy.Resources = []scheduler.ResourceWeight{{Name: "cpu", Weight: 3}, {Name: "memory", Weight: 1}}
		}), nil, 90, 47}, // (3*40 + 70) / 4
		{"cpu alone", "NodeResourcesFit", newProfileWith(func(p *scheduler.Profile) {
			p.FitStrategy = scheduler.ScoringStrategy{Type: scheduler.MostAllocated, Resources: []scheduler.ResourceWeight{{Name: "cpu", Weight: 1}}}
		}), nil, 10, 60},
		{"a resource that is not requested", "NodeResourcesFit", newProfileWith(func(p *scheduler.Profile) {
			p.FitStrategy.Resources = []scheduler.ResourceWeight{{Name: "cpu", Weight: 1}, {Name: gpu, Weight: 5}}
		}), withGPUs(0), 90, 40},
		{"a resource that is", "NodeResourcesFit", newProfileWith(func(p *scheduler.Profile) {
			p.FitStrategy.Resources = []scheduler.ResourceWeight{{Name: "cpu", Weight: 1}, {Name: gpu, Weight: 1}}
		}), withGPUs(1), 82, 57}, // (90 + 75) / 2, (40 + 75) / 2
		{"ratio", "NodeResourcesFit", newProfileWith(func(p *scheduler.Profile) {
			p.FitStrategy = scheduler.ScoringStrategy{Type: scheduler.RequestedToCapacityRatio, Shape: []scheduler.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 50, Score: 8}, {Utilization: 100, Score: 10}}}
		}), nil, 16, 66}, // cpu 60 % -> 84, memory 30 % -> 48
		{"balanced over cpu alone", "NodeResourcesBalancedAllocation", newProfileWith(func(p *scheduler.Profile) { p.BalancedResources = []corev1.ResourceName{"cpu"} }), nil, 75, 75},
		{"balanced over three", "NodeResourcesBalancedAllocation", newProfileWith(func(p *scheduler.Profile) { p.BalancedResources = []corev1.ResourceName{"cpu", "memory", gpu} }), withGPUs(1), 71, 77},
		{"added preference", "NodeAffinity", newProfileWith(func(p *scheduler.Profile) {
			p.AddedAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 7, Preference: requireLabelIn(hostKey, "b")}}}
		}), nil, 0, 100},
		{"a standing pod's wish", "InterPodAffinity", scheduler.DefaultProfile(), addPodWithAffinity, 0, 100},
		{"which weighs nothing", "InterPodAffinity", newProfileWith(func(p *scheduler.Profile) { p.HardPodAffinityWeight = 0 }), addPodWithAffinity, 0, 0},
		{"or is ignored", "InterPodAffinity", newProfileWith(func(p *scheduler.Profile) { p.IgnorePreferredTerms = true }), addPodWithAffinity, 0, 0},
		{"own default constraints", "PodTopologySpread", newProfileWith(func(p *scheduler.Profile) {
			p.SystemDefaultSpread = false
			p.DefaultSpread = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey, WhenUnsatisfiable: corev1.ScheduleAnyway}}
		}), addMatchingPod, 100, 0},
		{"the system's", "PodTopologySpread", scheduler.DefaultProfile(), addMatchingPod, 100, 66},
		{"none", "PodTopologySpread", newProfileWith(func(p *scheduler.Profile) { p.SystemDefaultSpread = false }), addMatchingPod, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			b.node("b", "zb")
			b.app("x", 1000, nil, "a")
			b.app("y", 0, func(s *corev1.PodSpec) {
				s.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("5"), "memory": resource.MustParse("2Gi")}
			}, "b")
			if c.edit != nil {
				c.edit(b)
			}
			m := b.modelWithProfile(t, c.profile)
			gotA, gotB := scoreOf(t, explainNode(t, m, "x-0", "a", true), c.plugin), scoreOf(t, explainNode(t, m, "x-0", "b", true), c.plugin)
			if gotA != c.a || gotB != c.b {
				t.Errorf("a %d, b %d; want %d and %d", gotA, gotB, c.a, c.b)
			}
		})
	}
}

func addPodWithAffinity(b *snapshotBuilder) {
	b.app("z", 0, func(s *corev1.PodSpec) { s.Affinity = affinityTo("x", hostKey) }, "b")
}

func addMatchingPod(b *snapshotBuilder) {
	b.app("z", 0, nil, "b")
	setAppLabel(b, "z-0")
}

// withGPUs gives each node 4 GPUs, and lets x-0 request n GPUs.
func withGPUs(n int64) func(*snapshotBuilder) {
	return func(b *snapshotBuilder) {
		for _, node := range b.objects.Nodes {
			node.Status.Allocatable = node.Status.Allocatable.DeepCopy()
			node.Status.Allocatable["example.com/gpu"] = resource.MustParse("4")
		}
		if n > 0 {
			b.pod("x-0").Spec.Containers[0].Resources.Requests["example.com/gpu"] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
}

// TestWeights: the total is the weighted sum of the scores, and plugins with weight 0 do not
// appear.
func TestWeights(t *testing.T) {
	p := newProfileWith(func(p *scheduler.Profile) { p.Weights = scheduler.Weights{PodTopologySpread: 5, ResourcesFit: 2} })
	m := newThreeZoneCluster(1, 1, 4).modelWithProfile(t, p)
	v := explainNode(t, m, "d-5", "n3", false)
	if len(v.Scores) != 2 || v.Total != 5*scoreOf(t, v, "PodTopologySpread")+2*scoreOf(t, v, "NodeResourcesFit") {
		t.Errorf("got %+v", v)
	}
}

// TestDisabledFilters: each filter rejects node b until the profile disables it.
func TestDisabledFilters(t *testing.T) {
	edits := map[scheduler.Filter]func(*snapshotBuilder){
		scheduler.NodeUnschedulable: func(b *snapshotBuilder) { cordon(b.objects.Nodes[1]) },
		scheduler.TaintToleration:   func(b *snapshotBuilder) { withTaint(corev1.TaintEffectNoSchedule)(b.objects.Nodes[1]) },
		scheduler.NodeAffinity:      func(b *snapshotBuilder) { b.pod("x-0").Spec.NodeSelector = map[string]string{zoneKey: "za"} },
		scheduler.NodeResourcesFit:  func(b *snapshotBuilder) { b.app("y", 9500, nil, "b") },
		scheduler.PodTopologySpread: func(b *snapshotBuilder) {
			b.app("y", 0, nil, "b")
			setAppLabel(b, "y-0")
			b.pod("x-0").Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: appSelector("x")}}
		},
		scheduler.InterPodAffinity: func(b *snapshotBuilder) {
			b.app("y", 0, nil, "b")
			b.pod("x-0").Spec.Affinity = antiAffinityTo("y", hostKey)
		},
		scheduler.NodePorts: func(b *snapshotBuilder) {
			withHostPort("", "", 80)(&b.pod("x-0").Spec)
			b.app("y", 0, withHostPort("", "", 80), "b")
		},
		scheduler.VolumeRestrictions: func(b *snapshotBuilder) {
			b.boundClaim("c", nil).Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			b.csiNode("a", 9)
			disk := append(claimVolumes("c"), corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "i"}}})
			b.pod("x-0").Spec.Volumes = disk
			b.app("y", 0, func(s *corev1.PodSpec) { s.Volumes = disk }, "b")
		},
		scheduler.NodeVolumeLimits: withBoundClaim(nil, func(b *snapshotBuilder) { b.csiNode("b", 0) }),
		scheduler.VolumeZone:       withBoundClaim(nil, func(b *snapshotBuilder) { b.objects.PersistentVolumes[0].Labels = map[string]string{zoneKey: "za"} }),
		scheduler.NodeDeclaredFeatures: func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
		},
	}
	for _, f := range scheduler.SwitchableFilters {
		b := newSnapshotBuilder()
		b.node("a", "za")
		b.node("b", "zb")
		b.app("x", 1000, nil, "a")
		edits[f](b)
		if v := explainNode(t, b.model(t), "x-0", "b", true); v.RefusedBy != f {
			t.Errorf("%s: refused by %q", f, v.RefusedBy)
		}
		off := newProfileWith(func(p *scheduler.Profile) { p.DisabledFilters = []scheduler.Filter{f} })
		if v := explainNode(t, b.modelWithProfile(t, off), "x-0", "b", true); v.RefusedBy != "" {
			t.Errorf("%s is disabled, but the node is refused by %q", f, v.RefusedBy)
		}
	}
}

// TestEachProfileHasItsOwnView: pods that differ only in their scheduler have their own node
// checks.
func TestEachProfileHasItsOwnView(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb", withTaint(corev1.TaintEffectNoSchedule))
	b.app("x", 1000, nil, "a")
	b.app("y", 1000, func(s *corev1.PodSpec) { s.SchedulerName = "bold" }, "a")
	m := b.modelWithOptions(t, Options{Profiles: map[string]scheduler.Profile{"bold": newProfileWith(func(p *scheduler.Profile) { p.DisabledFilters = []scheduler.Filter{scheduler.TaintToleration} })}})
	for pod, want := range map[string]string{"x-0": "a", "y-0": "a b"} {
		if got := nodeNames(m, m.Predict(podID(t, m, pod)).Gone.Feasible); got != want {
			t.Errorf("%s may go to %q, want %q", pod, got, want)
		}
	}
}

func TestAddedAffinityIsRequired(t *testing.T) {
	m := newThreeZoneCluster(1, 2, 3).modelWithProfile(t, newProfileWith(func(p *scheduler.Profile) {
		p.AddedAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{requireLabelIn(zoneKey, "z1", "z3")}}}
	}))
	if got := nodeNames(m, m.Predict(podID(t, m, "d-5")).Gone.Feasible); got != "n1 n3" {
		t.Errorf("feasible %q, want n1 n3", got)
	}
	if v := explainNode(t, m, "d-5", "n2", true); v.RefusedBy != scheduler.NodeAffinity || !strings.Contains(v.Why, "addedAffinity") {
		t.Errorf("n2 is refused by %q: %s", v.RefusedBy, v.Why)
	}
}

func TestIgnoredResources(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 1000, func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
	}, "a")
	for _, c := range []struct {
		profile scheduler.Profile
		want    scheduler.Filter
	}{
		{scheduler.DefaultProfile(), scheduler.NodeResourcesFit},
		{newProfileWith(func(p *scheduler.Profile) { p.IgnoredResources = []string{"example.com/gpu"} }), ""},
		{newProfileWith(func(p *scheduler.Profile) { p.IgnoredGroups = []string{"example.com"} }), ""},
		{newProfileWith(func(p *scheduler.Profile) { p.IgnoredResources = []string{"example.com/other"} }), scheduler.NodeResourcesFit},
	} {
		if v := explainNode(t, b.modelWithProfile(t, c.profile), "x-0", "a", true); v.RefusedBy != c.want {
			t.Errorf("refused by %q, want %q", v.RefusedBy, c.want)
		}
	}
}

// TestProfilesByScheduler: each pod is placed by its own scheduler. Pods of a scheduler without a
// profile are not supported.
func TestProfilesByScheduler(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "zb")
	b.app("base", 5000, nil, "b")
	for _, name := range []string{"", "packer", "odd", "dark"} {
		b.app("x"+name, 1000, func(s *corev1.PodSpec) { s.SchedulerName = name }, "a")
	}
	unknown := newProfileWith(func(p *scheduler.Profile) { p.UnsupportedReason = "plugin Coscheduling is not supported" })
	m := b.modelWithOptions(t, Options{Profiles: map[string]scheduler.Profile{"packer": mostAllocatedProfile(), "odd": unknown}})
	for pod, want := range map[string]string{"x-0": "a", "xpacker-0": "b"} {
		if got := nodeNames(m, m.Predict(podID(t, m, pod)).Gone.Winners); got != want {
			t.Errorf("%s: %q, want %s", pod, got, want)
		}
	}
	for pod, want := range map[string]string{
		"xodd-0":  `it is scheduled by "odd": plugin Coscheduling is not supported`,
		"xdark-0": `it is scheduled by "dark", which has no profile in the configuration`,
	} {
		if p := m.Predict(podID(t, m, pod)); p.UnsupportedReason != want {
			t.Errorf("%s: %q, want %q", pod, p.UnsupportedReason, want)
		}
	}
}

// TestFilterThatCannotBeSwitchedOff checks that the disabled filter makes only the pods unsupported
// that the filter affects.
func TestFilterThatCannotBeSwitchedOff(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.app("x", 100, nil, "a")
	b.app("y", 100, func(s *corev1.PodSpec) { s.Volumes = claimVolumes("c") }, "a")
	m := b.modelWithProfile(t, newProfileWith(func(p *scheduler.Profile) { p.DisabledFilters = []scheduler.Filter{scheduler.VolumeBinding} }))
	if why, ok := m.Supported(podID(t, m, "x-0")); !ok {
		t.Errorf("x-0 has no claim, yet: %s", why)
	}
	if why, ok := m.Supported(podID(t, m, "y-0")); ok || !strings.Contains(why, "disables the filter VolumeBinding") {
		t.Errorf("y-0: %q", why)
	}
}

func TestNotReadyNodesWithoutTheTaintFilter(t *testing.T) {
	b := newSnapshotBuilder()
	b.node("a", "za")
	b.node("b", "za", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })
	b.app("x", 100, nil, "a")
	m := b.modelWithProfile(t, newProfileWith(func(p *scheduler.Profile) { p.DisabledFilters = []scheduler.Filter{scheduler.TaintToleration} }))
	if why, ok := m.Supported(podID(t, m, "x-0")); ok || !strings.Contains(why, "ignores taints") {
		t.Errorf("supported: %q", why)
	}
}

func setAppLabel(b *snapshotBuilder, pods ...string) {
	for _, name := range pods {
		b.pod(name).Labels = map[string]string{"app": "x"}
	}
}

// mostAllocatedProfile returns the default profile with the scoring strategy MostAllocated.
func mostAllocatedProfile() scheduler.Profile {
	return newProfileWith(func(p *scheduler.Profile) { p.FitStrategy.Type = scheduler.MostAllocated })
}

// newUsageProfile returns the default profile without the scores that allocate by requests, as trimaran's documentation
// recommends.
func newUsageProfile(edit func(*scheduler.Profile)) scheduler.Profile {
	p := scheduler.DefaultProfile()
	p.Weights.ResourcesFit, p.Weights.BalancedAllocation = 0, 0
	edit(&p)
	return p
}

func packingProfile() scheduler.Profile {
	args := scheduler.DefaultPacking()
	return newUsageProfile(func(p *scheduler.Profile) { p.Packing = &args })
}

func riskBalancingProfile() scheduler.Profile {
	args := scheduler.DefaultRiskBalancing()
	return newUsageProfile(func(p *scheduler.Profile) { p.RiskBalancing = &args })
}
