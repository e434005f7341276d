package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// goneWeight is the weight of the state "victim already gone" while the victim
// has a grace period: its controller is quick, but not always quicker than a
// victim that ends early.
const goneWeight = 0.1

// State is what the scheduler would find in one state of the victim.
type State struct {
	// Feasible are the nodes that every filter lets the replacement onto, sorted;
	// nil in the predictions of PredictOdds.
	Feasible []cluster.NodeID
	// Fitting are the same nodes as a set, in the predictions of PredictOdds alone.
	Fitting NodeSet
	// Winners are all nodes that may be chosen, sorted: those tied at the best
	// total score. Where the scheduler judges a sample of the feasible nodes,
	// they are the best of any sample, and those that may win in a scattered one.
	Winners []cluster.NodeID
	// Odds are the winners' probabilities; they sum to 1. They are nil where
	// all are equal, which holds whenever every feasible node is judged.
	Odds []float64
	// Sample is how many of the feasible nodes the scheduler judges at once,
	// beside each other; 0: all.
	Sample int
	// Best is the best total score, of any sample where there are several; 0
	// when nothing is feasible.
	Best int64
}

// Odd returns the probability that Winners[i] is chosen in this state.
func (s State) Odd(i int) float64 {
	if s.Odds != nil {
		return s.Odds[i]
	}
	return 1 / float64(len(s.Winners))
}

// Prediction is where the replacement of a pod would land.
type Prediction struct {
	// Terminating: the victim still holds its resources and its place in
	// inter-pod affinity, but topology spread no longer counts it.
	Terminating State
	// Gone: the victim is away.
	Gone State
	// WeightGone is the weight 0..1 of Gone; Terminating has the rest.
	WeightGone float64
	// SupportedWhy says why nothing can be foretold; empty when it can. The
	// states are then empty and every probability is 0, that of pending too.
	SupportedWhy string
}

// Predict foretells where the replacement of the pod would land if the pod were
// evicted now, in this world.
func (w *World) Predict(p cluster.PodID) Prediction {
	pr := w.PredictOdds(p)
	for _, s := range [...]*State{&pr.Terminating, &pr.Gone} {
		if s.Fitting.Len() > 0 {
			s.Feasible = slices.AppendSeq(make([]cluster.NodeID, 0, s.Fitting.Len()), s.Fitting.All())
		}
		s.Fitting, s.Winners, s.Odds = NodeSet{}, slices.Clone(s.Winners), slices.Clone(s.Odds)
	}
	return pr
}

// PredictOdds is Predict with the feasible nodes as a set, which costs a fraction
// where there are thousands of nodes. It is good until the world's next prediction.
func (w *World) PredictOdds(p cluster.PodID) Prediction {
	why, ok := w.Supported(p)
	if !ok {
		return Prediction{SupportedWhy: why}
	}
	in := w.incomingOf(p)
	pr := Prediction{WeightGone: w.weightGone(p)}
	if w.quickly(in, p, &pr) {
		return pr
	}
	w.inBothStates(p, func(gone bool) {
		s := w.state(in, p)
		if gone {
			pr.Gone = s
		} else {
			pr.Terminating = s
		}
	})
	return pr
}

// inBothStates calls f with the victim terminating, then with the victim gone,
// and puts the victim back.
func (w *clusterState) inBothStates(p cluster.PodID, f func(gone bool)) {
	n := w.node[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	w.shiftSpread(p, n, -1)
	f(false)
	w.attachments.leaving = n
	w.shiftRest(p, n, -1)
	f(true)
	w.attachments.leaving = cluster.NoNode
	w.shiftRest(p, n, 1)
	w.shiftSpread(p, n, 1)
}

// state runs filters and scores as things stand.
func (w *World) state(in *incoming, p cluster.PodID) State {
	r := w.begin(in, p)
	feasible := r.passing(w.buf.feasible[:0])
	if len(w.nominated) > 0 {
		feasible = slices.DeleteFunc(feasible, func(n cluster.NodeID) bool { return r.refusedBesideWaiting(n) != "" })
		r = w.begin(in, p)
	}
	w.buf.feasible = feasible
	if len(feasible) == 0 {
		return State{}
	}
	if size := sampleSize(len(w.snap.Nodes), in.profile.PercentageOfNodesToScore); size < len(feasible) {
		return w.sampler.sample(&r, feasible, size, w.scattered)
	}
	r.score(feasible)
	s := State{Fitting: w.nodeSet(feasible), Best: slices.Max(w.buf.total)}
	for i, t := range w.buf.total {
		if t == s.Best {
			s.Winners = append(s.Winners, feasible[i])
		}
	}
	return s
}

// nodeSet is a set of these nodes.
func (w *clusterState) nodeSet(nodes []cluster.NodeID) NodeSet {
	w.walked()
	places := w.place
	s := NodeSet{count: len(nodes), bits: make([]uint64, (len(places)+63)/64), place: places, walk: w.walk}
	for _, n := range nodes {
		s.bits[places[n]>>6] |= 1 << (places[n] & 63)
	}
	return s
}

// weightGone says how likely the replacement is scheduled only after the victim
// is gone. A StatefulSet waits for that, and so does a Job unless its
// podReplacementPolicy is TerminatingOrFailed.
func (w *World) weightGone(p cluster.PodID) float64 {
	pod := &w.snap.Pods[p]
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	switch own := pod.Object.Spec.TerminationGracePeriodSeconds; {
	case w.opts.GracePeriodSeconds != nil:
		grace = *w.opts.GracePeriodSeconds
	case own != nil:
		grace = *own
	}
	if o, ok := w.ownerOf(pod); grace <= 0 || w.node[p] == cluster.NoNode || ok && o.afterVictim ||
		pod.Controller != nil && pod.Controller.Kind == "StatefulSet" {
		return 1
	}
	return goneWeight
}

// jobWaits reports whether a Job replaces a pod only when it has ended. The API
// server fills in Failed where there is a podFailurePolicy.
func jobWaits(j *batchv1.Job) bool {
	if p := j.Spec.PodReplacementPolicy; p != nil {
		return *p == batchv1.Failed
	}
	return j.Spec.PodFailurePolicy != nil
}

// Prob returns the probability that the replacement lands on a node for which
// `on` holds.
func (p Prediction) Prob(on func(cluster.NodeID) bool) float64 {
	return (1-p.WeightGone)*p.Terminating.share(on) + p.WeightGone*p.Gone.share(on)
}

// ProbOf is Prob of one node.
func (p Prediction) ProbOf(n cluster.NodeID) float64 {
	return (1-p.WeightGone)*p.Terminating.shareOf(n) + p.WeightGone*p.Gone.shareOf(n)
}

func (s State) shareOf(n cluster.NodeID) float64 {
	i, wins := slices.BinarySearch(s.Winners, n)
	switch {
	case !wins:
		return 0
	case len(s.Winners) == 1:
		return 1
	}
	return s.Odd(i)
}

func (s State) share(on func(cluster.NodeID) bool) float64 {
	hits, sum := 0, 0.0
	for i, n := range s.Winners {
		if on(n) {
			hits++
			if s.Odds != nil {
				sum += s.Odds[i]
			}
		}
	}
	switch {
	case hits == 0:
		return 0
	case s.Odds == nil || hits == len(s.Winners):
		return float64(hits) / float64(len(s.Winners))
	}
	return sum
}

// Pending returns the probability that no node is feasible; 0 when nothing can
// be foretold.
func (p Prediction) Pending() float64 {
	if p.SupportedWhy != "" {
		return 0
	}
	sum := 0.0
	if len(p.Terminating.Winners) == 0 {
		sum += 1 - p.WeightGone
	}
	if len(p.Gone.Winners) == 0 {
		sum += p.WeightGone
	}
	return sum
}

// Likeliest returns the node with the highest probability, the lowest NodeID
// among equals; NoNode when no node has any.
func (p Prediction) Likeliest() cluster.NodeID {
	return p.LikeliestOf(func(cluster.NodeID) bool { return true })
}

// LikeliestOf is Likeliest among the nodes for which `on` holds.
func (p Prediction) LikeliestOf(on func(cluster.NodeID) bool) cluster.NodeID {
	best, bestProb := cluster.NoNode, 0.0
	a, b := p.Terminating.Winners, p.Gone.Winners
	for i, j := 0, 0; i < len(a) || j < len(b); {
		prob, n := 0.0, cluster.NoNode
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			n, prob = a[i], (1-p.WeightGone)*p.Terminating.Odd(i)
			i++
		} else {
			n = b[j]
		}
		if j < len(b) && b[j] == n {
			prob += p.WeightGone * p.Gone.Odd(j)
			j++
		}
		if prob > bestProb && on(n) {
			best, bestProb = n, prob
		}
	}
	return best
}
