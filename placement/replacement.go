package placement

import (
	"encoding/binary"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// replacementOf returns the replacement of the pod's class, and builds it on first use.
func (m *ClusterModel) replacementOf(p cluster.PodID) *cycle.Replacement {
	c := m.Cluster.PodClass[p]
	if in := m.replacements[c.Number]; in != nil {
		return in
	}
	in := m.newReplacement(c)
	in.AddCountersOfOthers()
	return in
}

func (m *ClusterModel) newReplacement(c *model.EquivalenceClass) *cycle.Replacement {
	pod := c.Sample.Object
	v := m.nodeChecksOf(pod, c.Profile)
	in := &cycle.Replacement{Class: c, Profile: c.Profile, NodeChecks: *v}
	m.replacements[c.Number] = in
	in.Requests, in.ScoredRequests = model.RequestsOf(pod, m.Cluster.Snap.Scheduler)
	in.CheckedRequests = c.Profile.CheckedRequests(&in.Requests)
	in.Ports, in.Disks = c.Ports, c.Disks
	if in.Err != nil {
		return in
	}
	in.StaticScores.Images = m.images.Scores(pod)
	if in.FeaturesOK, in.Err = filter.DeclaredFeatures(m.Cluster, pod); in.Err != nil {
		return in
	}
	in.Volumes = m.Cluster.Storage.PlacePod(pod, !in.Profile.Disabled[scheduler.NodeVolumeLimits])
	in.DropDisabledFilters()
	if in.Spread, in.Err = cycle.NewSpreadRules(m.Cluster, c, in); in.Err != nil {
		return in
	}
	in.InterPod, in.Err = cycle.NewInterPodTerms(m.Cluster, c)
	in.UnknownNamespaceReason = cycle.UnknownNamespaceReason(m.Cluster, c)
	return in
}

// nodeChecksOf returns the node checks of the pod's spec under a profile, and builds them on first
// use.
func (m *ClusterModel) nodeChecksOf(pod *corev1.Pod, p *scheduler.Compiled) *cycle.NodeChecks {
	key := string(nodeChecksKey(model.AppendLengthPrefixed(nil, p.NodeChecksKey), &pod.Spec))
	if v := m.nodeChecks[key]; v != nil {
		return v
	}
	n := len(m.Cluster.Snap.Nodes)
	m.Cluster.LastID++
	v := &cycle.NodeChecks{ID: m.Cluster.LastID, AffinityOK: make([]bool, n), TaintsOK: make([]bool, n), CanRun: make([]bool, n)}
	m.nodeChecks[key] = v
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	for i := range m.Cluster.Snap.Nodes {
		node := &m.Cluster.Snap.Nodes[i]
		v.AffinityOK[i] = filter.MatchesNodeAffinity(required, m.Cluster.NodeObject(i))
		v.TaintsOK[i] = filter.ToleratesTaints(pod, node.Object)
		v.CanRun[i] = filter.RefusedBySpec(m.Cluster, pod, p, i, v.AffinityOK[i], v.TaintsOK[i]) == ""
	}
	v.StaticScores, v.Err = score.NewStaticScores(m.Cluster, pod, p.AddedPreferred)
	return v
}

// nodeChecksKey appends the fields of the spec that node checks read.
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
