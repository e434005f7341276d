package trust_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// objects holds nodes with 10 CPUs and pods of the scheduler fancy.
type objects struct{ cluster.Objects }

func newNodes(n int) *objects {
	o := &objects{}
	o.ServerVersion = "1.37"
	o.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}}
	for i := range n {
		name := fmt.Sprintf("n%d", i+1)
		has := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("10Gi"), "pods": resource.MustParse("110")}
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{Allocatable: has, Capacity: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	}
	return o
}

// addPod adds a pod that was bound the given number of seconds after the start.
func (o *objects) addPod(name, node string, cpu int64, seconds int, edit ...func(*corev1.Pod)) *objects {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(start)},
		Spec: corev1.PodSpec{SchedulerName: "fancy", NodeName: node, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": *resource.NewQuantity(cpu, resource.DecimalSI), "memory": *resource.NewQuantity(cpu<<30, resource.BinarySI)}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))}}}}
	for _, e := range edit {
		e(p)
	}
	o.Pods = append(o.Pods, p)
	return o
}

// takenAt sets the time of the snapshot in seconds after the start.
func (o *objects) takenAt(seconds int) *objects {
	o.TakenAt = start.Add(time.Duration(seconds) * time.Second)
	return o
}

// checkBinding returns "hit", "miss", or "silent" without a prediction.
func (o *objects) checkBinding(t *testing.T, name string, earlier ...string) string {
	t.Helper()
	s := must.Get(cluster.New(&o.Objects))(t)
	hit, predicted := trust.CheckBinding(s, s.PodByUID(name).ID, earlier, scheduler.DefaultProfile())
	return map[[2]bool]string{{true, true}: "hit", {false, true}: "miss", {false, false}: "silent"}[[2]bool{hit, predicted}]
}

// TestCheckBinding uses three nodes. The default profile places a new pod on n3, the node with the most free CPU.
func TestCheckBinding(t *testing.T) {
	base := func() *objects { return newNodes(3).addPod("a", "n1", 6, 0).addPod("b", "n2", 5, 0) }
	claim := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	}
	untimed := func(p *corev1.Pod) { p.Status.Conditions, p.CreationTimestamp = nil, metav1.Time{} }
	leaving := func(p *corev1.Pod) { now := metav1.NewTime(start); p.DeletionTimestamp = &now }
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	for name, c := range map[string]struct {
		o    *objects
		want string
	}{
		"on the emptiest node":               {base().addPod("p", "n3", 1, 9), "hit"},
		"elsewhere":                          {base().addPod("p", "n1", 1, 9), "miss"},
		"not bound":                          {base().addPod("p", "", 1, 9), "silent"},
		"three of three nodes are best":      {newNodes(3).addPod("p", "n3", 1, 9), "silent"},
		"one of two nodes is best":           {newNodes(2).addPod("a", "n1", 5, 0).addPod("p", "n2", 1, 9), "hit"},
		"two of three nodes are best":        {newNodes(3).addPod("a", "n1", 5, 0).addPod("p", "n1", 1, 9), "silent"},
		"the pod fits on one node only":      {base().addPod("p", "n3", 9, 9), "silent"},
		"the pod has a volume claim":         {base().addPod("p", "n3", 1, 9, claim), "silent"},
		"the time of the binding is unknown": {base().addPod("p", "n3", 1, 9, untimed), "silent"},
		"the pod is terminating":             {base().addPod("p", "n3", 1, 9, leaving), "silent"},
		"the pod has ended":                  {base().addPod("p", "n3", 1, 9, ended), "silent"},
		"taken after six seconds":            {base().addPod("p", "n3", 1, 9).takenAt(15), "silent"},
		"taken after five seconds":           {base().addPod("p", "n3", 1, 9).takenAt(14), "hit"},
		"two pods were bound later":          {base().addPod("p", "n3", 1, 9).addPod("q", "n3", 8, 10).addPod("r", "n3", 1, 10), "hit"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.o.checkBinding(t, "p", "a", "b"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCheckBindingWithinOneSecond binds q to n3 and p to n2. The default profile chooses n2 for p only if it knows q.
func TestCheckBindingWithinOneSecond(t *testing.T) {
	bound := func(q, p int) *objects {
		return newNodes(3).addPod("a", "n1", 6, 0).addPod("b", "n2", 4, 0).addPod("q", "n3", 8, q).addPod("p", "n2", 1, p)
	}
	if got := bound(9, 9).checkBinding(t, "p", "a", "b", "q"); got != "silent" {
		t.Errorf("q was bound before p in the same second: %s, want silent: n2 or n3, two of three nodes", got)
	}
	if got := bound(10, 9).checkBinding(t, "p", "a", "b"); got != "miss" {
		t.Errorf("q was bound in the second after p: %s, want miss", got)
	}
	for _, c := range []struct {
		q    int
		node string
		want string
	}{{9, "n4", "hit"}, {9, "n3", "hit"}, {9, "n2", "miss"}, {7, "n4", "hit"}, {7, "n3", "miss"}} {
		o := newNodes(5).addPod("a", "n1", 6, 0).addPod("b", "n2", 6, 0).addPod("c", "n4", 4, 0).addPod("d", "n5", 6, 0).
			addPod("q", "n3", 8, c.q).addPod("p", c.node, 1, 9)
		if got := o.checkBinding(t, "p", "a", "b", "c", "d", "q"); got != c.want {
			t.Errorf("q was bound at second %d, and p at second 9 to %s: %s, want %s", c.q, c.node, got, c.want)
		}
	}
}

// TestRandomSchedulerIsNotTrusted binds pods at random. At most half of these pods are
// on a correct node. A sensible minHitRate is much higher.
func TestRandomSchedulerIsNotTrusted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var b plan.SchedulerBindings
	for range 400 {
		o, earlier := newNodes(2+r.IntN(6)), []string{}
		for i := range 4 {
			name := fmt.Sprintf("a%d", i)
			o.addPod(name, o.Nodes[r.IntN(len(o.Nodes))].Name, 1, 0)
			earlier = append(earlier, name)
		}
		o.addPod("p", o.Nodes[r.IntN(len(o.Nodes))].Name, 1, 9)
		switch o.checkBinding(t, "p", earlier...) {
		case "hit":
			b.Hits++
			fallthrough
		case "miss":
			b.Predicted++
		}
	}
	t.Logf("%d of %d random bindings are correct", b.Hits, b.Predicted)
	if b.Predicted < 50 || b.HitRate() > 0.5 {
		t.Errorf("%d of %d random bindings are correct", b.Hits, b.Predicted)
	}
}

func TestSchedulerStatesAndProfiles(t *testing.T) {
	o := newNodes(1).addPod("a", "n1", 1, 0).addPod("b", "n1", 1, 0, func(p *corev1.Pod) { p.Spec.SchedulerName = "" }).
		addPod("c", "n1", 1, 0, func(p *corev1.Pod) { p.Spec.SchedulerName = "known" }).
		addPod("d", "", 1, 0, func(p *corev1.Pod) { p.Spec.SchedulerName = "waits" }).
		addPod("e", "n1", 1, 0, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	s := must.Get(cluster.New(&o.Objects))(t)
	packer := scheduler.DefaultProfile()
	packer.FitStrategy.Type = scheduler.MostAllocated
	known := map[string]scheduler.Profile{"known": packer}
	seen := map[string]plan.SchedulerBindings{"good": {Seen: 12, Predicted: 10, Hits: 9}, "bad": {Seen: 12, Predicted: 10, Hits: 8}, "few": {Seen: 12, Predicted: 9, Hits: 9}, "known": {Seen: 9, Predicted: 9, Model: trust.ModelOf(s, packer)}, "stale": {Seen: 9, Predicted: 9, Model: "1.30-0"}}
	opts := trust.Options{MinBindings: 10, MinHitRate: 0.9}
	want := []plan.SchedulerState{
		{Name: "bad", Seen: 12, Predicted: 10, Hits: 8, Contradicted: true}, {Name: "fancy", Pods: 1}, {Name: "few", Seen: 12, Predicted: 9, Hits: 9},
		{Name: "good", Seen: 12, Predicted: 10, Hits: 9, Trusted: true}, {Name: "known", Pods: 1, Seen: 9, Predicted: 9, Contradicted: true}, {Name: "stale"},
	}
	states := opts.SchedulerStates(s, known, seen)
	if d := cmp.Diff(want, states, cmpopts.IgnoreFields(plan.SchedulerState{}, "Reason", "HitRate")); d != "" {
		t.Error(d)
	}
	profiles := opts.Profiles(known, states)
	for name, why := range map[string]string{"bad": "bindings seen 12, predicted 10, correct 8; at least 10 predicted and 90% of them correct are required", "fancy": "seen 0", "few": "predicted 9", "good": "", "known": "does not place pods as predicted: bindings seen 9, predicted 9, correct 0"} {
		p, ok := profiles[name]
		if !ok || (p.UnsupportedReason == "") != (why == "") || !strings.Contains(p.UnsupportedReason, why) {
			t.Errorf("%s: %q, want %q", name, p.UnsupportedReason, why)
		}
	}
	if len(known) != 1 || profiles["known"].FitStrategy.Type != scheduler.MostAllocated {
		t.Error("Profiles changed the configured profiles")
	}
	off := trust.Options{MinHitRate: 0.9}
	if p := off.Profiles(known, off.SchedulerStates(s, known, seen)); p["fancy"].UnsupportedReason == "" || p["known"].UnsupportedReason != "" {
		t.Errorf("with MinBindings 0: %v", p)
	}
}

// TestWrongPredictionsOnlyStopMoves counts up to 120 predictions of the default scheduler, of which
// any number is wrong. The counts never change the profile except for the reason why nothing is
// predicted. A further wrong prediction never restores trust.
func TestWrongPredictionsOnlyStopMoves(t *testing.T) {
	s := must.Get(cluster.New(&newNodes(1).addPod("a", "n1", 1, 0, func(p *corev1.Pod) { p.Spec.SchedulerName = "" }).Objects))(t)
	const name = corev1.DefaultSchedulerName
	opts := trust.Options{MinBindings: 50, MinHitRate: 0.9}
	profileWith := func(predicted, hits int) scheduler.Profile {
		counts := map[string]plan.SchedulerBindings{name: {Seen: predicted, Predicted: predicted, Hits: hits}}
		return trust.ProfileOf(name, opts.Profiles(nil, opts.SchedulerStates(s, nil, counts)))
	}
	stopped := 0
	for predicted := range 120 {
		for hits := range predicted + 1 {
			before, after := profileWith(predicted, hits), profileWith(predicted+1, hits)
			if before.UnsupportedReason != "" && after.UnsupportedReason == "" {
				t.Errorf("%d of %d correct: another wrong prediction restores trust", hits, predicted)
			}
			if before.UnsupportedReason != "" {
				stopped++
			}
			before.UnsupportedReason = ""
			if d := cmp.Diff(scheduler.DefaultProfile(), before); d != "" {
				t.Errorf("%d of %d correct: the profile changes: %s", hits, predicted, d)
			}
		}
	}
	if stopped == 0 {
		t.Error("no number of wrong predictions stops moves")
	}
}
