package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// WaveStates are states of the cluster while a wave is executed. The API server accepts the
// evictions at once, the pods terminate at different times, and the scheduler places the
// replacements in any order. A landing of the wave must be acceptable in both states here,
// and also after all other moves of the wave.
type WaveStates struct {
	// Start is the cluster at the beginning of the wave.
	Start *State
	// Crowded is the cluster in which every evicted pod of the wave still terminates, and
	// every other replacement is placed. Its goals are those of the current state.
	Crowded *State
	// terminating counts the evicted pods of the wave by their nodes.
	terminating map[cluster.NodeID]int
	// withAffinity counts the evicted pods of the wave that have inter-pod affinity.
	withAffinity int
	// spreading are the moves of the wave with required topology spread constraints.
	spreading []Step
}

// NewWaveStates returns the states of an empty wave that begins in state c.
func NewWaveStates(c *State) *WaveStates {
	crowded := *c
	crowded.Model = c.Model.Clone()
	return &WaveStates{Start: c.Clone(), Crowded: &crowded, terminating: map[cluster.NodeID]int{}}
}

// Join adds a move to the wave. The caller applies it to the current state.
func (w *WaveStates) Join(m Step) {
	w.Crowded.Model.PlaceReplacement(m.Pod, m.Landing.To)
	w.count(m, 1)
	if len(requiredSpread(w.object(m.Pod))) > 0 {
		w.spreading = append(w.spreading, m)
	}
}

// leave undoes Join.
func (w *WaveStates) leave(m Step) {
	w.Crowded.Model.EndTermination(m.Pod)
	w.Crowded.Model.Move(m.Pod, m.From)
	w.count(m, -1)
}

// close makes a move of the wave part of the next wave's start.
func (w *WaveStates) close(m Step) {
	w.Start.Apply(m)
	w.Crowded.Model.EndTermination(m.Pod)
	w.count(m, -1)
}

func (w *WaveStates) count(m Step, by int) {
	if w.terminating[m.From] += by; w.terminating[m.From] == 0 {
		delete(w.terminating, m.From)
	}
	if hasPodAffinity(w.object(m.Pod)) {
		w.withAffinity += by
	}
	if by < 0 {
		w.spreading = slices.DeleteFunc(w.spreading, func(e Step) bool { return e.Pod == m.Pod })
	}
}

func (w *WaveStates) object(p cluster.PodID) *corev1.Pod { return w.Start.Snapshot.Pods[p].Object }

// applyClosed applies a move of an earlier wave.
func (w *WaveStates) applyClosed(m Step) {
	w.Start.Apply(m)
	w.Crowded.Model.Move(m.Pod, m.Landing.To)
}

// undoClosed undoes a move of an earlier wave.
func (w *WaveStates) undoClosed(m Step) {
	w.Start.Undo(m)
	w.Crowded.Model.Move(m.Pod, m.From)
}

// A predictor is PredictLanding or PredictDisplacedLanding.
type predictor func(*State, cluster.PodID) (Landing, plan.Reason, bool)

// PredictInWave predicts the landing of a pod in both states. l is its landing in the current
// state. The result has the worst probabilities of all states.
//
// It skips the prediction in Crowded if that state cannot decide: no evicted pod still
// terminates on a node that may win, and no pod of the wave has inter-pod affinity. Topology
// spread does not count terminating pods.
func (w *WaveStates) PredictInWave(pod cluster.PodID, l Landing, predict predictor) (Landing, plan.Reason, bool) {
	first, reason, ok := predict(w.Start, pod)
	if !ok {
		return l, reason, false
	}
	if !w.crowdMatters(pod, l) {
		return l.worst(first), plan.Reason{}, true
	}
	last, reason, ok := predict(w.Crowded, pod)
	if !ok {
		return l, reason, false
	}
	if last.predicted.Gone.FeasibleSet.Has(l.To) {
		return l.worst(first).worst(last), plan.Reason{}, true
	}
	return last.worst(first).worst(l), plan.Reason{}, true
}

func (w *WaveStates) crowdMatters(pod cluster.PodID, l Landing) bool {
	if w.withAffinity > 0 || hasPodAffinity(w.object(pod)) {
		return true
	}
	onTerminating := func(n cluster.NodeID) bool { return w.terminating[n] > 0 }
	return slices.ContainsFunc(l.predicted.Terminating.Winners, onTerminating) || slices.ContainsFunc(l.predicted.Gone.Winners, onTerminating)
}

// worst returns the landing with the worse probabilities of both.
func (l Landing) worst(o Landing) Landing {
	l.Confidence = min(l.Confidence, o.Confidence)
	l.ReturnProbability = max(l.ReturnProbability, o.ReturnProbability)
	l.PendingProbability = max(l.PendingProbability, o.PendingProbability)
	return l
}

// OthersStay reports whether the landings of the wave's earlier moves remain acceptable if the
// replacement of m is placed before theirs. Requests, ports and required anti-affinity are
// symmetric: if m fits beside the others, they fit beside it. Only a spread constraint of an
// earlier move that counts m can refuse a node because of m.
func (w *WaveStates) OthersStay(c *State, m Step) bool {
	pod := w.object(m.Pod)
	for _, e := range slices.Clone(w.spreading) {
		if counts(w.object(e.Pod), pod) && !w.stays(c, m, e) {
			return false
		}
	}
	return true
}

// counts reports whether a required spread constraint of p counts the other pod.
func counts(p, other *corev1.Pod) bool {
	return p.Namespace == other.Namespace && slices.ContainsFunc(requiredSpread(p), func(c corev1.TopologySpreadConstraint) bool {
		sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		return err != nil || sel.Matches(labels.Set(other.Labels))
	})
}

// stays reports whether the landing of an earlier move is acceptable after m.
func (w *WaveStates) stays(c *State, m, earlier Step) bool {
	predict := (*State).PredictLanding
	if earlier.Displaced != nil {
		predict = (*State).PredictDisplacedLanding
	}
	w.leave(earlier)
	w.Join(m)
	c.Goals.Move(earlier.Pod, earlier.Landing.To, earlier.From)
	c.Goals.Move(m.Pod, m.From, m.Landing.To)
	_, _, ok := predict(w.Crowded, earlier.Pod)
	c.Goals.Move(m.Pod, m.Landing.To, m.From)
	c.Goals.Move(earlier.Pod, earlier.From, earlier.Landing.To)
	w.leave(m)
	w.Join(earlier)
	return ok
}

func hasPodAffinity(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil)
}

// requiredSpread returns the spread constraints that can refuse a node.
func requiredSpread(p *corev1.Pod) []corev1.TopologySpreadConstraint {
	return slices.DeleteFunc(slices.Clone(p.Spec.TopologySpreadConstraints), func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != corev1.DoNotSchedule
	})
}
