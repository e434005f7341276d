package budget

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestAllowedEvictions counts the allowed evictions of Ready pods. The status of the budget allows any number,
// so only the pods limit the evictions.
func TestAllowedEvictions(t *testing.T) {
	ready := func(n int) string { return strings.Repeat("r ", n) }
	for _, c := range []struct {
		name   string
		build  func(x *objects)
		budget *policyv1.PodDisruptionBudget
		want   int
	}{
		{"minAvailable 5 of 7", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, minAvailable("5"), 2},
		{"minAvailable 0", func(x *objects) { x.addDeployment("d", 3, ready(3)) }, minAvailable("0"), 3},
		{"minAvailable above all", func(x *objects) { x.addDeployment("d", 3, ready(3)) }, minAvailable("9"), 0},
		{"minAvailable 50% of 7 is 4", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, minAvailable("50%"), 3},
		{"minAvailable 100%", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, minAvailable("100%"), 0},
		{"minAvailable 1% is one", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, minAvailable("1%"), 6},
		{"maxUnavailable 50% of 7 is 4", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, maxUnavailable("50%"), 4},
		{"maxUnavailable 1% is one", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, maxUnavailable("1%"), 1},
		{"maxUnavailable 0", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, maxUnavailable("0"), 0},
		{"maxUnavailable 0%", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, maxUnavailable("0%"), 0},
		{"maxUnavailable above all", func(x *objects) { x.addDeployment("d", 3, ready(3)) }, maxUnavailable("9"), 3},
		{"maxUnavailable 2, one not Ready", func(x *objects) { x.addDeployment("d", 7, ready(6)+"-") }, maxUnavailable("2"), 1},
		{"maxUnavailable 2, one terminating", func(x *objects) { x.addDeployment("d", 7, ready(6)+"rt") }, maxUnavailable("2"), 1},
		{"maxUnavailable 2, one not created yet", func(x *objects) { x.addDeployment("d", 7, ready(6)) }, maxUnavailable("2"), 1},
		{"neither", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, newPermissivePDB("b"), 0},
		{"neither a number nor a percentage", func(x *objects) { x.addDeployment("d", 7, ready(7)) }, maxUnavailable("most"), 0},

		{"a number counts the pods there, not the scale", func(x *objects) { x.addDeployment("d", 9, ready(5)) }, minAvailable("3"), 2},
		{"a percentage counts the scale", func(x *objects) { x.addDeployment("d", 9, ready(7)) }, minAvailable("50%"), 2},
		{"the Deployment's scale, not its ReplicaSet's", func(x *objects) { x.addDeployment("d", 10, ready(10)) }, minAvailable("50%"), 5},
		{"a scale of 0 allows none", func(x *objects) { x.addDeployment("d", 0, ready(2)) }, maxUnavailable("100%"), 0},
		{"two Deployments add up", func(x *objects) { x.addDeployment("d", 3, ready(3)); x.addDeployment("e", 5, ready(5)) }, maxUnavailable("25%"), 2},
		{"bare pods add nothing to the scale", func(x *objects) { x.addDeployment("d", 4, ready(4)); x.addPods("r r") }, maxUnavailable("2"), 4}, // 6 healthy, 2 desired
		{"bare pods alone have no scale", func(x *objects) { x.addPods("r r r") }, maxUnavailable("1"), 0},
		{"bare pods alone by a percentage", func(x *objects) { x.addPods("r r r") }, minAvailable("10%"), 0},
		{"bare pods alone by a number", func(x *objects) { x.addPods("r r r") }, minAvailable("1"), 2},
		{"a StatefulSet", func(x *objects) {
			n := int32(4)
			x.objects.StatefulSets = append(x.objects.StatefulSets, &appsv1.StatefulSet{ObjectMeta: objectMeta("StatefulSet", "s"), Spec: appsv1.StatefulSetSpec{Replicas: &n}})
			x.addPods(ready(4), "apps/v1", "StatefulSet", "s")
		}, minAvailable("50%"), 2},
		{"a StatefulSet without replicas wants one", func(x *objects) {
			x.objects.StatefulSets = append(x.objects.StatefulSets, &appsv1.StatefulSet{ObjectMeta: objectMeta("StatefulSet", "s")})
			x.addPods(ready(3), "apps/v1", "StatefulSet", "s")
		}, minAvailable("100%"), 2},
		{"a ReplicaSet of its own", func(x *objects) {
			n := int32(4)
			x.objects.ReplicaSets = append(x.objects.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: objectMeta("ReplicaSet", "s"), Spec: appsv1.ReplicaSetSpec{Replicas: &n}})
			x.addPods(ready(4), "apps/v1", "ReplicaSet", "s")
		}, maxUnavailable("25%"), 1},
		{"a ReplicationController", func(x *objects) {
			n := int32(4)
			x.objects.ReplicationControllers = append(x.objects.ReplicationControllers, &corev1.ReplicationController{ObjectMeta: objectMeta("ReplicationController", "s"), Spec: corev1.ReplicationControllerSpec{Replicas: &n}})
			x.addPods(ready(4), "v1", "ReplicationController", "s")
		}, maxUnavailable("50%"), 2},
		{"a Job has no scale", func(x *objects) {
			x.objects.Jobs = append(x.objects.Jobs, &batchv1.Job{ObjectMeta: objectMeta("Job", "j")})
			x.addPods(ready(3), "batch/v1", "Job", "j")
		}, maxUnavailable("2"), 0},
		{"a DaemonSet has no scale", func(x *objects) {
			x.objects.DaemonSets = append(x.objects.DaemonSets, &appsv1.DaemonSet{ObjectMeta: objectMeta("DaemonSet", "j")})
			x.addPods(ready(3), "apps/v1", "DaemonSet", "j")
		}, minAvailable("10%"), 0},
		{"a Job by a number needs none", func(x *objects) {
			x.objects.Jobs = append(x.objects.Jobs, &batchv1.Job{ObjectMeta: objectMeta("Job", "j")})
			x.addPods(ready(3), "batch/v1", "Job", "j")
		}, minAvailable("1"), 2},
		{"a missing owner allows none", func(x *objects) { x.addPods(ready(3), "apps/v1", "ReplicaSet", "lost") }, maxUnavailable("2"), 0},
		{"a missing owner beside one that is there", func(x *objects) { x.addDeployment("d", 4, ready(4)); x.addPods("r", "apps/v1", "ReplicaSet", "lost") }, maxUnavailable("2"), 0},
	} {
		x := newObjects()
		c.build(x)
		s := x.snapshot(t, c.budget)
		if got, _ := evictAllowed(NewTracker(s, nil, now), s); got != c.want {
			t.Errorf("%s: %d evictions allowed, want %d (%s)", c.name, got, c.want, NewTracker(s, nil, now).Describe(0))
		}
	}
}

// TestStricterOfStatusAndCount checks that the status of the budget and the counted pods must both allow an eviction.
func TestStricterOfStatusAndCount(t *testing.T) {
	for _, c := range []struct{ status, away, want int }{{0, 3, 0}, {1, 3, 1}, {3, 1, 1}, {3, 0, 0}, {2, 2, 2}} {
		x := newObjects()
		x.addDeployment("d", 5, "r r r r r")
		b := maxUnavailable(fmt.Sprint(c.away))
		b.Status.DisruptionsAllowed = int32(c.status)
		s := x.snapshot(t, b)
		if got, _ := evictAllowed(NewTracker(s, nil, now), s); got != c.want {
			t.Errorf("the status allows %d evictions, the counted pods %d: got %d, want %d", c.status, c.away, got, c.want)
		}
	}
}

// TestUnknownScale uses a controller whose scale is not in the snapshot. Only the status
// contains the required number of pods; the snapshot and the status contain the healthy pods.
func TestUnknownScale(t *testing.T) {
	for states, want := range map[string]int{"r r r": 1, "r r -": 1, "r - -": 0} {
		x := newObjects()
		x.addPods(states, "example.org/v1", "Herd", "h")
		b := maxUnavailable("1")
		b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 2, CurrentHealthy: 3, DesiredHealthy: 1}
		s := x.snapshot(t, b)
		if got, _ := evictAllowed(NewTracker(s, nil, now), s); got != want {
			t.Errorf("%s: %d evictions of Ready pods allowed, want %d", states, got, want)
		}
	}
}

// TestUnreadyPods covers both values of unhealthyPodEvictionPolicy. The first pod of the Deployment is not Ready.
func TestUnreadyPods(t *testing.T) {
	always, healthyOnly := policyv1.AlwaysAllow, policyv1.IfHealthyBudget
	for _, c := range []struct {
		name              string
		policy            *policyv1.UnhealthyPodEvictionPolicyType
		states            string
		away              string
		allowed           int32
		healthy, desired  int32
		wantOK, wantTaken bool
	}{
		{"enough are healthy", nil, "- r r", "1", 0, 2, 2, true, false},
		{"enough are healthy, explicit policy", &healthyOnly, "- r r", "1", 0, 2, 2, true, false},
		{"too few are healthy", nil, "- - r", "1", 0, 1, 2, false, false},
		{"too few are healthy, explicit policy", &healthyOnly, "- - r", "1", 0, 1, 2, false, false},
		{"too few are healthy, always", &always, "- - r", "1", 0, 1, 2, true, false},
		{"none are healthy, always", &always, "- - -", "1", 0, 0, 2, true, false},
		{"the status is stale", nil, "- - r", "1", 0, 2, 2, false, false},
		{"the status is newer than the pods", nil, "- r r", "1", 0, 1, 2, false, false},
		{"a budget that requires no pods counts the eviction", nil, "- r r", "3", 2, 2, 0, true, true},
		{"only the status requires a pod", nil, "- r r", "3", 0, 2, 1, false, false},
		{"a budget that requires no pods is used up", nil, "- r r", "3", 0, 2, 0, false, false},
		{"AlwaysAllow with a budget that requires no pods", &always, "- r r", "3", 0, 2, 0, true, false},
	} {
		x := newObjects()
		x.addDeployment("d", 3, c.states)
		b := maxUnavailable(c.away)
		b.Spec.UnhealthyPodEvictionPolicy = c.policy
		b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy = c.allowed, c.healthy, c.desired
		s := x.snapshot(t, b)
		book, charges := NewTracker(s, nil, now), Charges{}
		reason, ok := book.Allows(&s.Pods[0], charges)
		book.Charge(&s.Pods[0], charges)
		if ok != c.wantOK || (charges[0] == 1) != c.wantTaken || ok == (reason.Code == plan.BlockedByPDB) {
			t.Errorf("%s: %v %+v, charges %v", c.name, ok, reason, charges)
		}
	}
}

// TestPlannedEvictionsReduceHealthyPods evicts an unready pod after planned evictions. The
// budget does not count the eviction of the unready pod while enough healthy pods remain.
func TestPlannedEvictionsReduceHealthyPods(t *testing.T) {
	x := newObjects()
	x.addDeployment("d", 4, "- r r r")
	b := maxUnavailable("2")
	b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy = 1, 3, 2
	s := x.snapshot(t, b)
	book := NewTracker(s, nil, now)
	for gone, want := range []bool{true, true, false} {
		if _, ok := book.Allows(&s.Pods[0], Charges{0: gone}); ok != want {
			t.Errorf("after %d evictions of Ready pods: allowed %v, want %v", gone, ok, want)
		}
	}
}

func TestClosedBudgets(t *testing.T) {
	many := map[string]metav1.Time{}
	for i := range maxDisrupted + 1 {
		many[fmt.Sprint("gone-", i)] = metav1.Time{Time: now.Add(-time.Hour)}
	}
	few := maps.Clone(many)
	delete(few, "gone-0")
	for _, c := range []struct {
		name    string
		change  func(*policyv1.PodDisruptionBudget)
		spent   map[string]time.Time
		code    plan.Code // "" if the eviction is allowed
		message string
	}{
		{"open", func(*policyv1.PodDisruptionBudget) {}, nil, "", ""},
		{"a generation not observed", func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }, nil, plan.PDBNotObserved, "pdb shop/b was changed, and the disruption controller has not updated its status yet"},
		{"a generation observed long ago", func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration = 0 }, nil, plan.PDBNotObserved, "pdb shop/b was changed, and the disruption controller has not updated its status yet"},
		{"a later generation observed", func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration = 2 }, nil, "", ""},
		{"spent", func(*policyv1.PodDisruptionBudget) {}, map[string]time.Time{"shop/b": now.Add(time.Nanosecond)}, plan.BlockedByPDB, "a refused eviction may have used up pdb shop/b"},
		{"spent once", func(*policyv1.PodDisruptionBudget) {}, map[string]time.Time{"shop/b": now}, "", ""},
		{"another is spent", func(*policyv1.PodDisruptionBudget) {}, map[string]time.Time{"shop/c": now.Add(time.Hour), "other/b": now.Add(time.Hour)}, "", ""},
		{"too many unconfirmed", func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptedPods = many }, nil, plan.BlockedByPDB, "pdb shop/b has too many unconfirmed evictions"},
		{"just few enough", func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptedPods = few }, nil, "", ""},
	} {
		for state, ready := range map[string]bool{"r": true, "-": false} {
			x := newObjects()
			x.addDeployment("d", 4, state+" r r r")
			b := maxUnavailable("2")
			always := policyv1.AlwaysAllow
			b.Spec.UnhealthyPodEvictionPolicy = &always
			c.change(b)
			s := x.snapshot(t, b)
			book := NewTracker(s, c.spent, now)
			reason, ok := book.Allows(&s.Pods[0], Charges{})
			if ok != (c.code == "") || reason != (plan.Reason{Code: c.code, Message: c.message}) {
				t.Errorf("%s, Ready %v: %v %+v", c.name, ready, ok, reason)
			}
			if c.code != "" && book.Describe(0) != c.message {
				t.Errorf("%s: described as %q", c.name, book.Describe(0))
			}
		}
	}
}

// TestDisruptedPods checks a pod in status.disruptedPods. For two minutes the pod does not
// count as healthy and cannot be evicted again. After that the disruption controller counts the pod as before.
func TestDisruptedPods(t *testing.T) {
	for _, c := range []struct {
		ago    time.Duration
		want   int
		itself bool
	}{
		{0, 1, false}, {2*time.Minute - 1, 1, false}, {2 * time.Minute, 2, true}, {time.Hour, 2, true},
	} {
		x := newObjects()
		x.addDeployment("d", 5, "r r r r r")
		b := maxUnavailable("2")
		b.Status.DisruptedPods = map[string]metav1.Time{"p00": {Time: now.Add(-c.ago)}}
		s := x.snapshot(t, b)
		book := NewTracker(s, nil, now)
		reason, ok := book.Allows(&s.Pods[0], Charges{})
		if ok != c.itself || !ok && reason.Message != "pdb shop/b has already allowed the eviction of this pod" {
			t.Errorf("evicted %s ago: allowed %v, %+v", c.ago, ok, reason)
		}
		if got, _ := evictAllowed(book, s); got != c.want {
			t.Errorf("evicted %s ago: %d more evictions, want %d", c.ago, got, c.want)
		}
	}
}

// TestBudgetsThatNeverAllow: a pod whose operator moves it upon a request may be asked for if no pod is missing and the
// budget allows no eviction even so. All other budgets are as strict as without an operator.
func TestBudgetsThatNeverAllow(t *testing.T) {
	custom := []string{"core.strimzi.io/v1beta2", "StrimziPodSet", "kafka"}
	status := func(b *policyv1.PodDisruptionBudget, healthy, desired, expected int32) *policyv1.PodDisruptionBudget {
		b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods, b.Status.DisruptionsAllowed = healthy, desired, expected, 0
		return b
	}
	for _, c := range []struct {
		name   string
		states string
		owner  []string
		budget *policyv1.PodDisruptionBudget
		ok     bool
	}{
		{"one pod, minAvailable 1", "r", nil, status(minAvailable("1"), 1, 1, 1), true},
		{"minAvailable 100%", "r r r", nil, status(minAvailable("100%"), 3, 3, 3), true},
		{"maxUnavailable 0 of a custom controller", "r r r", custom, status(maxUnavailable("0"), 3, 3, 3), true},
		{"a pod is not Ready", "r r -", custom, status(maxUnavailable("0"), 2, 3, 3), false},
		{"the status lacks a pod", "r r r", nil, status(maxUnavailable("0"), 2, 3, 3), false},
		{"it allows one when the status is up to date", "r r r", nil, status(maxUnavailable("1"), 2, 2, 3), false},
	} {
		x := newObjects()
		if c.owner == nil {
			x.addDeployment("d", int32(len(strings.Fields(c.states))), c.states)
		} else {
			x.addPods(c.states, c.owner...)
		}
		s := x.snapshot(t, c.budget)
		book, charges := NewTracker(s, nil, now), Charges{}
		if r, ok := book.Allows(&s.Pods[0], charges); ok || r.Code != plan.BlockedByPDB {
			t.Errorf("%s: without an operator: %t %+v, want BlockedByPDB", c.name, ok, r)
		}
		book.OperatorMoves = func(*cluster.Pod) bool { return true }
		r, ok := book.Allows(&s.Pods[0], charges)
		if book.Charge(&s.Pods[0], charges); ok != c.ok || len(charges) > 0 {
			t.Errorf("%s: with an operator: %t %+v, charges %v; want %t and none", c.name, ok, r, charges, c.ok)
		}
	}
}

func TestBudgetsOfAPod(t *testing.T) {
	second := maxUnavailable("2")
	second.Name = "c"
	nilSelector, emptySelector, other := maxUnavailable("0"), maxUnavailable("0"), maxUnavailable("0")
	nilSelector.Spec.Selector, emptySelector.Spec.Selector = nil, &metav1.LabelSelector{}
	other.Namespace = "office"
	for _, c := range []struct {
		name    string
		budgets []*policyv1.PodDisruptionBudget
		code    plan.Code
	}{
		{"none", nil, ""},
		{"one that allows", []*policyv1.PodDisruptionBudget{second}, ""},
		{"two that allow", []*policyv1.PodDisruptionBudget{maxUnavailable("2"), second}, plan.MultiplePDBs},
		{"a nil selector selects nothing", []*policyv1.PodDisruptionBudget{nilSelector}, ""},
		{"a nil selector is no second budget", []*policyv1.PodDisruptionBudget{nilSelector, second}, ""},
		{"an empty selector selects everything", []*policyv1.PodDisruptionBudget{emptySelector}, plan.BlockedByPDB},
		{"an empty selector is a second budget", []*policyv1.PodDisruptionBudget{emptySelector, second}, plan.MultiplePDBs},
		{"that of another namespace", []*policyv1.PodDisruptionBudget{other}, ""},
	} {
		for _, state := range []string{"r", "-"} {
			x := newObjects()
			x.addDeployment("d", 4, state+" r r r")
			s := x.snapshot(t, c.budgets...)
			charges := Charges{}
			book := NewTracker(s, nil, now)
			if state == "-" && c.code == plan.BlockedByPDB {
				continue // an unready pod is free while the budget has its healthy pods
			}
			reason, ok := book.Allows(&s.Pods[0], charges)
			if ok != (c.code == "") || reason.Code != c.code {
				t.Errorf("%s: %v %+v", c.name, ok, reason)
			}
			if book.Charge(&s.Pods[0], charges); !ok && len(charges) != 0 {
				t.Errorf("%s: a refused eviction was counted: %v", c.name, charges)
			}
		}
	}
}

func TestBudgetMessages(t *testing.T) {
	x := newObjects()
	x.addDeployment("d", 4, "r r r r")
	s := x.snapshot(t, maxUnavailable("1"))
	book, charges := NewTracker(s, nil, now), Charges{}
	if got := book.Describe(0); got != "pdb shop/b allows 1 more eviction (4 healthy pods, 3 required)" {
		t.Error(got)
	}
	book.Charge(&s.Pods[0], charges)
	reason, _ := book.Allows(&s.Pods[1], charges)
	if reason.Message != "pdb shop/b allows 0 more evictions after 1 by this plan (4 healthy pods, 3 required)" {
		t.Error(reason.Message)
	}
	if book.Charge(&s.Pods[1], charges); charges[0] != 1 {
		t.Errorf("a refused eviction was counted: %v", charges)
	}
	const never, change = "pdb shop/b never allows the eviction of a healthy pod while it has ", "; to move its pods, change that"
	for _, c := range []struct {
		states string
		budget *policyv1.PodDisruptionBudget
		want   string
	}{
		{"r r r", minAvailable("100%"), never + "minAvailable: 100%" + change},
		{"r r -", maxUnavailable("0"), never + "maxUnavailable: 0" + change},
		{"r r r", maxUnavailable("0%"), never + "maxUnavailable: 0%" + change},
		{"r r r", maxUnavailable("1%"), "pdb shop/b allows 1 more eviction (3 healthy pods, 2 required)"},
		{"r r r", minAvailable("3"), "pdb shop/b allows 0 more evictions (3 healthy pods, 3 required); to move its pods, let it require fewer, or add replicas"},
		{"r r -", minAvailable("2"), "pdb shop/b allows 0 more evictions (2 healthy pods, 2 required)"},
	} {
		x = newObjects()
		x.addDeployment("d", 3, c.states)
		if got := NewTracker(x.snapshot(t, c.budget), nil, now).Describe(0); got != c.want {
			t.Errorf("%s: %s, want %s", c.states, got, c.want)
		}
	}
	x = newObjects()
	x.addPods("r", "batch/v1", "Job", "j")
	s = x.snapshot(t, maxUnavailable("1"))
	if got := NewTracker(s, nil, now).Describe(0); got != "pdb shop/b allows no evictions: Job j, the controller of pod p00, does not exist or has no scale" {
		t.Error(got)
	}
}
