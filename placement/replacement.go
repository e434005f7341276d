package placement

import (
	"encoding/binary"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/policy"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// replacementOf returns what holds for the pod's class, building it on first use.
func (w *ClusterModel) replacementOf(p cluster.PodID) *cycle.Replacement {
	c := w.PodClass[p]
	if in := w.replacements[c.Number]; in != nil {
		return in
	}
	pod := c.Sample.Object
	v := w.nodeChecksOf(pod, c.Profile)
	in := &cycle.Replacement{Class: c, Profile: c.Profile, NodeChecksID: v.ID, AffinityOK: v.AffinityOK, TaintsOK: v.TaintsOK, CanRun: v.CanRun, StaticScores: v.StaticScores, Err: v.Err}
	w.replacements[c.Number] = in
	in.Scorers = w.scorersFor(c.Profile)
	in.Requests, in.ScoredRequests = model.RequestsOf(pod)
	in.CheckedRequests = c.Profile.CheckedRequests(&in.Requests)
	in.Ports, in.Disks = c.Ports, c.Disks
	if in.Err != nil {
		return in
	}
	in.StaticScores.Images = w.images.Scores(pod)
	if in.FeaturesOK, in.Err = filter.DeclaredFeatures(w.Cluster, pod); in.Err != nil {
		return in
	}
	in.Volumes = w.Storage.PlacePod(pod, !in.Profile.Disabled[scheduler.NodeVolumeLimits])
	in.DropDisabledFilters()
	if in.Spread, in.Err = cycle.NewSpreadRules(w.Cluster, c, in); in.Err != nil {
		return in
	}
	if c.Profile.Policy != nil {
		in.Policy = policy.NewCounters(w.Cluster, c)
	}
	in.InterPod, in.Err = cycle.NewInterPodTerms(w.Cluster, c)
	in.UnknownNamespaceReason = cycle.UnknownNamespaceReason(w.Cluster, c)
	return in
}

// newAttempt starts a scheduling attempt.
func (w *ClusterModel) newAttempt(in *cycle.Replacement, pod cluster.PodID) cycle.Attempt {
	w.updateLocalResults(in)
	return cycle.NewAttempt(w.Cluster, &w.scratch, in, pod)
}

// scorersFor returns the score plugins of a profile.
func (w *ClusterModel) scorersFor(p *scheduler.Compiled) []cycle.Scorer {
	list, known := w.scorers[p]
	if !known {
		if p.Policy != nil {
			list = policy.Plugins(p.Policy)
		} else {
			list = score.Plugins(p)
		}
		w.scorers[p] = list
	}
	return list
}

// nodeChecksOf returns the view of the pod's spec under a profile, building it on first
// use.
func (w *ClusterModel) nodeChecksOf(pod *corev1.Pod, p *scheduler.Compiled) *cycle.NodeChecks {
	key := string(nodeChecksKey(model.AppendText(nil, p.NodeChecksKey), &pod.Spec))
	if v := w.nodeChecks[key]; v != nil {
		return v
	}
	n := len(w.Snap.Nodes)
	w.LastID++
	v := &cycle.NodeChecks{ID: w.LastID, AffinityOK: make([]bool, n), TaintsOK: make([]bool, n), CanRun: make([]bool, n)}
	w.nodeChecks[key] = v
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range w.Snap.Nodes {
		node := &w.Snap.Nodes[i]
		v.AffinityOK[i] = filter.MatchesNodeAffinity(required, w.NodeObject(i))
		v.TaintsOK[i] = filter.ToleratesTaints(pod, node.Object)
		v.CanRun[i] = filter.RefusedBySpec(w.Cluster, pod, p, i, v.AffinityOK[i], v.TaintsOK[i]) == ""
	}
	v.StaticScores, v.Err = score.NewStaticScores(w.Cluster, pod, p.AddedPreferred)
	return v
}

func nodeChecksKey(b []byte, spec *corev1.PodSpec) []byte {
	b = model.AppendMap(b, spec.NodeSelector)
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = model.AppendMessage(b, &spec.Tolerations[i])
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		b = model.AppendMessage(b, a.NodeAffinity)
	}
	return b
}
