package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// longAgo is the age of a pod without creationTimestamp, which the descheduler takes as infinitely
// old.
const longAgo = 365 * 24 * time.Hour

// completedObjects returns the objects of a case with the fields and the objects that a real
// cluster has. It changes no value that is set, except the kind of an owner that owns no pods in a
// real cluster.
func completedObjects(c *recordedCase) (*cluster.Objects, error) {
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": c.Objects})
	if err != nil {
		return nil, err
	}
	o := &cluster.Objects{TakenAt: c.Now}
	if err := cluster.Read(bytes.NewReader(list), c.ID, o); err != nil {
		return nil, err
	}
	for _, p := range o.Pods {
		completePod(p, c.Now)
	}
	for _, n := range o.Nodes {
		completeNode(n)
		n.Labels[passedNode] = ""
	}
	addMissingNodes(o)
	addOwners(o)
	if !protectsStorageClasses(c) {
		addMissingClaims(o)
	}
	bindClaims(o)
	return o, nil
}

func completeNode(n *corev1.Node) {
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	if n.Labels[corev1.LabelHostname] == "" {
		n.Labels[corev1.LabelHostname] = n.Name
	}
	if n.UID == "" {
		n.UID = types.UID("node-" + n.Name)
	}
}

// addMissingNodes adds a cordoned node for each node that only pods name. A node that does not
// exist takes no pods.
func addMissingNodes(o *cluster.Objects) {
	known := map[string]bool{"": true}
	for _, n := range o.Nodes {
		known[n.Name] = true
	}
	for _, p := range o.Pods {
		name := p.Spec.NodeName
		if known[name] {
			continue
		}
		known[name] = true
		has := corev1.ResourceList{"cpu": resource.MustParse("100"), "memory": resource.MustParse("100Gi"), "pods": resource.MustParse("100")}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: true},
			Status: corev1.NodeStatus{Capacity: has, Allocatable: has,
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		completeNode(n)
		o.Nodes = append(o.Nodes, n)
	}
}

// completePod sets the names of containers and the status of a pod.
func completePod(p *corev1.Pod, now time.Time) {
	if p.UID == "" {
		p.UID = types.UID(p.Namespace + "/" + p.Name)
	}
	if p.CreationTimestamp.IsZero() {
		p.CreationTimestamp = metav1.NewTime(now.Add(-longAgo))
	}
	for i := range p.Spec.Containers {
		if c := &p.Spec.Containers[i]; c.Name == "" {
			c.Name = fmt.Sprintf("container-%d", i+1)
		}
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.Name == "" {
			c.Name = fmt.Sprintf("init-%d", i+1)
		}
	}
	s := &p.Status
	if s.Phase == "" {
		s.Phase = corev1.PodRunning
	}
	if s.StartTime == nil {
		s.StartTime = &p.CreationTimestamp
	}
	if s.Phase == corev1.PodRunning && !hasCondition(s, corev1.PodReady) {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: readyStatus(s)})
	}
	if s.Phase == corev1.PodFailed && len(s.Conditions) == 0 {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse,
			Reason: "PodFailed", LastTransitionTime: p.CreationTimestamp})
	}
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			if t := list[i].State.Terminated; t != nil && t.FinishedAt.IsZero() {
				t.FinishedAt = p.CreationTimestamp
			}
		}
	}
}

func hasCondition(s *corev1.PodStatus, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
}

// readyStatus says whether a running pod is Ready: no container of it waits or has ended.
func readyStatus(s *corev1.PodStatus) corev1.ConditionStatus {
	for _, c := range s.ContainerStatuses {
		if c.State.Waiting != nil || c.State.Terminated != nil {
			return corev1.ConditionFalse
		}
	}
	return corev1.ConditionTrue
}

// protectsStorageClasses reports whether the class of a claim decides. A missing claim then means
// an unknown class.
func protectsStorageClasses(c *recordedCase) bool {
	protections, _ := c.Evictor["podProtections"].(map[string]any)
	return protections["config"] != nil
}

// addMissingClaims adds a claim, bound to a volume without a node affinity, for each claim that
// only pods name.
func addMissingClaims(o *cluster.Objects) {
	known := map[types.NamespacedName]bool{}
	for _, claim := range o.PersistentVolumeClaims {
		known[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = true
	}
	for _, p := range o.Pods {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			key := types.NamespacedName{Namespace: p.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
			if !known[key] {
				known[key] = true
				o.PersistentVolumeClaims = append(o.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
					Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}}})
			}
		}
	}
}

// bindClaims binds each claim to a volume of its own, and adds the storage classes that claims
// name.
func bindClaims(o *cluster.Objects) {
	classes := map[string]bool{}
	for _, claim := range o.PersistentVolumeClaims {
		if claim.Spec.VolumeName == "" {
			bindClaim(o, claim)
		}
		if name := ptr.Deref(claim.Spec.StorageClassName, ""); name != "" && !classes[name] {
			classes[name] = true
			o.StorageClasses = append(o.StorageClasses, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/nfs"})
		}
	}
}

func bindClaim(o *cluster.Objects, claim *corev1.PersistentVolumeClaim) {
	name := "volume-" + claim.Namespace + "-" + claim.Name
	claim.UID, claim.Spec.VolumeName = types.UID(name), name
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	claim.Status.Phase = corev1.ClaimBound
	o.PersistentVolumes = append(o.PersistentVolumes, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{AccessModes: claim.Spec.AccessModes, StorageClassName: ptr.Deref(claim.Spec.StorageClassName, ""),
			PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs", Path: "/"}},
			ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}})
}
