package goalverifier

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
)

// arguments are those of all strategies that the verifier knows.
type arguments struct {
	WhenUnsatisfiable []string        `json:"whenUnsatisfiable"`
	OwnerKinds        ownerKinds      `json:"ownerKinds"`
	Required          *bool           `json:"required"`
	Preferred         bool            `json:"preferred"`
	PreferNoSchedule  bool            `json:"preferNoSchedule"`
	Include           []string        `json:"include"`
	Exclude           []string        `json:"exclude"`
	MinRestarts       int32           `json:"minRestarts"`
	States            []string        `json:"states"`
	MaxAge            metav1.Duration `json:"maxAge"`
	MinAge            metav1.Duration `json:"minAge"`
	Reasons           []string        `json:"reasons"`
	Remove            plan.Removal    `json:"remove"`
}

// ownerKinds selects pods by the kinds of their owners.
type ownerKinds struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

func (k ownerKinds) match(r *verifier, p *corev1.Pod) bool {
	kinds := r.kindsOf(p)
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(kind string) bool { return slices.Contains(kinds, kind) })
	}
	return (len(k.Include) == 0 || has(k.Include)) && !has(k.Exclude)
}

// derives reports whether the verifier derives the goals of strategies of a type.
func derives(typ string) bool {
	return slices.Contains([]string{"TopologySpread", "Duplicates", "InterPodAntiAffinity", "NodeAffinity", "NodeTaints", "Restarts",
		"Lifetime", "FailedPods"}, typ)
}

// goalsOf returns the goals of one strategy.
func (r *verifier) goalsOf(s planverifier.StrategyRules) ([]*goal, error) {
	of := r.rules.Strategies[s.Name]
	if !derives(of.Type) {
		return nil, nil
	}
	a := arguments{WhenUnsatisfiable: []string{"DoNotSchedule"}, MinAge: metav1.Duration{Duration: time.Hour}, Remove: plan.ByEviction}
	if len(of.Args) > 0 {
		d := json.NewDecoder(bytes.NewReader(of.Args))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return nil, err
		}
	}
	switch of.Type {
	case "TopologySpread":
		return r.spreads(s, a.WhenUnsatisfiable), nil
	case "Duplicates":
		return r.duplicates(s, a.OwnerKinds), nil
	case "InterPodAntiAffinity":
		return r.apart(s), nil
	}
	var out []*goal
	for _, p := range r.sortedPods() {
		if r.inScope(s, p) {
			if g := r.goalAbout(p, of.Type, a); g != nil {
				g.strategy = s.Name
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// goalAbout returns the goal of a strategy about one pod, or nil.
func (r *verifier) goalAbout(p *corev1.Pod, typ string, a arguments) *goal {
	anywhere := func(string) bool { return true }
	switch {
	case typ == "Restarts" && !isTerminal(p) && a.restarted(p),
		typ == "Lifetime" && !isTerminal(p) && a.expired(r, p):
		return leave(p, anywhere, "")
	case typ == "Lifetime" && len(a.States) > 0 && a.expired(r, p):
		return leave(p, anywhere, plan.ByEviction)
	case typ == "FailedPods" && p.Status.Phase == corev1.PodFailed && a.failed(r, p):
		return leave(p, anywhere, a.Remove)
	case isTerminal(p):
		return nil
	case typ == "NodeAffinity":
		return r.byAffinity(p, a)
	case typ == "NodeTaints":
		return r.byTaints(p, a)
	}
	return nil
}

// leave returns a goal about one pod. It is met when the pod has left, and its replacement, if any, is on a good node.
func leave(p *corev1.Pod, good func(node string) bool, removal plan.Removal) *goal {
	name := key(p)
	return &goal{pods: map[string]bool{name: true}, removal: removal,
		of: plan.Goal{Kind: plan.PodAway, Subject: plan.ObjectRef{Namespace: p.Namespace, Name: p.Name}},
		excess: func(at places) int {
			if at.moved[name] && (removal != "" || good(at.node[name])) {
				return 0
			}
			return 1
		}}
}

func (a arguments) restarted(p *corev1.Pod) bool {
	restarts, states := int32(0), []string{string(p.Status.Phase)}
	for _, c := range p.Status.ContainerStatuses {
		if restarts += c.RestartCount; c.State.Waiting != nil {
			states = append(states, c.State.Waiting.Reason)
		}
	}
	return restarts >= a.MinRestarts && a.hasState(states)
}

func (a arguments) hasState(states []string) bool {
	return len(a.States) == 0 || slices.ContainsFunc(a.States, func(s string) bool { return slices.Contains(states, s) })
}

// statesOf returns the phase of a pod, and the reasons in its status and in those of its containers.
func statesOf(p *corev1.Pod) []string {
	states := []string{string(p.Status.Phase), p.Status.Reason}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			states = append(states, c.State.Waiting.Reason)
		}
		if c.State.Terminated != nil {
			states = append(states, c.State.Terminated.Reason)
		}
	}
	return states
}

// ageOf returns the age of a pod, or -1 if it is unknown.
func ageOf(r *verifier, p *corev1.Pod) time.Duration {
	if p.CreationTimestamp.IsZero() || p.CreationTimestamp.After(r.all.TakenAt) {
		return -1
	}
	return r.all.TakenAt.Sub(p.CreationTimestamp.Time)
}

func (a arguments) expired(r *verifier, p *corev1.Pod) bool {
	old := a.MaxAge.Duration == 0 || ageOf(r, p) > a.MaxAge.Duration
	return old && a.hasState(statesOf(p)) && a.OwnerKinds.match(r, p)
}

func (a arguments) failed(r *verifier, p *corev1.Pod) bool {
	reasons := statesOf(p)[1:]
	listed := len(a.Reasons) == 0 || slices.ContainsFunc(a.Reasons, func(s string) bool { return slices.Contains(reasons, s) })
	end, known := endOf(p)
	return listed && known && !end.After(r.all.TakenAt) && r.all.TakenAt.Sub(end) >= a.MinAge.Duration && a.OwnerKinds.match(r, p)
}

// endOf returns the last time in the status of a failed pod, or its creation if the pod never ran.
func endOf(p *corev1.Pod) (end time.Time, known bool) {
	var times []metav1.Time
	for _, c := range p.Status.Conditions {
		if started := c.Status == corev1.ConditionTrue && c.Reason == "" && slices.Contains([]corev1.PodConditionType{corev1.PodInitialized,
			corev1.ContainersReady, corev1.PodReadyToStartContainers}, c.Type); !started {
			times = append(times, c.LastTransitionTime)
		}
	}
	for _, c := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses) {
		if c.State.Terminated != nil {
			times = append(times, c.State.Terminated.FinishedAt)
		}
	}
	for _, t := range times {
		if t.Time.After(end) {
			end = t.Time
		}
	}
	if end.IsZero() && len(p.Status.ContainerStatuses)+len(p.Status.InitContainerStatuses) == 0 {
		end = p.CreationTimestamp.Time
	}
	return end, !end.IsZero()
}

// byAffinity returns the goal of NodeAffinity about a pod, or nil.
func (r *verifier) byAffinity(p *corev1.Pod, a arguments) *goal {
	here := r.nodes[p.Spec.NodeName]
	if (a.Required == nil || *a.Required) && !matchesRequired(p, here) {
		return leave(p, func(node string) bool { return node != here.Name && matchesRequired(p, r.nodes[node]) }, "")
	}
	if !a.Preferred || !matchesRequired(p, here) || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil
	}
	return r.forBetter(p, func(n *corev1.Node) int { return int(terms.Score(n)) })
}

// forBetter returns a goal about a pod that leaves for a node of a higher rank on which it can run,
// or nil if there is none.
func (r *verifier) forBetter(p *corev1.Pod, rank func(n *corev1.Node) int) *goal {
	own, better := rank(r.nodes[p.Spec.NodeName]), map[string]bool{}
	for name, n := range r.nodes {
		if rank(n) > own && canRun(p, n) && !r.rules.Plan.IsVirtual(n) {
			better[name] = true
		}
	}
	if len(better) == 0 {
		return nil
	}
	return leave(p, func(node string) bool { return better[node] }, "")
}

// byTaints returns the goal of NodeTaints about a pod, or nil.
func (r *verifier) byTaints(p *corev1.Pod, a arguments) *goal {
	listed := func(t corev1.Taint, list []string) bool {
		return slices.Contains(list, t.Key) || slices.Contains(list, t.Key+"="+t.Value)
	}
	count := func(n *corev1.Node, effect corev1.TaintEffect) (count int) {
		for _, t := range untolerated(p, n.Spec.Taints, effect) {
			state := strings.HasPrefix(t.Key, "node.kubernetes.io/") || strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/") ||
				t.Key == "DeletionCandidateOfClusterAutoscaler"
			if hint := strings.HasPrefix(t.Key, "evenkeel.io/"); !hint && (listed(t, a.Include) || len(a.Include) == 0 && !state && !listed(t, a.Exclude)) {
				count++
			}
		}
		return count
	}
	here := r.nodes[p.Spec.NodeName]
	if count(here, corev1.TaintEffectNoSchedule) > 0 {
		return leave(p, func(node string) bool { return node != here.Name }, "")
	}
	if !a.PreferNoSchedule || count(here, corev1.TaintEffectPreferNoSchedule) == 0 {
		return nil
	}
	return r.forBetter(p, func(n *corev1.Node) int { return -count(n, corev1.TaintEffectPreferNoSchedule) })
}
