package history

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
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestActiveBackground: an eviction is in flight until the pod is gone and its workload has all its
// Ready pods. Deployment d wants 2 pods; nobody knows how many pods Rollout r wants.
func TestActiveBackground(t *testing.T) {
	newPod := func(name string, edit func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "d-x", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "d", Controller: ptr.To(true)}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
		if edit != nil {
			edit(p)
		}
		return p
	}
	victim := func(edit func(*corev1.Pod)) *corev1.Pod {
		return newPod("victim", func(p *corev1.Pod) {
			p.UID = "victim"
			if edit != nil {
				edit(p)
			}
		})
	}
	rollout := newPod("other", func(p *corev1.Pod) {
		p.UID, p.OwnerReferences[0] = "other", metav1.OwnerReference{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "r", UID: "r", Controller: ptr.To(true)}
	})
	one, two := newPod("d-1", func(p *corev1.Pod) { p.UID = "d-1" }), newPod("d-2", func(p *corev1.Pod) { p.UID = "d-2" })
	unready := newPod("d-2", func(p *corev1.Pod) { p.UID, p.Status.Conditions = "d-2", nil })
	terminating := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	d := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}
	r := plan.ObjectRef{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Namespace: "shop", Name: "r"}
	deleted := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "deleted"}
	for _, c := range []struct {
		name     string
		pods     []*corev1.Pod
		workload plan.ObjectRef
		age      time.Duration
		active   [2]bool // an eviction that another program executes, and one that awaits its replacement
	}{
		{"the pod runs", []*corev1.Pod{victim(nil), one}, d, time.Minute, [2]bool{true, true}},
		{"the pod still runs when no call can commit any more", []*corev1.Pod{victim(nil), one}, d, CommitTimeout, [2]bool{true, false}},
		{"the pod terminates", []*corev1.Pod{victim(terminating), one, two}, d, 10 * time.Minute, [2]bool{true, true}},
		{"the pod has ended, and its replacement is missing", []*corev1.Pod{victim(ended), one}, d, time.Minute, [2]bool{true, true}},
		{"the pod has ended, and its replacement is Ready", []*corev1.Pod{victim(ended), one, two}, d, time.Minute, [2]bool{}},
		{"the pod is gone, and its replacement is missing", []*corev1.Pod{one}, d, time.Minute, [2]bool{true, true}},
		{"no pod is left", nil, d, time.Minute, [2]bool{true, true}},
		{"the replacement is not Ready", []*corev1.Pod{one, unready}, d, time.Minute, [2]bool{true, true}},
		{"the replacement terminates", []*corev1.Pod{one, newPod("d-2", terminating)}, d, time.Minute, [2]bool{true, true}},
		{"the replacement is Ready", []*corev1.Pod{one, two}, d, time.Minute, [2]bool{}},
		{"nobody knows whether a replacement is missing", []*corev1.Pod{rollout}, r, time.Minute, [2]bool{false, true}},
		{"the workload is deleted", []*corev1.Pod{one, two}, deleted, time.Minute, [2]bool{}},
		{"the time is over", []*corev1.Pod{victim(nil)}, d, time.Hour, [2]bool{}},
	} {
		s := must.Get(cluster.New(&cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}, Pods: c.pods, Deployments: []*appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop",
			Name: "d", UID: "d"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(2))}}}}))(t)
		for i, awaits := range []bool{false, true} {
			st := plan.PlannerState{Background: []plan.BackgroundEviction{{Pod: plan.PodRef{Namespace: "shop", Name: "victim", UID: "victim"},
				Workload: c.workload, From: "n1", Since: noon, Until: noon.Add(time.Hour), AwaitsReplacement: awaits}}}
			if got := len(ActiveBackground(st, s, noon.Add(c.age))) == 1; got != c.active[i] {
				t.Errorf("%s, awaits its replacement %v: in flight %v, want %v", c.name, awaits, got, c.active[i])
			}
			_, late := FollowBackground(st, s, noon.Add(c.age), opts)
			if want := c.age == time.Hour && !awaits; (len(late) == 1) != want {
				t.Errorf("%s, awaits its replacement %v: late %+v, want one: %v", c.name, awaits, late, want)
			}
		}
	}
}

// TestARequestWithoutAnAnswerIsNotRepeated: if an operator may be moving the pod, the request counts until its time is
// over although the pod still runs. Then the workload backs off.
func TestARequestWithoutAnAnswerIsNotRepeated(t *testing.T) {
	o := Options{Initial: 10 * time.Minute, BackgroundTimeout: 30 * time.Minute}
	for only, want := range map[plan.RequestOnly]bool{"": false, plan.ByOwner: true, plan.ByAnnotation: true} {
		m := newMove(1, "vm")
		m.RequestOnly = only
		st := Reserve(plan.PlannerState{}, plan.OpenRun{RunID: "r"}, []plan.Move{m}, noon)
		st, _ = RecordOutcomes(st, "r", []plan.Outcome{newOutcome(m, plan.UnknownOutcome, plan.OutcomeUnknown)}, noon, o)
		st.Backoffs = nil
		s := must.Get(cluster.New(&cluster.Objects{TakenAt: noon, Nodes: []*corev1.Node{{}}, Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop",
			Name: m.Pod.Name, UID: types.UID(m.Pod.UID)}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}}))(t)
		if got := len(ActiveBackground(st, s, noon.Add(2*CommitTimeout))) == 1; got != want {
			t.Errorf("request only by %q: in flight after the longest call %t, want %t", only, got, want)
		}
		st, _ = FollowBackground(st, s, noon.Add(o.BackgroundTimeout), o)
		if _, held := ActiveBackoff(st, WorkloadOfMove(m), noon.Add(o.BackgroundTimeout)); held != want || len(st.Background) > 0 {
			t.Errorf("request only by %q: backs off after the time %t, want %t; in flight %+v", only, held, want, st.Background)
		}
	}
}
