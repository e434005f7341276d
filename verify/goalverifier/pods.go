package goalverifier

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/targets"
)

// arguments are those of all strategies that the verifier knows.
type arguments struct {
	WhenUnsatisfiable []string         `json:"whenUnsatisfiable"`
	OwnerKinds        ownerKinds       `json:"ownerKinds"`
	Required          *bool            `json:"required"`
	Preferred         bool             `json:"preferred"`
	PreferNoSchedule  bool             `json:"preferNoSchedule"`
	Include           []string         `json:"include"`
	Exclude           []string         `json:"exclude"`
	MinRestarts       int32            `json:"minRestarts"`
	States            []string         `json:"states"`
	MaxAge            metav1.Duration  `json:"maxAge"`
	MinAge            *metav1.Duration `json:"minAge"`
	Reasons           []string         `json:"reasons"`
	Remove            plan.Removal     `json:"remove"`

	marks targets.Marks // of the configuration
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
	a := arguments{WhenUnsatisfiable: []string{"DoNotSchedule"}, Remove: plan.ByEviction, marks: r.rules.Plan.NodeMarks}
	if len(of.Args) > 0 {
		d := json.NewDecoder(bytes.NewReader(of.Args))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil {
			return nil, err
		}
	}
	switch of.Type {
	case "NodeAffinity", "NodeTaints":
		r.preferences[s.Name] = func(p *corev1.Pod) preference { return a.preferenceOf(of.Type, p) }
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
	}
	return r.byNode(p, a.preferenceOf(typ, p))
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
	old := ageOf(r, p) > a.MaxAge.Duration
	if a.MaxAge.Duration == 0 { // pods that have ended need no least age
		least := a.minAge(10 * time.Minute)
		old = isTerminal(p) || least == 0 || ageOf(r, p) >= least
	}
	return old && a.hasState(statesOf(p)) && a.OwnerKinds.match(r, p)
}

// minAge returns the argument minAge, or the default of the type of strategy.
func (a arguments) minAge(standard time.Duration) time.Duration {
	if a.MinAge == nil {
		return standard
	}
	return a.MinAge.Duration
}

func (a arguments) failed(r *verifier, p *corev1.Pod) bool {
	reasons := statesOf(p)[1:]
	listed := len(a.Reasons) == 0 || slices.ContainsFunc(a.Reasons, func(s string) bool { return slices.Contains(reasons, s) })
	end, known := endOf(p)
	return listed && known && !end.After(r.all.TakenAt) && r.all.TakenAt.Sub(end) >= a.minAge(time.Hour) && a.OwnerKinds.match(r, p)
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
