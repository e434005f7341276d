package search

import (
	corev1 "k8s.io/api/core/v1"

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
}

// NewWaveStates returns the states of an empty wave that begins in state c.
func NewWaveStates(c *State) WaveStates {
	crowded := *c
	crowded.Model = c.Model.Clone()
	return WaveStates{c.Clone(), &crowded}
}

// Join adds a move to the wave. The caller applies it to the current state.
func (w WaveStates) Join(m Step) { w.Crowded.Model.PlaceReplacement(m.Pod, m.Landing.To) }

// leave undoes Join.
func (w WaveStates) leave(m Step) {
	w.Crowded.Model.EndTermination(m.Pod)
	w.Crowded.Model.Move(m.Pod, m.From)
}

// close makes a move of the wave part of the next wave's start.
func (w WaveStates) close(m Step) {
	w.Start.Apply(m)
	w.Crowded.Model.EndTermination(m.Pod)
}

// applyClosed applies a move of an earlier wave.
func (w WaveStates) applyClosed(m Step) {
	w.Start.Apply(m)
	w.Crowded.Model.Move(m.Pod, m.Landing.To)
}

// undoClosed undoes a move of an earlier wave.
func (w WaveStates) undoClosed(m Step) {
	w.Start.Undo(m)
	w.Crowded.Model.Move(m.Pod, m.From)
}

// A predictor is PredictLanding or PredictDisplacedLanding.
type predictor func(*State, cluster.PodID) (Landing, plan.Reason, bool)

// PredictInWave predicts the landing of a pod in both states. l is its landing in the current
// state. The result is the landing while all evicted pods of the wave terminate, which is the
// usual order, with the worst probabilities of the three states.
func (w WaveStates) PredictInWave(pod cluster.PodID, l Landing, predict predictor) (Landing, plan.Reason, bool) {
	first, reason, ok := predict(w.Start, pod)
	if !ok {
		return l, reason, false
	}
	last, reason, ok := predict(w.Crowded, pod)
	if !ok {
		return l, reason, false
	}
	return last.worst(first).worst(l), plan.Reason{}, true
}

// worst returns the landing with the worse probabilities of both.
func (l Landing) worst(o Landing) Landing {
	l.Confidence = min(l.Confidence, o.Confidence)
	l.ReturnProbability = max(l.ReturnProbability, o.ReturnProbability)
	l.PendingProbability = max(l.PendingProbability, o.PendingProbability)
	return l
}

// OthersStay reports whether the landings of mates remain acceptable if the replacement of m is
// placed before theirs. Mates are the moves of the wave so far. It checks the mates that m can
// affect: those that land on the same node and, if m or the mate depends on other pods, all.
func (w WaveStates) OthersStay(c *State, m Step, mates []Step) bool {
	w.Join(m)
	c.Goals.Move(m.Pod, m.From, m.Landing.To)
	defer func() {
		c.Goals.Move(m.Pod, m.Landing.To, m.From)
		w.leave(m)
	}()
	depends := dependsOnPods(c.Snapshot.Pods[m.Pod].Object)
	for _, mate := range mates {
		if mate.Landing.To != m.Landing.To && !depends && !dependsOnPods(c.Snapshot.Pods[mate.Pod].Object) {
			continue
		}
		if !w.stays(c, mate) {
			return false
		}
	}
	return true
}

// stays reports whether the landing of a move of the wave is acceptable after all others.
func (w WaveStates) stays(c *State, m Step) bool {
	predict := (*State).PredictLanding
	if m.Displaced != nil {
		predict = (*State).PredictDisplacedLanding
	}
	w.leave(m)
	c.Goals.Move(m.Pod, m.Landing.To, m.From)
	_, _, ok := predict(w.Crowded, m.Pod)
	c.Goals.Move(m.Pod, m.From, m.Landing.To)
	w.Join(m)
	return ok
}

// dependsOnPods reports whether other pods decide on which nodes the pod fits.
func dependsOnPods(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	if a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return true
	}
	for i := range p.Spec.TopologySpreadConstraints {
		if p.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			return true
		}
	}
	return false
}
