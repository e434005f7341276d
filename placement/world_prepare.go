package placement

import (
	"encoding/binary"
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// replacementOf returns what holds for the pod's class, building it on first use.
func (w *ClusterModel) replacementOf(p cluster.PodID) *Replacement {
	c := w.PodClass[p]
	if in := w.replacements[c.number]; in != nil {
		return in
	}
	pod := c.sample.Object
	v := w.nodeChecksOf(pod, c.profile)
	in := &Replacement{class: c, profile: c.profile, ViewNumber: v.number, affinityOK: v.affinityOK, taintsOK: v.taintsOK, NodeOK: v.canRun, Static: v.fixed, Err: v.err}
	w.replacements[c.number] = in
	in.scorers = w.scorersFor(c.profile)
	in.Requests, in.ScoredRequests = RequestsOf(pod)
	in.Checked = c.profile.RequestsChecked(&in.Requests)
	in.ports, in.disks = c.ports, c.disks
	if in.Err != nil {
		return in
	}
	in.Static.images = w.images.Scores(pod)
	if in.featuresOK, in.Err = DeclaredFeatures(w.Cluster, pod); in.Err != nil {
		return in
	}
	in.Volumes = w.Storage.Place(pod, !in.profile.Off[NodeVolumeLimits])
	in.DropDisabledFilters()
	if in.spread, in.Err = spreadRulesOf(w.Cluster, c, in); in.Err != nil {
		return in
	}
	if c.profile.Policy != nil {
		in.policy = NewCounters(w.Cluster, c)
	}
	in.InterPod, in.Err = InterPodTermsOf(w.Cluster, c)
	in.NamespacesUnknown = namespaceLabelsUnknown(w.Cluster, c)
	return in
}

// newAttempt starts a scheduling attempt.
func (w *ClusterModel) newAttempt(in *Replacement, pod cluster.PodID) Attempt {
	w.updateLocal(in)
	return NewAttempt(w.Cluster, &w.buf, in, pod)
}

// scorersFor returns the score plugins of a profile.
func (w *ClusterModel) scorersFor(p *Compiled) []Scorer {
	list, known := w.scorers[p]
	if !known {
		if p.Policy != nil {
			list = PolicyPlugins(p.Policy)
		} else {
			list = Plugins(p)
		}
		w.scorers[p] = list
	}
	return list
}

// nodeChecksOf returns the view of the pod's spec under a profile, building it on first
// use.
func (w *ClusterModel) nodeChecksOf(pod *corev1.Pod, p *Compiled) *NodeChecks {
	key := string(viewKey(appendText(nil, p.ViewKey), &pod.Spec))
	if v := w.nodeChecks[key]; v != nil {
		return v
	}
	n := len(w.Snap.Nodes)
	w.LastNumber++
	v := &NodeChecks{number: w.LastNumber, affinityOK: make([]bool, n), taintsOK: make([]bool, n), canRun: make([]bool, n)}
	w.nodeChecks[key] = v
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range w.Snap.Nodes {
		node := &w.Snap.Nodes[i]
		v.affinityOK[i] = MatchesNodeAffinity(required, w.NodeObject(i))
		v.taintsOK[i] = ToleratesTaints(pod, node.Object)
		v.canRun[i] = RefusedBySpec(w.Cluster, pod, p, i, v.affinityOK[i], v.taintsOK[i]) == ""
	}
	v.fixed, v.err = newFixedScores(w.Cluster, pod, p.addedPreferred)
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
