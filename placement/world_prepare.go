package placement

import (
	"encoding/binary"
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// incomingOf returns what holds for the pod's class, building it on first use.
func (w *World) incomingOf(p cluster.PodID) *incoming {
	c := w.classOf[p]
	if in := w.incoming[c.number]; in != nil {
		return in
	}
	pod := c.sample.Object
	v := w.viewOf(pod, c.profile)
	in := &incoming{class: c, profile: c.profile, view: v.number, affinityOK: v.affinityOK, taintsOK: v.taintsOK, canRun: v.canRun, fixed: v.fixed, err: v.err}
	w.incoming[c.number] = in
	in.scorers = w.scorersFor(c.profile)
	in.request, in.assumed = requestsOf(pod)
	in.asked = c.profile.asked(&in.request)
	in.ports, in.disks = c.ports, c.disks
	if in.err != nil {
		return in
	}
	in.fixed.images = w.images.scores(pod)
	if in.featuresOK, in.err = declaredFeatures(&w.clusterState, pod); in.err != nil {
		return in
	}
	in.vol = w.storage.places(pod, !in.profile.off[NodeVolumeLimits])
	in.switchOff()
	if in.spread, in.err = spreadRulesOf(&w.clusterState, c, in); in.err != nil {
		return in
	}
	if c.profile.Policy != nil {
		in.policy = newPolicyCounts(&w.clusterState, c)
	}
	in.inter, in.err = interPodTermsOf(&w.clusterState, c)
	in.namespaces = namespaceLabelsUnknown(&w.clusterState, c)
	return in
}

// begin starts a scheduling attempt.
func (w *World) begin(in *incoming, pod cluster.PodID) round {
	w.refresh(in)
	return newRound(&w.clusterState, &w.buf, in, pod)
}

// scorersFor returns the score plugins of a profile.
func (w *World) scorersFor(p *profile) []scorer {
	list, known := w.scorers[p]
	if !known {
		if p.Policy != nil {
			list = policyScorers(p.Policy)
		} else {
			list = scorersOf(p)
		}
		w.scorers[p] = list
	}
	return list
}

// viewOf returns the view of the pod's spec under a profile, building it on first
// use.
func (w *World) viewOf(pod *corev1.Pod, p *profile) *view {
	key := string(viewKey(appendText(nil, p.view), &pod.Spec))
	if v := w.views[key]; v != nil {
		return v
	}
	n := len(w.snap.Nodes)
	w.numbered++
	v := &view{number: w.numbered, affinityOK: make([]bool, n), taintsOK: make([]bool, n), canRun: make([]bool, n)}
	w.views[key] = v
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range w.snap.Nodes {
		node := &w.snap.Nodes[i]
		v.affinityOK[i] = affinityMatches(required, w.object(i))
		v.taintsOK[i] = tolerates(pod, node.Object)
		v.canRun[i] = refusedBySpec(&w.clusterState, pod, p, i, v.affinityOK[i], v.taintsOK[i]) == ""
	}
	v.fixed, v.err = newFixedScores(&w.clusterState, pod, p.addedPreferred)
	return v
}

func viewKey(b []byte, spec *corev1.PodSpec) []byte {
	b = appendMap(b, spec.NodeSelector)
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = appendMessage(b, &spec.Tolerations[i])
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		b = appendMessage(b, a.NodeAffinity)
	}
	return b
}
