package main

import (
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestSnapshotsAreSeeded seeds a cluster on an API that gives every object a new UID, and checks owners, claims, and
// the pods.
func TestSnapshotsAreSeeded(t *testing.T) {
	o := simulation.FiveSizes(rand.New(rand.NewPCG(1, 1)), 10, 200)
	o.Pods[0].DeletionTimestamp = &metav1.Time{Time: t0}
	o.Pods[1].Status.Phase = corev1.PodSucceeded
	o.Pods[2].Spec.Containers[0].Image = "" // a redacted snapshot
	o.Pods[2].Spec.Priority = new(int32(7))
	o.PersistentVolumeClaims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns0", Name: "c", UID: "claim"},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	o.PersistentVolumes = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{UID: "claim"}}}}
	o.Jobs = []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns0", Name: "j"}}}
	client := fake.NewClientset()
	client.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		x := a.(clienttesting.CreateAction).GetObject().(metav1.Object)
		if x.GetUID() != "" || x.GetResourceVersion() != "" {
			t.Errorf("created %T %s with a UID or resource version", x, x.GetName())
		}
		x.SetUID(types.UID("new-" + x.GetName()))
		return false, nil, nil
	})
	want := len(o.Pods) - 2
	must.Succeed(t, newSeeder(client).create(t.Context(), o))
	pods := must.Get(client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}))(t).Items
	if len(pods) != want {
		t.Errorf("%d pods, want %d", len(pods), want)
	}
	for _, p := range pods {
		owner := p.OwnerReferences[0]
		if owner.UID != types.UID("new-"+owner.Name) || !isReady(&p) || len(p.Status.Conditions) != 4 || len(p.Status.ContainerStatuses) != 1 ||
			p.Spec.Containers[0].Image == "" || p.Spec.Priority != nil || p.Status.StartTime.After(t0.Add(time.Hour)) {
			t.Errorf("pod %s of %s: %+v", p.Name, owner.UID, p.Status)
		}
	}
	node := must.Get(client.CoreV1().Nodes().Get(t.Context(), "n00009", metav1.GetOptions{}))(t)
	if gpus := node.Status.Capacity["nvidia.com/gpu"]; gpus.Value() != 8 || node.Annotations["kwok.x-k8s.io/node"] != "fake" {
		t.Errorf("node n00009: %v, %v", node.Status.Capacity, node.Annotations)
	}
	claim := must.Get(client.CoreV1().PersistentVolumeClaims("ns0").Get(t.Context(), "c", metav1.GetOptions{}))(t)
	volume := must.Get(client.CoreV1().PersistentVolumes().Get(t.Context(), "v", metav1.GetOptions{}))(t)
	if claim.Status.Phase != corev1.ClaimBound || volume.Spec.ClaimRef.UID != "new-c" {
		t.Errorf("claim %v, volume of %v", claim.Status.Phase, volume.Spec.ClaimRef.UID)
	}
	job := must.Get(client.BatchV1().Jobs("ns0").Get(t.Context(), "j", metav1.GetOptions{}))(t)
	if job.Spec.ManualSelector == nil || !*job.Spec.ManualSelector {
		t.Error("the Job gets another selector")
	}
}
