package placement

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// replacementOf returns the replacement of the pod's class. It builds what is missing.
func (m *ClusterModel) replacementOf(p cluster.PodID) *cycle.Replacement {
	in := m.replacementByNode(p)
	if !in.CountsPods {
		m.addCountedPods(in)
	}
	return in
}

// replacementByNode returns the replacement of the pod's class, and builds it on first use. If CountsPods is false,
// it has what decides where the replacement could run, and lacks what scores read and what counts other pods. Most
// classes of a large cluster need no more.
func (m *ClusterModel) replacementByNode(p cluster.PodID) *cycle.Replacement {
	c := m.Cluster.PodClass[p]
	if in := m.replacements[c.Number]; in != nil {
		return in
	}
	pod := c.Sample.Object
	in := &cycle.Replacement{Class: c, Profile: c.Profile, NodeChecks: *m.nodeChecksOf(pod, c.Profile)}
	m.replacements[c.Number] = in
	in.Requests = c.Sample.Requests
	if mayCountOtherwise(pod) {
		in.Requests = model.RequestsOfTemplate(pod, m.Cluster.Snap.Scheduler)
	}
	in.CheckedRequests = c.Profile.CheckedRequests(&in.Requests)
	in.Ports, in.Disks = c.Ports, c.Disks
	if in.Err != nil {
		return in
	}
	if in.FeaturesOK, in.Err = filter.DeclaredFeatures(m.Cluster, pod); in.Err != nil {
		return in
	}
	in.Volumes = m.Cluster.Storage.PlacePod(pod, !in.Profile.Disabled[scheduler.NodeVolumeLimits])
	in.DropDisabledFilters()
	if in.Err = cycle.CheckSelectors(m.Cluster, c); in.Err == nil {
		in.UnknownNamespaceReason = cycle.UnknownNamespaceReason(m.Cluster, c)
	}
	return in
}

// mayCountOtherwise reports whether the pod may count on its node with other requests than a new pod with its spec: its
// status has resources that may differ from those of the spec.
func mayCountOtherwise(p *corev1.Pod) bool {
	differ := func(containers []corev1.Container, statuses []corev1.ContainerStatus) bool {
		for i := range statuses {
			s := &statuses[i]
			if s.Resources == nil && s.AllocatedResources == nil {
				continue
			}
			at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == s.Name })
			if at < 0 || s.Resources == nil || !sameAmounts(s.Resources.Requests, containers[at].Resources.Requests) ||
				s.AllocatedResources != nil && !sameAmounts(s.AllocatedResources, containers[at].Resources.Requests) {
				return true
			}
		}
		return false
	}
	return p.Spec.Resources != nil || p.Status.Resources != nil || p.Status.AllocatedResources != nil ||
		differ(p.Spec.Containers, p.Status.ContainerStatuses) || differ(p.Spec.InitContainers, p.Status.InitContainerStatuses)
}

func sameAmounts(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// addCountedPods adds to a replacement what replacementByNode leaves out.
func (m *ClusterModel) addCountedPods(in *cycle.Replacement) {
	c, pod := in.Class, in.Class.Sample.Object
	in.CountsPods = true
	if in.ScoredRequests = c.Sample.NonZero; mayCountOtherwise(pod) {
		_, in.ScoredRequests = model.RequestsOf(pod, m.Cluster.Snap.Scheduler)
	}
	if in.Err != nil {
		return
	}
	in.StaticScores.Images = m.images.Scores(pod)
	in.Spread = cycle.NewSpreadRules(m.Cluster, c, in)
	in.InterPod = cycle.NewInterPodTerms(m.Cluster, c)
	in.AddCountersOfOthers()
}

// nodeChecksOf returns the node checks of the pod's spec under a profile, and builds them on first
// use.
func (m *ClusterModel) nodeChecksOf(pod *corev1.Pod, p *scheduler.Compiled) *cycle.NodeChecks {
	key := string(nodeChecksKey(bytekey.AppendString(nil, p.NodeChecksKey), &pod.Spec))
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
	b = bytekey.AppendMap(b, spec.NodeSelector)
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = bytekey.AppendMessage(b, &spec.Tolerations[i])
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		b = bytekey.AppendMessage(b, a.NodeAffinity)
	}
	return b
}
