package planverifier

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// verifier checks the evictions of a plan against the live state.
type verifier struct{ *liveState }

// liveState holds the state of the cluster while the verifier executes the waves of a plan.
type liveState struct {
	*podGuards

	violations []Violation
	// livePods holds the pods before the current wave, by namespace/name. livePods contains the replacements of
	// the pods that earlier waves evicted.
	livePods map[string]*corev1.Pod
	// jobFailures counts the evictions that fail a pod of a Job, by Job.
	jobFailures map[string]int
	// goals are those of the plan.
	goals []plan.Goal
	// replacements counts the replacements so far; their names contain the count.
	replacements int
}

func newVerifier(o *cluster.Objects, c Rules, now time.Time) *verifier {
	guards := &podGuards{clusterIndex: indexCluster(o), now: now, windows: windows.NewClock(now), rules: c}
	guards.inFlight = podsInFlight(guards)
	return &verifier{&liveState{podGuards: guards}}
}

// call is one eviction: a move and its pod.
type call struct {
	move plan.Move
	pod  *corev1.Pod
}

func (r *liveState) report(m plan.Move, code plan.Code, format string, args ...any) {
	r.violations = append(r.violations, Violation{m.Step, m.Pod.String(), code, fmt.Sprintf(format, args...)})
}

// podGuards decides whether a single pod may be evicted, independent of other moves.
type podGuards struct {
	*clusterIndex
	now      time.Time
	windows  *windows.Clock
	rules    Rules
	inFlight []movingPod // see podsInFlight
	// replaced marks the pods, by namespace/name, whose own absence does not count against them; see replacedPods.
	replaced map[string]bool
}

// rejection is a reason why a pod may not be evicted.
type rejection struct {
	code plan.Code
	why  string
}

// rejectFunc records a rejection if rejected is true.
type rejectFunc = func(rejected bool, code plan.Code, why string)

func (r *podGuards) selectedByNodeSelector(n *corev1.Node) bool {
	return r.rules.NodeSelector == nil || r.rules.NodeSelector.Matches(labels.Set(n.Labels))
}
