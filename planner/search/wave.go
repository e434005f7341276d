package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// Wave holds the moves that are in flight at once, and decides which moves belong to it. The API server accepts the
// evictions at once, the pods terminate at different times, and the scheduler places the replacements in any order. A
// landing of the wave must be acceptable in all of its states, and also after all other moves of the wave. Node hints
// belong to a wave: all of its moves are predicted with all of its hints.
type Wave struct {
	// Start is the cluster at the beginning of the wave.
	Start *Simulation
	// Now is the cluster after the moves of the wave: the current state of the search.
	Now *Simulation
	// Crowded is the cluster in which every evicted pod of the wave still terminates, and every other replacement is
	// placed. Its goals are those of Now.
	Crowded *Simulation
	// InFlight counts the pods of the wave that are away at once. eligible has the budgets that it charges.
	InFlight eligibility.InFlightCount
	eligible *eligibility.Checker
	// consumed holds the budgets that earlier waves consumed permanently.
	consumed *eligibility.Consumed
	number   int
	steps    []Step
	hinted   []cluster.NodeID
	// mayHint says that the wave may get further hints.
	mayHint bool
	// Seen, if not nil, is called with each acceptable landing in Start and Now.
	Seen func(c *Simulation, m Move, l *Landing)
	// unlandable caches the pods without an acceptable landing.
	unlandable rejectedSinceMove
	// terminating has the number of evicted pods of the wave, by node.
	terminating []int32
	// withAffinity counts the evicted pods of the wave that have inter-pod affinity.
	withAffinity int
	// placeless counts the members without a predicted place.
	placeless int
	// members are the pods of the wave.
	members   []cluster.PodID
	relations placement.Relations // of members
	// membersPlaces are the places of members, and largest their largest requests.
	membersPlaces []*places
	largest       *cluster.Resources
	// placesAtStart caches the results of placesOf. Every change of Start clears it.
	placesAtStart map[placesKey]*places
}

// begin makes w the next wave, without moves. The caller has applied its moves to Start, or undone them.
func (w *Wave) begin(consumed *eligibility.Consumed, number int) {
	w.consumed, w.number, w.hinted = consumed, number, nil
	clear(w.placesAtStart)
	w.clear()
}

// clear forgets the moves of the wave, but not its hints.
func (w *Wave) clear() {
	w.steps, w.members, w.membersPlaces, w.largest = nil, nil, nil, nil
	w.relations.Clear()
	w.withAffinity, w.placeless = 0, 0
	clear(w.terminating)
	w.InFlight = eligibility.NewInFlight(w.Now.Options.InFlight, w.consumed)
}

// Join makes a move that the wave admits.
func (w *Wave) Join(m Step) {
	w.Now.Apply(m)
	w.steps = append(w.steps, m)
	w.InFlight.Add(w.eligible, m.Pod)
	k := &kinds[m.Kind]
	if !k.replaced {
		return // it uses no room
	}
	w.Crowded.Model.Cluster.PlaceReplacement(m.Pod, m.Landing.To)
	w.terminating[m.From]++
	if hasPodAffinity(w.object(m.Pod)) {
		w.withAffinity++
	}
	w.members = append(w.members, m.Pod)
	w.relations.Add(w.Start.Model, m.Pod)
	if !k.placed {
		w.placeless++
		return
	}
	w.membersPlaces = append(w.membersPlaces, w.placesOf(m.Move))
	w.largest = w.largestWith(m.Pod)
}

// undo undoes all moves of the wave, which keeps its hints.
func (w *Wave) undo() {
	for _, m := range slices.Backward(w.steps) {
		w.Now.Undo(m)
		w.Crowded.Model.Cluster.EndTermination(m.Pod)
		w.Crowded.Model.Cluster.Move(m.Pod, m.From)
	}
	w.clear()
}

// close makes the moves of the wave part of the start of the next wave, and begins that wave. It assumes that the
// replacements are Ready.
func (w *Wave) close() {
	SetHints(w.states(), nil)
	for _, m := range w.steps {
		w.Start.Apply(m)
		w.Crowded.Model.Cluster.EndTermination(m.Pod)
		w.consumed.Add(w.eligible, m.Pod)
	}
	w.begin(w.consumed, w.number+1)
}

func (w *Wave) object(p cluster.PodID) *corev1.Pod { return w.Start.Snapshot.Pods[p].Object }

// applyClosed applies a move of an earlier wave.
func (w *Wave) applyClosed(m Step) {
	w.Start.Apply(m)
	clear(w.placesAtStart)
	w.Crowded.Model.Cluster.Move(m.Pod, m.Landing.To)
}

// undoClosed undoes a move of an earlier wave.
func (w *Wave) undoClosed(m Step) {
	w.Start.Undo(m)
	clear(w.placesAtStart)
	w.Crowded.Model.Cluster.Move(m.Pod, m.From)
}

// predict predicts the landing in one state, and shows an acceptable one to Seen.
func (w *Wave) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	l, reason, ok := c.Predict(m)
	if ok && w.Seen != nil {
		w.Seen(c, m, &l)
	}
	return l, reason, ok
}

// predictInWave predicts the landing of a pod in Start and Crowded. l is its landing in the current
// state. The result has the worst probabilities of all states.
//
// It skips the prediction in Crowded if that state cannot decide: the scheduler prefers free
// nodes, no evicted pod still terminates on a node that may win, and no pod of the wave has
// inter-pod affinity. Topology spread does not count terminating pods.
func (w *Wave) predictInWave(m Move, l Landing) (Landing, plan.Reason, bool) {
	if w.Seen == nil && w.Start.certain(m, w.Start.NodeOf(m.Pod)) {
		countPrediction(w.Start) // counts as a prediction, so that certainty does not change the plan
		return w.predictCrowded(m, l, l)
	}
	first, reason, ok := w.predict(w.Start, m)
	if !ok {
		return l, reason, false
	}
	if l.To == cluster.NoNode {
		return l, plan.Reason{}, true
	}
	w.addPlaces(m, &first.predicted.Gone.FeasibleSet)
	return w.predictCrowded(m, l, first)
}

// predictCrowded completes predictInWave. The parameter first is the landing in Start.
func (w *Wave) predictCrowded(m Move, l, first Landing) (Landing, plan.Reason, bool) {
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

func (w *Wave) crowdMatters(pod cluster.PodID, l Landing) bool {
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

// independent reports whether no required spread constraint, no required affinity term and no
// required anti-affinity term by domains of several nodes relates the pod to a pod of the wave. Spread
// does not count terminating pods, affinity can be met by a pod that leaves, and anti-affinity can
// exclude a whole domain, so the order of evictions and placements would decide where such pods fit.
func (w *Wave) independent(pod cluster.PodID) bool {
	return !w.relations.Related(w.Start.Model, pod)
}

func hasPodAffinity(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil)
}
