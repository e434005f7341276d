package budget

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Bits of a fuzzed pod.
const (
	isReady = 1 << iota
	isTerminating
	isDisrupted
	ofSecond
	isBare
)

// fuzzCase describes a budget and its pods.
type fuzzCase struct {
	pods                      []byte
	mode, value               uint8
	replicas                  [2]uint8
	allowed, healthy, desired uint8
	always, stale             bool
}

func (c fuzzCase) buildObjects(t *testing.T) (*objects, *policyv1.PodDisruptionBudget) {
	x := newObjects()
	x.addDeployment("d", int32(c.replicas[0]), "")
	x.addDeployment("e", int32(c.replicas[1]), "")
	b := [...]func(string) *policyv1.PodDisruptionBudget{maxUnavailable, minAvailable}[c.mode%2]([...]string{fmt.Sprint(c.value), fmt.Sprintf("%d%%", c.value)}[c.mode/2%2])
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: int32(c.allowed), CurrentHealthy: int32(c.healthy), DesiredHealthy: int32(c.desired), DisruptedPods: map[string]metav1.Time{}}
	if c.stale {
		b.Generation = 2
	}
	if c.always {
		v := policyv1.AlwaysAllow
		b.Spec.UnhealthyPodEvictionPolicy = &v
	}
	for _, bits := range c.pods {
		state := "-"
		if bits&isReady != 0 {
			state += "r"
		}
		if bits&isTerminating != 0 {
			state += "t"
		}
		owner := []string{"apps/v1", "ReplicaSet", "d"}
		if bits&ofSecond != 0 {
			owner[2] = "e"
		}
		if bits&isBare != 0 {
			owner = nil
		}
		p := x.addPod(state, owner...)
		if bits&isDisrupted != 0 {
			b.Status.DisruptedPods[p.Name] = metav1.Time{Time: now.Add(-time.Minute)}
		}
	}
	return x, b
}

// expectedEvictions computes the allowed evictions of Ready pods: healthy minus desired.
func (c fuzzCase) expectedEvictions() int {
	healthy, owned := 0, [2]bool{}
	for _, bits := range c.pods {
		if bits&(isReady|isTerminating|isDisrupted) == isReady {
			healthy++
		}
		if bits&isBare == 0 {
			owned[bits&ofSecond/ofSecond] = true
		}
	}
	expected := 0
	for i, there := range owned {
		if there {
			expected += int(c.replicas[i])
		}
	}
	n, atLeast := int(c.value), c.mode%2 == 1
	if c.mode/2%2 == 1 {
		n = (expected*n + 99) / 100
	} else if atLeast {
		expected = len(c.pods)
	}
	desired := n
	if !atLeast {
		desired = max(0, expected-n)
	}
	if expected == 0 || c.stale {
		return 0
	}
	return max(0, healthy-desired)
}

// allowedPods returns for each pod whether its eviction is allowed.
func allowedPods(b *Tracker, s *cluster.Snapshot, charges Charges) []bool {
	out := make([]bool, len(s.Pods))
	for i := range s.Pods {
		_, out[i] = b.Allows(&s.Pods[i], charges)
	}
	return out
}

// FuzzBudget evicts one pod after the other and checks four properties. The status and a second
// implementation of the rules limit the evictions of Ready pods. No eviction raises the number of
// allowed evictions. Allows changes nothing. A planned eviction has the same effect as an executed one.
func FuzzBudget(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1}, uint8(0), uint8(1), uint8(4), uint8(0), uint8(1), uint8(4), uint8(3), false, false)
	f.Add([]byte{1, 1, 9, 9, 0}, uint8(2), uint8(50), uint8(3), uint8(2), uint8(9), uint8(4), uint8(2), false, false)
	f.Add([]byte{1, 0, 3, 5, 17}, uint8(3), uint8(34), uint8(5), uint8(0), uint8(9), uint8(9), uint8(1), true, false)
	f.Add([]byte{17, 17, 1}, uint8(1), uint8(1), uint8(1), uint8(1), uint8(2), uint8(3), uint8(1), false, true)
	f.Fuzz(func(t *testing.T, pods []byte, mode, value, first, second, allowed, healthy, desired uint8, always, stale bool) {
		if len(pods) > 40 {
			pods = pods[:40]
		}
		c := fuzzCase{pods, mode, value, [2]uint8{first, second}, allowed, healthy, desired, always, stale}
		x, b := c.buildObjects(t)
		s := x.snapshot(t, b.DeepCopy())
		book, charges, evicted := NewTracker(s, nil, now), Charges{}, 0
		before := allowedPods(book, s, charges)
		for i := range s.Pods {
			p := &s.Pods[i]
			was := maps.Clone(charges)
			reason, ok := book.Allows(p, charges)
			if again, ok2 := book.Allows(p, charges); again != reason || ok2 != ok || !maps.Equal(was, charges) || ok != (reason == plan.Reason{}) {
				t.Fatalf("two calls of Allows differ: %v %+v, %v %+v; charges %v, %v", ok, reason, ok2, again, was, charges)
			}
			if !ok || p.Terminating {
				continue
			}
			book.Charge(p, charges)
			if p.Ready {
				evicted++
				c.applyEviction(x, b, i)
			}
			after := allowedPods(book, s, charges)
			for j := range after {
				if after[j] && !before[j] {
					t.Fatalf("the eviction of pod %d allows that of pod %d", i, j)
				}
			}
			before = after
			if charges[0] == evicted { // the budget counted no unready pod, so applyEviction can follow
				compareAnswers(t, x, b, after)
			}
		}
		if most := min(c.expectedEvictions(), int(allowed)); evicted > most {
			t.Fatalf("%d Ready pods were evicted, want at most %d: %s", evicted, most, book.Describe(0))
		}
		if free, _ := evictAllowed(NewTracker(s, nil, now), s); free != evicted {
			t.Fatalf("%d Ready pods were evicted one by one, but evictAllowed evicts %d", evicted, free)
		}
	})
}

// applyEviction changes the objects as the API server and the disruption controller do after the
// eviction of Ready pod i. The function replaces objects of the snapshot and does not change them.
func (c fuzzCase) applyEviction(x *objects, b *policyv1.PodDisruptionBudget, i int) {
	p := x.objects.Pods[i].DeepCopy()
	p.DeletionTimestamp = &metav1.Time{Time: now}
	all := append([]*corev1.Pod{}, x.objects.Pods...)
	all[i] = p
	x.objects.Pods = all
	b.Status.DisruptionsAllowed--
	b.Status.CurrentHealthy--
}

// compareAnswers compares a tracker of the changed objects with the results after the planned evictions.
func compareAnswers(t *testing.T, x *objects, b *policyv1.PodDisruptionBudget, want []bool) {
	t.Helper()
	s := x.snapshot(t, b.DeepCopy())
	for i, ok := range allowedPods(NewTracker(s, nil, now), s, Charges{}) {
		if !s.Pods[i].Terminating && ok != want[i] {
			t.Fatalf("pod %d: %v after the executed evictions, %v after the planned evictions", i, ok, want[i])
		}
	}
}
