package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// supportChecks return why a pod is not supported. The first podChecks of them depend on more than the pod's class.
var supportChecks = [...]func(*ClusterModel, *cluster.Pod) string{
	(*ClusterModel).unsupportedScheduler, (*ClusterModel).unsupportedFilter,
	unsupportedPod, (*ClusterModel).unsupportedTemplate,
	(*ClusterModel).unsupportedOwner, (*ClusterModel).unsupportedAffinity, (*ClusterModel).unsupportedVolumes,
}

const podChecks = 4

// Supported reports whether the placement of the pod's replacement can be predicted. If not, it
// returns a sentence that says why.
func (m *ClusterModel) Supported(p cluster.PodID) (why string, ok bool) {
	pod, c := &m.Cluster.Snap.Pods[p], m.Cluster.PodClass[p]
	for i, check := range supportChecks {
		if (i == podChecks || pod.Ordinary) && c.KnownSupported {
			return "", true
		}
		if why := check(m, pod); why != "" {
			return why, false
		}
	}
	c.KnownSupported = true
	return "", true
}

// unsupportedScheduler returns why the pod's scheduler or scheduling fields are not supported.
func (m *ClusterModel) unsupportedScheduler(p *cluster.Pod) string {
	if p.Terminal {
		return "the pod has ended, so it gets no replacement"
	}
	if why := m.unsupportedProfile(m.Cluster.PodClass[p.ID].Profile, scheduler.NameOf(p.Object)); why != "" {
		return why
	}
	if len(p.Object.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	if p.Object.Spec.SchedulingGroup != nil {
		return "it belongs to a scheduling group, which is not supported"
	}
	return ""
}

func (m *ClusterModel) unsupportedProfile(p *scheduler.Compiled, name string) string {
	switch why := p.UnsupportedReason; {
	case why == scheduler.UnknownScheduler:
		return fmt.Sprintf("it is scheduled by %q, %s", name, why)
	case why != "":
		return fmt.Sprintf("it is scheduled by %q: %s", name, why)
	case p.Disabled[scheduler.TaintToleration] && m.Cluster.NotReadyNode != "":
		return fmt.Sprintf("it is scheduled by %q, which ignores taints, and node %s is not ready: this combination is not supported",
			name, m.Cluster.NotReadyNode)
	case p.Packing != nil && !m.Cluster.Packing.HasMeasurements, p.ScoresRisk() && !m.Cluster.Risk.HasMeasurements:
		return fmt.Sprintf("it is scheduled by %q, which scores by measured usage, but the snapshot has neither NodeMetrics nor Usage", name)
	}
	return ""
}

// unsupportedFilter returns the disabled filter that affects the pod and that the model cannot
// disable.
func (m *ClusterModel) unsupportedFilter(p *cluster.Pod) string {
	for _, f := range m.Cluster.PodClass[p.ID].Profile.DisabledFilters {
		if !slices.Contains(scheduler.SwitchableFilters, f) && isAffectedByFilter(f, p.Object) {
			return fmt.Sprintf("its scheduler disables the filter %s, which is not supported", f)
		}
	}
	return ""
}

// isAffectedByFilter reports whether the filter may refuse a node to the pod's replacement. The
// filter must be one of the filters that the model cannot disable.
func isAffectedByFilter(f scheduler.Filter, p *corev1.Pod) bool {
	return f != "NodeName" && // a replacement names no node
		(f != scheduler.VolumeBinding || cluster.HasVolumeClaim(p)) &&
		(f != "DynamicResources" || len(p.Spec.ResourceClaims) > 0)
}

// unsupportedPod returns why a pod that uses resource claims, or that is being resized, is not
// supported. The requests of a resized pod and of its replacement may differ.
func unsupportedPod(_ *ClusterModel, p *cluster.Pod) string {
	if len(p.Object.Spec.ResourceClaims) > 0 || p.Object.Status.ExtendedResourceClaimStatus != nil {
		return "the pod uses resource claims, which are not supported"
	}
	for _, c := range p.Object.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) {
			return "it is being resized in place, so the requests of its replacement are not known"
		}
	}
	return ""
}

// unsupportedOwner returns why the owner of the pod is not supported: its template is scheduled in
// another way, or its selector, which default spread constraints read, is not known.
func (m *ClusterModel) unsupportedOwner(p *cluster.Pod) string {
	o, ok := m.Cluster.OwnerOf(p)
	profile, c := m.Cluster.PodClass[p.ID].Profile, p.Controller
	selecting := []string{"v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet"}
	switch hasDefaults := profile.SystemDefaultSpread || len(profile.DefaultSpread) > 0; {
	case ok && o.Template != nil && o.Template.NodeName != "":
		return fmt.Sprintf("its template sets nodeName %s, so no scheduler places the replacement", o.Template.NodeName)
	case ok && o.Template != nil && len(o.Template.SchedulingGates) > 0:
		return "its template has scheduling gates"
	case !ok && c != nil && hasDefaults && len(p.Object.Spec.TopologySpreadConstraints) == 0 &&
		slices.Contains(selecting, c.APIVersion+" "+c.Kind):
		return fmt.Sprintf("its %s %s is not in the snapshot, so the selector for topology spread is not known", c.Kind, c.Name)
	}
	return ""
}

// unsupportedAffinity returns why the pod's affinity or spread constraints are not supported: they
// are invalid, or select namespaces by labels that are not known. If neither the pod nor pods on nodes have what it
// must check, the replacement is built only for a prediction.
func (m *ClusterModel) unsupportedAffinity(p *cluster.Pod) string {
	if m.Cluster.InvalidAffinityPod != "" {
		return fmt.Sprintf("the affinity of pod %s is invalid", m.Cluster.InvalidAffinityPod)
	}
	if spec := &p.Object.Spec; spec.Affinity == nil && len(spec.TopologySpreadConstraints) == 0 &&
		len(m.Cluster.AntiAffinityTerms)+len(m.Cluster.ScoredTerms) == 0 && model.FeatureBits(spec) == 0 {
		return ""
	}
	in := m.replacementByNode(p.ID)
	if in.Err != nil {
		return strings.TrimSuffix(in.Err.Error(), ".")
	}
	return in.UnknownNamespaceReason
}

func (m *ClusterModel) unsupportedVolumes(p *cluster.Pod) string {
	if len(p.Object.Spec.Volumes) == 0 {
		return ""
	}
	return m.replacementByNode(p.ID).Volumes.UnsupportedReason
}

// unsupportedTemplate returns why a pod that was changed after its creation is not supported. The
// requests of the replacement are not known if the pod was changed after its creation, for example
// by an in-place resize, and its template has other requests. Admission plugins may also change
// requests, so an unchanged pod is never compared with its template.
func (m *ClusterModel) unsupportedTemplate(p *cluster.Pod) string {
	if p.Object.Generation <= 1 {
		return ""
	}
	o, ok := m.Cluster.OwnerOf(p)
	if !ok || o.Template == nil {
		return ""
	}
	c := m.Cluster.PodClass[p.ID]
	if c.TemplateRequests == nil {
		wants := model.RequestsOfTemplate(&corev1.Pod{Spec: *o.Template}, m.Cluster.Snap.Scheduler)
		c.TemplateRequests = &wants
	}
	if model.RequestsOfTemplate(p.Object, m.Cluster.Snap.Scheduler).Equal(*c.TemplateRequests) {
		return ""
	}
	return "it was changed after its creation, and its template has other requests"
}

// Obstacle says what makes placements unpredictable.
type Obstacle uint8

const (
	NoObstacle        Obstacle = iota
	ServerObstacle             // the pod's scheduler, because its server version has no model of its own
	SchedulerObstacle          // the pod's scheduler, for another reason
	PodObstacle                // the pod, its owner or its volumes
)

// Obstacle returns what makes the placement of the pod's replacement unpredictable, and the sentence of Supported.
func (m *ClusterModel) Obstacle(p cluster.PodID) (Obstacle, string) {
	pod := &m.Cluster.Snap.Pods[p]
	why, ok := m.Supported(p)
	switch {
	case ok:
		return NoObstacle, ""
	case m.unsupportedProfile(m.Cluster.PodClass[p].Profile, scheduler.NameOf(pod.Object)) == "":
		return PodObstacle, why
	case !m.Cluster.Snap.KnownVersion():
		return ServerObstacle, why
	}
	return SchedulerObstacle, why
}

// CouldRun returns a function that reports whether a replacement of the pod could run on a node
// next to `pods` pods that request `held`, as filter.CouldRun does. For unsupported pods, the function
// returns true.
func (m *ClusterModel) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := m.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := m.replacementByNode(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		return filter.CouldRun(m.Cluster, in, n, held, pods)
	}
}
