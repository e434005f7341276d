package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const (
	diskDriver = "disk.example.com"
	// attachAnnotation asks the attach-detach controller to manage a node. A kubelet sets it.
	attachAnnotation = "volumes.kubernetes.io/controller-managed-attach-detach"
	hotRequests      = `
limits: {perOwner: unlimited, perNamespace: unlimited}
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.5}}}
`
)

// TestAVolumeInUseBindsItsPods has two pods on n1 that share a ReadWriteOnce claim. The attach-detach controller
// refuses the volume to a pod that the scheduler puts on n2, so no pod of the claim moves. Once the volume has
// ReadWriteMany, one does. There is no kubelet: the test plays the part of the CSI driver's attacher, and nothing is
// mounted.
func TestAVolumeInUseBindsItsPods(t *testing.T) {
	createDisks(t)
	ns := seedApps(t, []seed.App{{Name: "cms", MilliCPU: 3000, MemoryMi: 512, Nodes: []string{"n1", "n1"}, GraceSeconds: 1,
		Change: func(spec *corev1.PodSpec) { spec.Volumes = sharedVolume() }}})
	volume := createSharedClaim(t, ns)
	attachVolume(t, volume, "n1")

	config := testbed.ConfigFile(t, hotRequests)
	if r := onePass(t, config, ns); len(r.Spec.Moves) > 0 || r.NotMoved()["VolumeInUse"] == 0 {
		t.Errorf("%d moves, rejections %v; want none, and VolumeInUse", len(r.Spec.Moves), r.NotMoved())
	}
	checkEvictions(t, ns, 0)
	checkMultiAttach(t, ns, "n2")

	pv := must.Get(lab.Client.CoreV1().PersistentVolumes().Get(t.Context(), volume, metav1.GetOptions{}))(t)
	pv.Spec.AccessModes = append(pv.Spec.AccessModes, corev1.ReadWriteMany)
	if _, err := lab.Client.CoreV1().PersistentVolumes().Update(t.Context(), pv, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := onePass(t, config, ns); len(r.Outcomes()) != 1 {
		t.Errorf("with ReadWriteMany the outcomes are %q, rejections %v; want one eviction", r.OutcomeCodes(), r.NotMoved())
	}
	checkEvictions(t, ns, 1)
}

func sharedVolume() []corev1.Volume {
	return []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "shared"}}}}
}

// createDisks installs a CSI driver that must attach its volumes, until the test ends.
func createDisks(t *testing.T) {
	t.Helper()
	ctx, api := t.Context(), lab.Client.StorageV1()
	attach, wait, count := true, storagev1.VolumeBindingWaitForFirstConsumer, int32(8)
	if _, err := api.CSIDrivers().Create(ctx, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: diskDriver},
		Spec: storagev1.CSIDriverSpec{AttachRequired: &attach}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.StorageClasses().Create(ctx, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Provisioner: diskDriver,
		VolumeBindingMode: &wait}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	nodes := []string{"n1", "n2", "n3"}
	for _, n := range nodes {
		if _, err := api.CSINodes().Create(ctx, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: diskDriver, NodeID: n, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		patchNode(t, n, map[string]any{"metadata": map[string]any{"annotations": map[string]any{attachAnnotation: "true"}}})
	}
	t.Cleanup(func() {
		ctx, all := context.Background(), metav1.ListOptions{}
		for _, n := range nodes {
			patchNode(t, n, map[string]any{"metadata": map[string]any{"annotations": map[string]any{attachAnnotation: nil}}})
		}
		for what, err := range map[string]error{
			"CSINodes":          api.CSINodes().DeleteCollection(ctx, metav1.DeleteOptions{}, all),
			"VolumeAttachments": api.VolumeAttachments().DeleteCollection(ctx, metav1.DeleteOptions{}, all),
			"PersistentVolumes": lab.Client.CoreV1().PersistentVolumes().DeleteCollection(ctx, metav1.DeleteOptions{}, all),
			"StorageClass":      api.StorageClasses().Delete(ctx, "disk", metav1.DeleteOptions{}),
			"CSIDriver":         api.CSIDrivers().Delete(ctx, diskDriver, metav1.DeleteOptions{}),
		} {
			if err != nil {
				t.Errorf("deleting %s: %v", what, err)
			}
		}
	})
}

// createSharedClaim binds claim shared to a ReadWriteOnce volume, as the controllers of volumes do. The finalizers that
// admission adds are removed, because the controllers that take them away do not run.
func createSharedClaim(t *testing.T, ns string) (volume string) {
	t.Helper()
	ctx, core, class := t.Context(), lab.Client.CoreV1(), "disk"
	once, size := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, corev1.ResourceList{"storage": resource.MustParse("1Gi")}
	volume = "pv-" + ns
	claim, err := core.PersistentVolumeClaims(ns).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "shared", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: once, StorageClassName: &class, VolumeName: volume,
			Resources: corev1.VolumeResourceRequirements{Requests: size}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pv, err := core.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: volume},
		Spec: corev1.PersistentVolumeSpec{AccessModes: once, Capacity: size, StorageClassName: class,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: ns, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: diskDriver, VolumeHandle: volume}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pv.Finalizers = nil
	if pv, err = core.PersistentVolumes().Update(ctx, pv, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	pv.Status.Phase = corev1.VolumeBound
	if _, err := core.PersistentVolumes().UpdateStatus(ctx, pv, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim.Finalizers = nil
	if claim, err = core.PersistentVolumeClaims(ns).Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: once, Capacity: size}
	if _, err := core.PersistentVolumeClaims(ns).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return volume
}

// attachVolume waits for the VolumeAttachment of the attach-detach controller, and answers it as the driver's attacher.
func attachVolume(t *testing.T, volume, node string) {
	t.Helper()
	api := lab.Client.StorageV1().VolumeAttachments()
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		list, err := api.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			va := &list.Items[i]
			if va.Spec.NodeName == node && va.Spec.Source.PersistentVolumeName != nil && *va.Spec.Source.PersistentVolumeName == volume {
				va.Status.Attached = true
				_, err := api.UpdateStatus(t.Context(), va, metav1.UpdateOptions{})
				return err == nil, err
			}
		}
		return false, nil
	}); err != nil {
		t.Fatalf("attaching %s to %s: %v", volume, node, err)
	}
}

// checkMultiAttach checks that the scheduler puts a pod with the claim on another node, where the volume is refused.
func checkMultiAttach(t *testing.T, ns, node string) {
	t.Helper()
	pods, no := lab.Client.CoreV1().Pods(ns), int64(0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"kubernetes.io/hostname": node}, TerminationGracePeriodSeconds: &no,
		Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10"}},
		Volumes:    sharedVolume()}}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		list, err := lab.Client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == pod.Name && e.Reason == "FailedAttachVolume" && strings.Contains(e.Message, "already used by pod(s) cms") {
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		t.Errorf("no event says that the volume is refused to %s: %v", node, err)
	}
	must.Succeed(t, pods.Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &no}))
}
