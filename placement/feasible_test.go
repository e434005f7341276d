package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// feasibleCase changes a cluster and lists the feasible nodes for the replacement of x-0. Node a is
// in zone za, nodes b and c are in zone zb, and x-0 is on a.
type feasibleCase struct {
	name              string
	edit              func(*snapshotBuilder)
	terminating, gone string
	refused           scheduler.Filter // filter that rejects node b after the victim is gone; empty if none does
}

func runFeasibleCases(t *testing.T, cases []feasibleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newSnapshotBuilder()
			b.node("a", "za")
			b.node("b", "zb")
			b.node("c", "zb")
			b.app("x", 100, nil, "a")
			c.edit(b)
			m := b.model(t)
			p := m.Predict(podID(t, m, "x-0"))
			if p.UnsupportedReason != "" {
				t.Fatal(p.UnsupportedReason)
			}
			if got := nodeNames(m, p.Terminating.Feasible); got != c.terminating {
				t.Errorf("terminating: %q, want %q", got, c.terminating)
			}
			if got := nodeNames(m, p.Gone.Feasible); got != c.gone {
				t.Errorf("gone: %q, want %q", got, c.gone)
			}
			v := explainNode(t, m, "x-0", "b", true)
			if v.RefusedBy != c.refused || (v.Why == "") != (c.refused == "") {
				t.Errorf("b is refused by %q (%s), want %q", v.RefusedBy, v.Why, c.refused)
			}
			checkMoveAndBack(t, m, p)
		})
	}
}

// checkMoveAndBack moves every pod to every node and back, and checks that the prediction is the
// same as before.
func checkMoveAndBack(t *testing.T, m *ClusterModel, want prediction.Prediction) {
	t.Helper()
	for i := range m.Cluster.Snap.Pods {
		p := &m.Cluster.Snap.Pods[i]
		at := m.Cluster.NodeOf(p.ID)
		for n := range m.Cluster.Snap.Nodes {
			m.Cluster.Move(p.ID, m.Cluster.Snap.Nodes[n].ID)
		}
		m.Cluster.Move(p.ID, at)
	}
	if diff := cmp.Diff(want, m.Predict(podID(t, m, "x-0"))); diff != "" {
		t.Errorf("the prediction changed after moves and their reversal: %s", diff)
	}
}

// withHostPort gives a pod a host port.
func withHostPort(ip string, protocol corev1.Protocol, number int32) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostIP: ip, Protocol: protocol, HostPort: number}}
	}
}

func TestNodePorts(t *testing.T) {
	case2 := func(mine, other func(*corev1.PodSpec)) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			mine(&b.pod("x-0").Spec)
			b.app("y", 0, other, "b")
		}
	}
	initPort := func(policy *corev1.ContainerRestartPolicy) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "i", RestartPolicy: policy, Ports: []corev1.ContainerPort{{HostPort: 80}}}}
		}
	}
	always := corev1.ContainerRestartPolicyAlways
	runFeasibleCases(t, []feasibleCase{
		{"taken", case2(withHostPort("", "", 80), withHostPort("", "", 80)), "c", "a c", scheduler.NodePorts},
		{"another port", case2(withHostPort("", "", 80), withHostPort("", "", 81)), "b c", "a b c", ""},
		{"another protocol", case2(withHostPort("", "", 80), withHostPort("", "UDP", 80)), "b c", "a b c", ""},
		{"another address", case2(withHostPort("10.0.0.1", "", 80), withHostPort("10.0.0.2", "", 80)), "b c", "a b c", ""},
		{"any address there", case2(withHostPort("10.0.0.1", "", 80), withHostPort("0.0.0.0", "", 80)), "c", "a c", scheduler.NodePorts},
		{"any address here", case2(withHostPort("", "TCP", 80), withHostPort("10.0.0.2", "", 80)), "c", "a c", scheduler.NodePorts},
		{"of a sidecar", case2(initPort(&always), withHostPort("", "", 80)), "c", "a c", scheduler.NodePorts},
		{"of an init container", case2(initPort(nil), withHostPort("", "", 80)), "a b c", "a b c", ""},
	})
}

func TestVolumeRestrictions(t *testing.T) {
	disks := func(mine, other corev1.VolumeSource) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.pod("x-0").Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: mine}}
			b.app("y", 0, func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: other}} }, "b")
			b.csiNode("a", 9)
		}
	}
	gce := func(name string, readOnly bool) corev1.VolumeSource {
		return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
	}
	ebs := func(readOnly bool) corev1.VolumeSource {
		return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "v", ReadOnly: readOnly}}
	}
	iscsi := func(readOnly bool) corev1.VolumeSource {
		return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{IQN: "i", ReadOnly: readOnly}}
	}
	rbd := func(monitors ...string) corev1.VolumeSource {
		return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: "p", RBDImage: "i"}}
	}
	once := func(nodes ...string) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.boundClaim("c", nil).Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			b.pod("x-0").Spec.Volumes = claimVolumes("c")
			b.app("y", 0, func(s *corev1.PodSpec) { s.Volumes = claimVolumes("c") }, nodes...)
			b.csiNode("a", 9)
		}
	}
	runFeasibleCases(t, []feasibleCase{
		{"one disk", disks(gce("d", false), gce("d", false)), "c", "a c", scheduler.VolumeRestrictions},
		{"one disk, both read", disks(gce("d", true), gce("d", true)), "a b c", "a b c", ""},
		{"one disk, one reads", disks(gce("d", true), gce("d", false)), "a c", "a c", scheduler.VolumeRestrictions},
		{"two disks", disks(gce("d", false), gce("e", false)), "b c", "a b c", ""},
		{"EBS, both read", disks(ebs(true), ebs(true)), "c", "a c", scheduler.VolumeRestrictions},
		{"iSCSI", disks(iscsi(false), iscsi(false)), "c", "a c", scheduler.VolumeRestrictions},
		{"one Ceph image by a common monitor", disks(rbd("m", "n"), rbd("o", "n")), "c", "a c", scheduler.VolumeRestrictions},
		{"other Ceph clusters", disks(rbd("m"), rbd("o")), "b c", "a b c", ""},
		{"a claim for one pod, that of the victim", once(), "", "a b c", ""},
		{"a claim for one pod, which another has", once("c"), "", "", scheduler.VolumeRestrictions},
	})
}

func TestNodeDeclaredFeatures(t *testing.T) {
	needs := func(b *snapshotBuilder) {
		b.pod("x-0").Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	}
	runFeasibleCases(t, []feasibleCase{
		{"not declared", needs, "", "", scheduler.NodeDeclaredFeatures},
		{"declared on some", func(b *snapshotBuilder) {
			needs(b)
			b.objects.Nodes[1].Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"}
		}, "b", "b", ""},
		{"not needed", func(*snapshotBuilder) {}, "a b c", "a b c", ""},
	})
}

func TestNominatedPods(t *testing.T) {
	waits := func(priority, mine int32) func(*snapshotBuilder) {
		return func(b *snapshotBuilder) {
			b.app("y", 9950, nil, "")
			y := b.pod("y-0")
			y.Spec.Priority, y.Status.NominatedNodeName = &priority, "b"
			b.pod("x-0").Spec.Priority = &mine
		}
	}
	runFeasibleCases(t, []feasibleCase{
		{"of a higher priority", waits(10, 0), "a c", "a c", scheduler.NominatedPods},
		{"of the same priority", waits(5, 5), "a c", "a c", scheduler.NominatedPods},
		{"of a lower priority", waits(5, 6), "a b c", "a b c", ""},
		{"of another scheduler", func(b *snapshotBuilder) { waits(10, 0)(b); b.pod("y-0").Spec.SchedulerName = "trimaran" }, "a b c", "a b c", ""},
		{"that is not enough for affinity", func(b *snapshotBuilder) {
			b.app("y", 0, nil, "", "c")
			b.pod("y-0").Status.NominatedNodeName = "b"
			b.pod("x-0").Spec.Affinity = affinityTo("y", hostKey)
		}, "c", "c", scheduler.InterPodAffinity},
		{"that keeps others away", func(b *snapshotBuilder) {
			b.app("y", 0, nil, "")
			b.pod("y-0").Status.NominatedNodeName = "b"
			b.pod("x-0").Spec.Affinity = antiAffinityTo("y", zoneKey)
		}, "a c", "a c", scheduler.NominatedPods},
	})
}

// TestRequests: pod-level requests replace the sum of the containers' requests in the filter, and
// LeastAllocated ignores them. Overhead and sidecars are added.
func TestRequests(t *testing.T) {
	cpu := func(milli int64) corev1.ResourceList {
		return corev1.ResourceList{"cpu": *resource.NewMilliQuantity(milli, resource.DecimalSI)}
	}
	always := corev1.ContainerRestartPolicyAlways
	for _, c := range []struct {
		name             string
		edit             func(*corev1.PodSpec)
		request, assumed int64
	}{
		{"a container", func(*corev1.PodSpec) {}, 100, 100},
		{"none", func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests = nil }, 0, 100},
		{"overhead", func(s *corev1.PodSpec) { s.Overhead = cpu(70) }, 170, 170},
		{"pod level", func(s *corev1.PodSpec) { s.Resources = &corev1.ResourceRequirements{Requests: cpu(900)} }, 900, 100},
		{"init container", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: cpu(150)}}}
		}, 150, 150},
		{"sidecar", func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "i", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: cpu(150)}}}
		}, 250, 250},
	} {
		b := newSnapshotBuilder()
		b.node("a", "za")
		b.app("x", 100, c.edit, "a")
		request, assumed := model.RequestsOf(b.pod("x-0"), kubeversion.Of(kubeversion.Newest))
		if request.MilliCPU != c.request || assumed.MilliCPU != c.assumed {
			t.Errorf("%s: %dm and %dm, want %dm and %dm", c.name, request.MilliCPU, assumed.MilliCPU, c.request, c.assumed)
		}
	}
}

func ownerRef(p *corev1.Pod) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}
}
