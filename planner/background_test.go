package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// TestBackgroundCountsAsInFlight plans two moves of one Deployment from n3 while evictions of other workloads continue
// in the background. At most 16 may be in flight, and 5 from one node.
func TestBackgroundCountsAsInFlight(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{}")
	other := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "other"}
	for _, c := range []struct {
		name     string
		count    int
		from     string
		workload plan.ObjectRef
		pod      string
		age      time.Duration
		moves    int
		waves    int
	}{
		{"room for both", 14, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 2, 1},
		{"room for one", 15, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 2, 2},
		{"no room", 16, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 0, 0},
		{"no room, but the pods are gone", 16, "elsewhere", other, "gone", 0, 2, 1},
		{"no room, but the time is over", 16, "elsewhere", other, string(s.Pods[0].Object.UID), time.Hour, 2, 1},
		{"room for one from the node", 4, "n3", other, string(s.Pods[0].Object.UID), 0, 2, 2},
		{"no room from the node", 5, "n3", other, string(s.Pods[0].Object.UID), 0, 0, 0},
		{"the same workload", 1, "elsewhere", history.WorkloadOfMove(made.Moves[0]), string(s.Pods[0].Object.UID), 0, 0, 0},
	} {
		since := s.TakenAt.Add(-c.age)
		st := plan.PlannerState{Background: slices.Repeat([]plan.BackgroundEviction{{Pod: plan.PodRef{Namespace: "shop", Name: "x", UID: c.pod},
			Workload: c.workload, From: c.from, Since: since, Until: since.Add(time.Hour)}}, c.count)}
		got := p.Plan(s, st, goals, s.TakenAt)
		waves := 0
		for _, m := range got.Moves {
			waves = max(waves, m.Wave)
		}
		if len(got.Moves) != c.moves || waves != c.waves || c.moves == 0 && got.Rejections.Counts[plan.EvictionInBackground] == 0 {
			t.Errorf("%s: %d moves in %d waves, want %d in %d; rejections %v", c.name, len(got.Moves), waves, c.moves, c.waves,
				got.Rejections.Counts)
		}
		if ok, _ := p.Recheck(s, st, goals, made, 1, s.TakenAt); len(ok) != min(c.moves, 3-c.waves) {
			t.Errorf("%s: %d moves of the wave are still valid, want %d", c.name, len(ok), min(c.moves, 3-c.waves))
		}
	}
}

// TestMarkedPodsCountAsInFlight is TestBackgroundCountsAsInFlight for pods that another program has marked as being
// evicted. Their marks count until the pods end.
func TestMarkedPodsCountAsInFlight(t *testing.T) {
	const mark = "descheduler.alpha.kubernetes.io/eviction-in-progress"
	_, p, _, made := planTwoMoves(t, "{}")
	vms := func(count int, node string, edit func(*corev1.Pod)) func(o *cluster.Objects) {
		return func(o *cluster.Objects) {
			for i := range count {
				vm := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("vm-%d", i), UID: types.UID(fmt.Sprintf("vm-%d", i)),
					Annotations: map[string]string{mark: "kubevirt"}}, Spec: corev1.PodSpec{NodeName: node},
					Status: corev1.PodStatus{Phase: corev1.PodRunning}}
				if edit != nil {
					edit(vm)
				}
				o.Pods = append(o.Pods, vm)
			}
		}
	}
	inState := func(n int) (st plan.PlannerState) {
		for i := range n {
			ref := plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("vm-%d", i), UID: fmt.Sprintf("vm-%d", i)}
			st.Background = append(st.Background, plan.BackgroundEviction{Pod: ref, Workload: history.WorkloadOfMove(plan.Move{Pod: ref}),
				From: "n1", Since: made.TakenAt, Until: made.TakenAt.Add(time.Hour)})
		}
		return st
	}
	for _, c := range []struct {
		name         string
		edit         func(o *cluster.Objects)
		state        plan.PlannerState
		moves, waves int
	}{
		{"room for both", vms(14, "n1", nil), plan.PlannerState{}, 2, 1},
		{"room for one", vms(15, "n1", nil), plan.PlannerState{}, 2, 2},
		{"no room", vms(16, "n1", nil), plan.PlannerState{}, 0, 0},
		{"no room, and the pods terminate", vms(16, "n1", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: made.TakenAt} }),
			plan.PlannerState{}, 0, 0},
		{"the pods have ended", vms(16, "n1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), plan.PlannerState{}, 2, 1},
		{"the pods may only be asked to leave", vms(16, "n1", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"descheduler.alpha.kubernetes.io/request-evict-only": "true"}
		}), plan.PlannerState{}, 2, 1},
		{"some are evictions of earlier passes", vms(14, "n1", nil), inState(14), 2, 1},
		{"room for one from the node", vms(4, "n3", nil), plan.PlannerState{}, 2, 2},
		{"no room from the node", vms(5, "n3", nil), plan.PlannerState{}, 0, 0},
		{"the same workload", func(o *cluster.Objects) {
			i := slices.IndexFunc(o.Pods, func(p *corev1.Pod) bool {
				return strings.HasPrefix(p.Name, made.Moves[0].Owner.Name) && !slices.ContainsFunc(made.Moves, func(m plan.Move) bool { return m.Pod.Name == p.Name })
			})
			o.Pods[i].Annotations = map[string]string{mark: "kubevirt"}
		}, plan.PlannerState{}, 0, 0},
	} {
		s, goals := threeZones(t, c.edit)
		got := p.Plan(s, c.state, goals, s.TakenAt)
		waves := 0
		for _, m := range got.Moves {
			waves = max(waves, m.Wave)
		}
		if len(got.Moves) != c.moves || waves != c.waves || c.moves == 0 && got.Rejections.Counts[plan.EvictionInBackground] == 0 {
			t.Errorf("%s: %d moves in %d waves, want %d in %d; rejections %v", c.name, len(got.Moves), waves, c.moves, c.waves,
				got.Rejections.Counts)
		}
		if ok, _ := p.Recheck(s, c.state, goals, made, 1, s.TakenAt); len(ok) != min(c.moves, 3-c.waves) {
			t.Errorf("%s: %d moves of the wave are still valid, want %d", c.name, len(ok), min(c.moves, 3-c.waves))
		}
	}
}

// threeZones returns the example with three zones after a change, and the goals of ZoneSpread.
func threeZones(t *testing.T, edit func(o *cluster.Objects)) (*cluster.Snapshot, []plan.Goal) {
	t.Helper()
	o := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	edit(o)
	s := must.Get(cluster.New(o))(t)
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies:\n"+
		"  zones: {type: ZoneSpread, schedule: \"0 * * * *\"}\n")))(t)
	return s, controller.Goals(s, conf.BuildStrategies(), nil)
}

// TestAnEarlierProcessCountsAsInFlight lets a process die that had evicted n pods of Deployment other from n3. At most
// 16 pods may be in flight, and 5 from one node.
func TestAnEarlierProcessCountsAsInFlight(t *testing.T) {
	_, p, _, made := planTwoMoves(t, "{}")
	owner := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "other"}
	for _, c := range []struct {
		name         string
		count        int
		from         string
		outcome      plan.Outcome
		ready        int
		age          time.Duration
		moves, waves int
	}{
		{"room for both", 14, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 0, time.Minute, 2, 1},
		{"room for one", 15, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 0, time.Minute, 2, 2},
		{"no room", 16, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 0, time.Minute, 0, 0},
		{"no room, and some are Ready again", 16, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 15, time.Minute, 0, 0},
		{"all are Ready again", 16, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 16, time.Minute, 2, 1},
		{"the replacements are late", 16, "n1", plan.Outcome{Outcome: plan.Evicted, Reason: plan.Reason{Code: plan.ReplacementNotReady}}, 0,
			time.Minute, 0, 0},
		{"the replacements were Ready", 16, "n1", plan.Outcome{Outcome: plan.Evicted, Reason: plan.Reason{Code: plan.LandedElsewhere},
			ReadyAfter: "5s"}, 0, time.Minute, 2, 1},
		{"not evicted", 16, "n1", plan.Outcome{Outcome: plan.Dropped}, 0, time.Minute, 2, 1},
		{"the time is over", 16, "n1", plan.Outcome{Outcome: plan.UnknownOutcome}, 0, time.Hour, 2, 1},
		{"no room from the node", 5, "n3", plan.Outcome{Outcome: plan.UnknownOutcome}, 0, time.Minute, 0, 0},
	} {
		s, goals := threeZones(t, func(o *cluster.Objects) {
			o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other", UID: "other"},
				Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(16))}})
			for i := range c.ready {
				o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("other-%d", i),
					UID: types.UID(fmt.Sprintf("new-%d", i)), OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment",
						Name: "other", UID: "other", Controller: ptr.To(true)}}}, Spec: corev1.PodSpec{NodeName: "n1"},
					Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}})
			}
		})
		run := plan.OpenRun{RunID: "dead"}
		var outcomes []plan.Outcome
		for i := range c.count {
			c.outcome.Step, c.outcome.Pod = i, plan.PodRef{Namespace: "shop", Name: fmt.Sprintf("gone-%d", i), UID: fmt.Sprintf("gone-%d", i)}
			run.Reservations = append(run.Reservations, plan.Reservation{Step: i, Pod: c.outcome.Pod, Workload: owner, From: c.from})
			outcomes = append(outcomes, c.outcome)
		}
		st, _ := history.RecordOutcomes(plan.PlannerState{Runs: []plan.OpenRun{run}}, "dead", outcomes, s.TakenAt.Add(-c.age),
			history.Options{Initial: time.Minute, BackgroundTimeout: time.Hour})
		st = history.CloseRun(st, "dead")
		got, waves := p.Plan(s, st, goals, s.TakenAt), 0
		for _, m := range got.Moves {
			waves = max(waves, m.Wave)
		}
		if len(got.Moves) != c.moves || waves != c.waves || c.moves == 0 && got.Rejections.Counts[plan.EvictionInBackground] == 0 {
			t.Errorf("%s: %d moves in %d waves, want %d in %d; rejections %v", c.name, len(got.Moves), waves, c.moves, c.waves,
				got.Rejections.Counts)
		}
		if ok, _ := p.Recheck(s, st, goals, made, 1, s.TakenAt); len(ok) != min(c.moves, 3-c.waves) {
			t.Errorf("%s: %d moves of the wave are still valid, want %d", c.name, len(ok), min(c.moves, 3-c.waves))
		}
	}
}

// TestAScaleUpDoesNotPassForAReplacement checks that no pod of a Deployment is evicted while the Deployment has fewer
// pods than it wants. This happens if the evictor mistook the new pod of a scale-up for the replacement of an evicted
// pod, and the replacement is still missing.
func TestAScaleUpDoesNotPassForAReplacement(t *testing.T) {
	_, p, _, made := planTwoMoves(t, "{}")
	for extra, want := range map[int32]int{0: 2, 1: 0} {
		s, goals := threeZones(t, func(o *cluster.Objects) {
			for _, d := range o.Deployments {
				if d.Name == made.Moves[0].Owner.Name {
					d.Spec.Replicas = ptr.To(*d.Spec.Replicas + extra)
				}
			}
		})
		ok, dropped := p.Recheck(s, plan.PlannerState{}, goals, made, 1, s.TakenAt)
		if len(ok) != want {
			t.Errorf("%d pods missing: %d moves are still valid, want %d", extra, len(ok), want)
		}
		for _, o := range dropped {
			if o.Reason.Code != plan.ReplacementMissing && o.Reason.Code != plan.WorkloadDegraded {
				t.Errorf("%d pods missing: %+v, want that the workload lacks a pod", extra, o)
			}
		}
	}
}
