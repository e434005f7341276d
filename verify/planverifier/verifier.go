package planverifier

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/windows"
)

// verifier checks the evictions of a plan. Of its parts, only the live state and the violations change.
type verifier struct {
	rules      *Rules
	before     *clusterIndex
	guards     *podGuards
	live       *liveState
	goals      []plan.Goal // of the plan
	violations []Violation
}

// liveState holds the pods of the cluster while the verifier executes the waves of a plan.
type liveState struct {
	before *clusterIndex
	// pods holds the pods before the current wave, by namespace/name. It contains the replacements of the pods that
	// earlier waves evicted.
	pods map[string]*corev1.Pod
	// chains holds the controllers of these pods, by namespace/name.
	chains map[string]ownerChain
	// jobFailures counts the evictions that fail a pod of a Job, by Job.
	jobFailures map[string]int
	// replacements counts the replacements so far; their names contain the count.
	replacements int
}

func newVerifier(o *cluster.Objects, c Rules, now time.Time) *verifier {
	before := indexCluster(o, now)
	guards := &podGuards{before: before, windows: windows.NewClock(now), rules: &c, inFlight: podsInFlight(before, c.State)}
	live := &liveState{before: before, pods: maps.Clone(before.pods), chains: maps.Clone(before.chains), jobFailures: map[string]int{}}
	return &verifier{rules: &c, before: before, guards: guards, live: live}
}

// call is one eviction: a move and its pod.
type call struct {
	move plan.Move
	pod  *corev1.Pod
}

func (r *verifier) report(m plan.Move, code plan.Code, format string, args ...any) {
	r.violations = append(r.violations, Violation{m.Step, m.Pod.String(), code, fmt.Sprintf(format, args...)})
}

// podGuards decides whether a single pod may be evicted, independent of other moves. It never changes.
type podGuards struct {
	before   *clusterIndex
	rules    *Rules
	windows  *windows.Clock
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

func (r *Rules) selectedByNodeSelector(n *corev1.Node) bool {
	return r.NodeSelector == nil || r.NodeSelector.Matches(labels.Set(n.Labels))
}
