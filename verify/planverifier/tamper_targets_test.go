package planverifier_test

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
)

// mark adds a configured mark of a kind.
func mark(m *planCase, kind, mark string) { m.rules.NodeMarks = targets.Marks{kind: {mark}} }

// editTemplate changes the pod of the first move whose lowest controller is a ReplicaSet, and its template.
func editTemplate(f func(m *planCase, ns string, s *corev1.PodSpec)) func(m *planCase) (string, bool) {
	return func(m *planCase) (string, bool) {
		for _, x := range m.plan.Moves {
			for _, rs := range m.o.ReplicaSets {
				if p := m.pod(x); metav1.IsControlledBy(p, rs) {
					f(m, p.Namespace, &rs.Spec.Template.Spec)
					f(m, p.Namespace, &p.Spec)
					return x.Pod.String(), true
				}
			}
		}
		return "", false
	}
}

// enforce sets the level of Pod Security of a namespace.
func enforce(m *planCase, namespace, level string) {
	for _, ns := range m.o.Namespaces {
		if ns.Name == namespace {
			ns.Labels["pod-security.kubernetes.io/enforce"] = level
		}
	}
}

// useVolume lets the pod use a claim on a volume.
func useVolume(m *planCase, p *corev1.Pod, source corev1.PersistentVolumeSource, affinity *corev1.VolumeNodeAffinity) {
	p.Spec.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}}}}
	m.o.PersistentVolumeClaims = append(m.o.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "x"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "x"}})
	m.o.PersistentVolumes = append(m.o.PersistentVolumes, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, PersistentVolumeSource: source, NodeAffinity: affinity}})
}

// useToo adds a pod that uses the volumes of another one.
func useToo(m *planCase, p *corev1.Pod, node string) {
	m.o.Pods = append(m.o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "user", UID: "user"},
		Spec: corev1.PodSpec{NodeName: node, Volumes: p.Spec.Volumes}})
}

// attached is a volume that can be attached to one node at a time.
var attached = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "x"}}

// targetTampers change the cluster so that the replacement of a planned move cannot run on its node, or is refused.
var targetTampers = []tampering{
	{"a target without the runtime handler", plan.OnlyRefusingNodes, func(m *planCase) (string, bool) {
		m.pod(m.plan.Moves[0]).Spec.RuntimeClassName = new("sandbox")
		m.o.RuntimeClasses = append(m.o.RuntimeClasses, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "h"})
		return editTargetNode(func(m *planCase, n *corev1.Node) {
			n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "other"}}
		})(m)
	}},
	{"a target with a configured label", plan.OnlyLeavingNodes, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.Labels["example.com/pool-state"] = "old"
		mark(m, "outgoing", "label:example.com/pool-state=old")
	})},
	{"a target with a configured taint", plan.OnlyUnhealthyNodes, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/warming", Value: "x", Effect: corev1.TaintEffectPreferNoSchedule})
		mark(m, "starting", "taint:example.com/*")
	})},
	{"a target with a configured condition", plan.OnlyUnhealthyNodes, editTargetNode(func(m *planCase, n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "FabricReady", Status: corev1.ConditionFalse})
		mark(m, "unhealthy", "condition:FabricReady=False")
	})},
	{"a node that a program of the configuration drains", plan.NodeBeingDrained, editSourceNode(func(m *planCase, n *corev1.Node) {
		n.Labels["example.com/drain"] = "now"
		mark(m, "draining", "label:example.com/drain=now")
	})},
	{"a new architecture", plan.OnlyUnprovenPlatforms, func(m *planCase) (string, bool) {
		m.rules.NewArchitectures = false
		for _, n := range m.o.Nodes {
			n.Status.NodeInfo.OperatingSystem, n.Status.NodeInfo.Architecture = "linux", "amd64"
		}
		return editTargetNode(func(m *planCase, n *corev1.Node) {
			for _, p := range m.o.Pods {
				if p.Spec.NodeName == n.Name {
					p.Spec.NodeName = "" // no Ready pod of the workload runs there
				}
			}
			n.Status.NodeInfo.Architecture = "arm64"
		})(m)
	}},
	{"a volume that another pod uses", plan.VolumeInUse, editFirstPod(func(m *planCase, p *corev1.Pod) {
		useVolume(m, p, attached, nil)
		useToo(m, p, p.Spec.NodeName)
	})},
	{"a volume that a pod on the target uses", plan.VolumeInUse, editFirstPod(func(m *planCase, p *corev1.Pod) {
		useVolume(m, p, attached, nil)
		useToo(m, p, m.plan.Moves[0].To)
	})},
	{"a volume that is attached elsewhere", plan.VolumeInUse, editFirstPod(func(m *planCase, p *corev1.Pod) {
		useVolume(m, p, attached, nil)
		m.o.VolumeAttachments = append(m.o.VolumeAttachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec: storagev1.VolumeAttachmentSpec{NodeName: "elsewhere", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("x")}}})
	})},
	{"a disk in the pod spec that another pod uses", plan.VolumeInUse, editFirstPod(func(m *planCase, p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "x"}}}}
		useToo(m, p, p.Spec.NodeName)
	})},
	{"a claim on a hostPath", plan.LocalStorage, editFirstPod(func(m *planCase, p *corev1.Pod) {
		m.rules.Protect["PodsWithLocalStorage"] = false
		useVolume(m, p, corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}, nil)
	})},
	{"a claim on a local volume", plan.LocalStorage, editFirstPod(func(m *planCase, p *corev1.Pod) {
		m.rules.Protect["PodsWithLocalStorage"] = true
		useVolume(m, p, corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/x"}}, &corev1.VolumeNodeAffinity{})
	})},
	{"a template that Pod Security baseline forbids", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		s.HostNetwork = true
		enforce(m, ns, "baseline")
	})},
	{"a template that Pod Security restricted forbids", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		enforce(m, ns, "Restricted") // a level that cannot be read is restricted
	})},
	{"a container above a LimitRange", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		m.o.LimitRanges = []*corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": resource.MustParse("1m")}}}}}}
	})},
	{"a pod below a LimitRange", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		m.o.LimitRanges = []*corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypePod, Min: corev1.ResourceList{"cpu": resource.MustParse("1000")}}}}}}
	})},
	{"a PriorityClass that is gone", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) { s.PriorityClassName = "nowhere" })},
	{"a PriorityClass with another value", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		s.PriorityClassName, s.Priority = "changed", new(int32(1))
		m.o.PriorityClasses = append(m.o.PriorityClasses, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "changed"}, Value: 2})
	})},
	{"a RuntimeClass that is gone", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) {
		s.RuntimeClassName = new("nowhere")
		m.o.RuntimeClasses = append(m.o.RuntimeClasses, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	})},
	{"a ServiceAccount that is gone", plan.ReplacementRefused, editTemplate(func(m *planCase, ns string, s *corev1.PodSpec) { s.ServiceAccountName = "nobody" })},
}
