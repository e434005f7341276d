package recording

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
)

func controllerReference(kind string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{Kind: kind, Name: "x", Controller: &yes}}
}

func TestProtectedPods(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  metav1.ObjectMeta
		want string
	}{
		{"ordinary", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet")}, ""},
		{"system", metav1.ObjectMeta{Namespace: "kube-system", OwnerReferences: controllerReference("ReplicaSet")}, "kube-system"},
		{"daemon", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("DaemonSet")}, "DaemonSet"},
		{"bare", metav1.ObjectMeta{Namespace: "workload-a"}, "no controller"},
		{"annotated", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet"),
			Annotations: map[string]string{"evenkeel.io/do-not-disrupt": "true"}}, "do-not-disrupt"},
		{"labeled", metav1.ObjectMeta{Namespace: "workload-a", OwnerReferences: controllerReference("ReplicaSet"),
			Labels: map[string]string{ProtectedLabel: "window"}}, "window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := protectionReason(&corev1.Pod{ObjectMeta: c.pod})
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAPodIsHealthyWhileReadyAndNotTerminating(t *testing.T) {
	p := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}}}
	if w := newRecordedPod(p); !w.Ready || w.Terminating || !w.ByEviction {
		t.Errorf("a Ready pod: %+v", w)
	}
	now := metav1.Now()
	p.DeletionTimestamp = &now
	if w := newRecordedPod(p); w.Ready || !w.Terminating {
		t.Errorf("a terminating pod: %+v", w)
	}
}

// TestAGapIsCounted checks that a watch with an expired resource version counts as a gap in the recording.
func TestAGapIsCounted(t *testing.T) {
	r := &Recorder{current: map[string]auditverifier.Change{}}
	w := watch.NewFakeWithChanSize(3, false)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "workload-a", Name: "x", ResourceVersion: "7"}}
	w.Add(pod)
	w.Error(&metav1.Status{Code: 410})
	if at := r.readWatch(watchedKind{name: "pods"}, w, "6"); at != "" {
		t.Errorf("watch continues at %q, want a new list", at)
	}
	if changes, gaps := r.Changes(); gaps != 1 || len(changes) != 1 || changes[0].Revision != 7 {
		t.Errorf("got %d gaps and changes %v", gaps, changes)
	}
}

// TestWhatVanishedUnseenIsGone checks that a list after a gap marks missing objects as deleted.
func TestWhatVanishedUnseenIsGone(t *testing.T) {
	r := &Recorder{current: map[string]auditverifier.Change{}}
	r.recordState("pods", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "workload-a", Name: "x", ResourceVersion: "7"}}, false)
	r.recordState("nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", ResourceVersion: "8"}}, false)
	r.recordDeleted("pods", map[string]bool{}, 9)
	changes, _ := r.Changes()
	if last := changes[len(changes)-1]; len(changes) != 3 || !last.Gone || last.Pod == nil || last.Revision != 9 {
		t.Errorf("%+v", changes)
	}
}
