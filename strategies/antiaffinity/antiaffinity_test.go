package antiaffinity_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/antiaffinity"
)

func TestGoals(t *testing.T) {
	golden.Pairs(t, "testdata/goals.txtar", func(t *testing.T, given []byte) string {
		return scenario.GoalsText(t, given, func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal {
			a, errs := antiaffinity.New("apart", args, scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return a.Goals(s)
		})
	})
}

// countingSelector selects no pod and counts how often it is asked.
type countingSelector struct {
	labels.Selector
	asked *int
}

func (s countingSelector) Matches(labels.Labels) bool {
	*s.asked++
	return false
}

// TestScopeIsCheckedOncePerPod states the goals for pods that are all in conflict and out of scope.
// The scope is checked a few times for each pod, not for each pair.
func TestScopeIsCheckedOncePerPod(t *testing.T) {
	const pods = 300
	s := crowded(t, pods)
	asked := 0
	a, errs := antiaffinity.New("apart", nil, cluster.Scope{Pods: countingSelector{labels.Nothing(), &asked}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if goals := a.Goals(s); len(goals) > 0 {
		t.Errorf("%d goals, want none", len(goals))
	}
	if asked == 0 || asked > 3*pods {
		t.Errorf("the scope was asked %d times for %d pods", asked, pods)
	}
}

// crowded returns a node with pods that are all in conflict with each other.
func crowded(t *testing.T, pods int) *cluster.Snapshot {
	t.Helper()
	o := &cluster.Objects{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{corev1.LabelHostname: "n1"}}}}}
	term := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}}
	for i := range pods {
		o.Pods = append(o.Pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%03d", i)},
			Spec: corev1.PodSpec{NodeName: "n1", Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	s := must.Get(cluster.New(o))(t)
	return s
}

// TestConflictsThatAreNotCounted: a term counts up to 50 partners. If there are more, the number is a minimum.
func TestConflictsThatAreNotCounted(t *testing.T) {
	for pods, want := range map[int]string{51: ", plus 49 more conflicts", 52: ", plus at least 49 more conflicts"} {
		a, _ := antiaffinity.New("apart", nil, cluster.Scope{})
		goals := a.Goals(crowded(t, pods))
		if len(goals) == 0 || goals[0].AtLeast != (pods > 51) || !strings.HasSuffix(goals[0].Reason.Message, want) {
			t.Errorf("%d pods: %d goals, the first has AtLeast %v and says %q, want %q", pods, len(goals), goals[0].AtLeast,
				goals[0].Reason.Message, want)
		}
	}
}

// TestTermsAreBounded: however many terms a pod declares, the work and the memory are bounded, and the goal says that
// there are more conflicts.
func TestTermsAreBounded(t *testing.T) {
	s := crowded(t, 400)
	for name, term := range map[string]corev1.PodAffinityTerm{
		"every term selects all":  {TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}},
		"every term selects none": {TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"no": "pod"}}},
	} {
		terms := make([]corev1.PodAffinityTerm, 100_000)
		for i := range terms {
			terms[i] = term
		}
		for i := range s.Pods {
			s.Pods[i].Object.Spec.Affinity = nil
		}
		s.Pods[0].Object.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		a, _ := antiaffinity.New("apart", nil, cluster.Scope{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		goals := a.Goals(s)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 2000*uint64(len(terms)) {
			t.Errorf("%s: %d bytes for %d terms", name, used, len(terms))
		}
		if name == "every term selects all" && (len(goals) != 1 || len(goals[0].Conflicts) != 50 || !goals[0].AtLeast) {
			t.Errorf("%s: %d goals, want one with 50 conflicts and more", name, len(goals))
		}
	}
}
