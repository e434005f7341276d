package guard

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// schedulerPod returns a pod of the default scheduler that is age old. A PodScheduled condition has the given reason;
// "" means no condition.
func schedulerPod(name string, age time.Duration, priority int32, reason string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(schedulerTestNow.Add(-age))},
		Spec:       corev1.PodSpec{Priority: ptr.To(priority)},
	}
	if reason != "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason}}
	}
	return p
}

var schedulerTestNow = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// TestWhichWaitingPodsStopEvictions has a victim of priority 10 and a pod that has waited for an hour.
func TestWhichWaitingPodsStopEvictions(t *testing.T) {
	waiting := func(priority int32) *corev1.Pod { return schedulerPod("waiting", time.Hour, priority, "") }
	tried := func(age time.Duration, priority int32) *corev1.Pod {
		return schedulerPod("tried", age, priority, corev1.PodReasonUnschedulable)
	}
	bound := func(kind, name string) *corev1.Pod { // the kubelet sets the condition of every pod that it runs
		p := schedulerPod("bound", time.Minute, 10, "")
		p.Spec.NodeName = "n1"
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(name),
				Controller: new(true)}}
		}
		return p
	}
	with := func(p *corev1.Pod, change func(p *corev1.Pod)) *corev1.Pod { change(p); return p }
	for _, tc := range []struct {
		name    string
		pods    []*corev1.Pod
		refused bool
	}{
		{"nothing else was tried", []*corev1.Pod{waiting(10)}, true},
		{"it has waited for less than the timeout", []*corev1.Pod{schedulerPod("waiting", 30*time.Second, 10, "")}, false},
		{"a newer pod of the same priority was tried", []*corev1.Pod{waiting(10), tried(time.Minute, 10)}, false},
		{"a newer pod of a higher priority was tried", []*corev1.Pod{waiting(10), tried(time.Minute, 11)}, true},
		{"a pod of the same second was tried", []*corev1.Pod{waiting(10), tried(time.Hour, 10)}, true},
		{"an older pod was tried", []*corev1.Pod{waiting(10), tried(2*time.Hour, 10)}, true},
		{"it has a lower priority than the victim", []*corev1.Pod{waiting(9)}, true},
		{"it has a lower priority than the victim, and a newer pod was tried", []*corev1.Pod{waiting(9), tried(time.Minute, 11)}, false},
		{"it has a lower priority than the victim, and a newer pod was tried too long ago",
			[]*corev1.Pod{waiting(9), tried(61*time.Second, 11)}, true},
		{"a newer pod of a ReplicaSet was bound", []*corev1.Pod{waiting(10), bound("ReplicaSet", "web")}, false},
		{"a newer pod of a DaemonSet was bound", []*corev1.Pod{waiting(10), bound("DaemonSet", "agent")}, false},
		{"a newer pod was created with a node", []*corev1.Pod{waiting(10), bound("", "")}, true},
		{"a newer pod was created with the node of its template",
			[]*corev1.Pod{waiting(10), bound("ReplicaSet", "pinned")}, true},
		{"a newer pod of an unknown controller has a node", []*corev1.Pod{waiting(10), bound("Game", "chess")}, true},
		{"a newer pod of another scheduler was tried",
			[]*corev1.Pod{waiting(10), with(tried(time.Minute, 10), func(p *corev1.Pod) { p.Spec.SchedulerName = "binpack" })}, true},
		{"a newer mirror pod runs", []*corev1.Pod{waiting(10), with(bound("Node", "n1"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		})}, true},
		{"a newer pod has a scheduling gate", []*corev1.Pod{waiting(10),
			schedulerPod("gated", time.Minute, 10, corev1.PodReasonSchedulingGated)}, true},
		{"one of two was passed over",
			[]*corev1.Pod{waiting(10), tried(time.Minute*30, 10), schedulerPod("later", 20*time.Minute, 10, "")}, true},
		{"it has a resource claim", []*corev1.Pod{with(waiting(10), func(p *corev1.Pod) {
			p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
		})}, false},
		{"it belongs to a group", []*corev1.Pod{with(waiting(10), func(p *corev1.Pod) {
			p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
		})}, false},
		{"it has a scheduling gate", []*corev1.Pod{with(waiting(10), func(p *corev1.Pod) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		})}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pinned := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pinned", UID: "pinned"}}
			pinned.Spec.Template.Spec.NodeName = "n1"
			s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
				Pods:        append(tc.pods, schedulerPod("victim", 24*time.Hour, 10, "x")),
				ReplicaSets: []*appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"}}, pinned},
				DaemonSets:  []*appsv1.DaemonSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent", UID: "agent"}}},
			}))(t)
			opts := DefaultOptions()
			msg, refused := schedulerNotResponding.Check(Input{Snapshot: s, Pod: s.PodByKey("shop/victim"), Now: schedulerTestNow,
				Options: &opts, Cache: NewCache()})
			if refused != tc.refused {
				t.Errorf("refused %t (%s), want %t", refused, msg, tc.refused)
			}
		})
	}
}
