package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
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
	// placeless counts the members without a predicted place.
	placeless int
	// members are the pods of the wave, and dependent those that depend on the places of others.
	members, dependent []cluster.PodID
	// membersPlaces are the places of members, and largest their largest requests.
	membersPlaces []*places
	largest       *cluster.Resources
	// placesAtStart caches the results of placesOf. Every change of Start clears it.
	placesAtStart map[placesKey]*places
}

// NewWaveStates returns the states of an empty wave that begins in state c.
func NewWaveStates(c *State) *WaveStates {
	crowded := *c
	crowded.Model = c.Model.Clone()
	return &WaveStates{Start: c.Clone(), Crowded: &crowded, terminating: map[cluster.NodeID]int{}, placesAtStart: map[placesKey]*places{}}
}

// Join adds a move to the wave. The caller applies it to the current state.
func (w *WaveStates) Join(m Step) {
	if w.Start.Snapshot.Pods[m.Pod].Terminal {
		return // it uses no room, and no replacement follows
	}
	w.Crowded.Model.PlaceReplacement(m.Pod, m.Landing.To)
	w.count(m, 1)
	w.members = append(w.members, m.Pod)
	if m.Kind == WithoutPlace {
		w.placeless++
	} else {
		w.membersPlaces = append(w.membersPlaces, w.placesOf(m.Move))
		w.largest = w.largestWith(m.Pod)
	}
	if w.Start.Model.DependsOnOthers(m.Pod) {
		w.dependent = append(w.dependent, m.Pod)
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
	clear(w.placesAtStart)
	w.Crowded.Model.EndTermination(m.Pod)
	w.count(m, -1)
}

func (w *WaveStates) count(m Step, by int) {
	if w.Start.Snapshot.Pods[m.Pod].Terminal {
		return
	}
	if w.terminating[m.From] += by; w.terminating[m.From] == 0 {
		delete(w.terminating, m.From)
	}
	if hasPodAffinity(w.object(m.Pod)) {
		w.withAffinity += by
	}
	if by < 0 {
		if m.Kind == WithoutPlace {
			w.placeless--
		}
		left := func(p cluster.PodID) bool { return p == m.Pod }
		w.membersPlaces = slices.DeleteFunc(w.membersPlaces, func(pl *places) bool { return left(pl.pod) })
		w.members, w.dependent = slices.DeleteFunc(w.members, left), slices.DeleteFunc(w.dependent, left)
		if len(w.members) == 0 {
			w.largest = nil
		}
	}
}

func (w *WaveStates) object(p cluster.PodID) *corev1.Pod { return w.Start.Snapshot.Pods[p].Object }

// applyClosed applies a move of an earlier wave.
func (w *WaveStates) applyClosed(m Step) {
	w.Start.Apply(m)
	clear(w.placesAtStart)
	w.Crowded.Model.Move(m.Pod, m.Landing.To)
}

// undoClosed undoes a move of an earlier wave.
func (w *WaveStates) undoClosed(m Step) {
	w.Start.Undo(m)
	clear(w.placesAtStart)
	w.Crowded.Model.Move(m.Pod, m.From)
}

// PredictInWave predicts the landing of a pod in both states. l is its landing in the current
// state. The result has the worst probabilities of all states.
//
// It skips the prediction in Crowded if that state cannot decide: the scheduler prefers free
// nodes, no evicted pod still terminates on a node that may win, and no pod of the wave has
// inter-pod affinity. Topology spread does not count terminating pods.
func (w *WaveStates) PredictInWave(m Move, l Landing) (Landing, plan.Reason, bool) {
	first, reason, ok := w.Start.Predict(m)
	if !ok {
		return l, reason, false
	}
	if l.To == cluster.NoNode {
		return l, plan.Reason{}, true
	}
	w.addPlaces(m, first.predicted)
	if !w.crowdMatters(m.Pod, l) {
		return l.worst(first), plan.Reason{}, true
	}
	last, reason, ok := w.Crowded.Predict(m)
	if !ok {
		return l, reason, false
	}
	if last.predicted.Gone.FeasibleSet.Has(l.To) {
		return l.worst(first).worst(last), plan.Reason{}, true
	}
	return last.worst(first).worst(l), plan.Reason{}, true
}

func (w *WaveStates) crowdMatters(pod cluster.PodID, l Landing) bool {
	if w.withAffinity > 0 || hasPodAffinity(w.object(pod)) || !placement.AvoidsPods(w.Start.Model, pod) {
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
	l.NotBad = min(l.NotBad, o.NotBad)
	return l
}

// Independent reports whether no required spread constraint, no required affinity term and no
// required anti-affinity term by domains of several nodes relates the pod to a pod of the wave. Spread
// does not count terminating pods, affinity can be met by a pod that leaves, and anti-affinity can
// exclude a whole domain, so the order of evictions and placements would decide where such pods fit.
func (w *WaveStates) Independent(pod cluster.PodID) bool {
	m := w.Start.Model
	if w.Start.Snapshot.Pods[pod].Terminal {
		return true
	}
	return !placement.AnyDependsOn(m, w.dependent, pod) && !placement.DependsOn(m, pod, w.members)
}

func hasPodAffinity(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil)
}
