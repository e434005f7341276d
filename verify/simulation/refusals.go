package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// refusalMarks are the values of placement with which AddRefusals marks nodes.
const refusalMarks = `nodeMarks: {starting: ["taint:example.com/gpu-not-ready"], outgoing: ["label:example.com/pool-state=old"], ` +
	`draining: ["label:example.com/drain=*"], unhealthy: ["condition:FabricReady=False"]}, newArchitectures: %v`

// AddRefusals adds to a cluster what is behind the scheduler: nodes to which no pods are sent, or not all, volumes
// that bind pods to a node, and objects because of which admission refuses replacements. It returns the settings
// with the marks.
func AddRefusals(r *rand.Rand, o *cluster.Objects, settings string) string {
	v := &violations{r, o}
	for i, n := range o.Nodes {
		v.refuseOnNode(n)
		o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disk.example.com", NodeID: n.Name}}}})
		if n.Status.RuntimeHandlers == nil && (i == 0 || r.IntN(4) > 0) {
			n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runsc"}}
		}
	}
	for _, name := range []string{"gvisor", "other"} {
		o.RuntimeClasses = append(o.RuntimeClasses, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: "runsc"})
	}
	for _, ns := range o.Namespaces {
		v.refuseInNamespace(ns)
	}
	for _, a := range v.apps() {
		v.refuseApp(a)
	}
	marks := fmt.Sprintf(refusalMarks, r.IntN(3) == 0)
	if strings.Contains(settings, "placement: {") {
		return strings.Replace(settings, "placement: {", "placement: {"+marks+", ", 1)
	}
	return settings + "placement: {" + marks + "}\n"
}

func (v *violations) refuseOnNode(n *corev1.Node) {
	n.Status.NodeInfo.OperatingSystem, n.Status.NodeInfo.Architecture = "linux", pickRandom(v.r, "amd64", "amd64", "amd64", "arm64")
	taint := func(key string) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectPreferNoSchedule})
	}
	condition := func(of string, is corev1.ConditionStatus) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(of), Status: is})
	}
	switch v.r.IntN(24) {
	case 0:
		taint("example.com/gpu-not-ready")
	case 1:
		n.Labels["example.com/pool-state"] = "old"
	case 2:
		n.Labels["example.com/drain"] = "now"
	case 3:
		condition("FabricReady", corev1.ConditionFalse)
	case 4:
		condition("DiskPressure", corev1.ConditionTrue)
	case 5:
		condition("MemoryPressure", corev1.ConditionTrue)
	case 6:
		taint("DeletionCandidateOfClusterAutoscaler")
	case 7, 8, 9:
		n.Annotations = map[string]string{"evenkeel.io/exclude": "true"}
	case 10, 11:
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example.com/other:v1"}}}
	case 12, 13, 14:
		n.Status.RuntimeHandlers = []corev1.NodeRuntimeHandler{{Name: pickRandom(v.r, "", "runc")}}
	}
}

func (v *violations) refuseInNamespace(ns *corev1.Namespace) {
	switch v.r.IntN(16) {
	case 0, 1, 2:
		ns.Labels = map[string]string{"team": ns.Labels["team"], "pod-security.kubernetes.io/enforce": "baseline"}
	case 3:
		ns.Labels = map[string]string{"team": ns.Labels["team"], "pod-security.kubernetes.io/enforce": pickRandom(v.r, "restricted", "Baseline")}
	case 4, 5, 6:
		x := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": resource.MustParse("600m")}}
		if v.r.IntN(2) == 0 {
			x = corev1.LimitRangeItem{Type: corev1.LimitTypePod, Min: corev1.ResourceList{"cpu": resource.MustParse("200m")}}
		}
		v.o.LimitRanges = append(v.o.LimitRanges, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{x}}})
	}
}

func (v *violations) refuseApp(a app) {
	switch v.r.IntN(24) {
	case 0, 1, 2:
		v.edit(a, func(s *corev1.PodSpec) { s.RuntimeClassName = new("gvisor") })
	case 3:
		v.edit(a, func(s *corev1.PodSpec) { s.RuntimeClassName = new("gone") })
	case 4:
		v.edit(a, func(s *corev1.PodSpec) { s.ServiceAccountName = "gone" })
	case 5:
		v.edit(a, func(s *corev1.PodSpec) { s.PriorityClassName, s.Priority = "gone", new(int32(0)) })
	case 6:
		v.edit(a, func(s *corev1.PodSpec) { s.HostIPC = true })
	case 7:
		v.edit(a, func(s *corev1.PodSpec) { s.Containers[0].ImagePullPolicy = corev1.PullNever })
	case 8:
		v.edit(a, func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: corev1.Linux} })
	case 9, 10:
		v.addVolume(a, corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: a.ns + a.name}})
	case 11:
		v.addVolume(a, corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}})
	}
}

// addVolume lets all pods of a workload use one volume.
func (v *violations) addVolume(a app, source corev1.PersistentVolumeSource) {
	once := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size := corev1.ResourceList{"storage": resource.MustParse("1Gi")}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: a.name + "-disk",
		Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: once, StorageClassName: new(""), VolumeName: a.ns + "-" + a.name,
			Resources: corev1.VolumeResourceRequirements{Requests: size}}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	v.o.PersistentVolumeClaims = append(v.o.PersistentVolumeClaims, claim)
	v.o.PersistentVolumes = append(v.o.PersistentVolumes, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: a.ns + "-" + a.name},
		Spec: corev1.PersistentVolumeSpec{AccessModes: once, Capacity: size, PersistentVolumeSource: source,
			ClaimRef: &corev1.ObjectReference{Namespace: a.ns, Name: claim.Name}}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}})
	v.edit(a, func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "disk", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}}
	})
}
