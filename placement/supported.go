package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// Supported reports whether placement can be foretold for the pod, and if not,
// a sentence that says why.
func (w *ClusterModel) Supported(p cluster.PodID) (why string, ok bool) {
	pod := &w.Snap.Pods[p]
	for _, check := range [...]func(*ClusterModel, *cluster.Pod) string{
		(*ClusterModel).unsupportedServer, (*ClusterModel).unsupportedScheduler, (*ClusterModel).unsupportedFilter, unsupportedResourceClaims, unsupportedResize, (*ClusterModel).unsupportedTemplate,
	} {
		if why := check(w, pod); why != "" {
			return why, false
		}
	}
	c := w.PodClass[p]
	if c.KnownSupported {
		return "", true
	}
	for _, check := range [...]func(*ClusterModel, *cluster.Pod) string{(*ClusterModel).unsupportedOwner, (*ClusterModel).unsupportedAffinity, (*ClusterModel).unsupportedVolumes} {
		if why := check(w, pod); why != "" {
			return why, false
		}
	}
	c.KnownSupported = true
	return "", true
}

func (w *ClusterModel) unsupportedServer(*cluster.Pod) string {
	if s := w.Snap; s.ServerMajor != 1 || s.ServerMinor < 36 || s.ServerMinor > 37 {
		return fmt.Sprintf("the scores of kube-scheduler %d.%d are not known (1.36 and 1.37 are)", s.ServerMajor, s.ServerMinor)
	}
	return ""
}

func (w *ClusterModel) unsupportedScheduler(p *cluster.Pod) string {
	if p.Terminal {
		return "the pod has ended, so its replacement is no longer to come"
	}
	if why := w.unsupportedProfile(w.PodClass[p.ID].Profile, scheduler.NameOf(p.Object)); why != "" {
		return why
	}
	if len(p.Object.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	if p.Object.Spec.SchedulingGroup != nil {
		return "it is scheduled together with a group of pods"
	}
	return ""
}

// unsupportedProfile says why nothing can be foretold of a scheduler.
func (w *ClusterModel) unsupportedProfile(p *scheduler.Compiled, name string) string {
	switch why := p.UnsupportedReason; {
	case why == scheduler.UnknownScheduler:
		return fmt.Sprintf("it is scheduled by %q, %s", name, why)
	case why != "":
		return fmt.Sprintf("it is scheduled by %q: %s", name, why)
	case p.Disabled[scheduler.TaintToleration] && w.NotReadyNode != "":
		return fmt.Sprintf("it is scheduled by %q: it ignores taints, and what it does with node %s, which is not ready, is not modelled", name, w.NotReadyNode)
	case p.Packing != nil && !w.Packing.HasMeasurements:
		return fmt.Sprintf("it is scheduled by %q: it scores by measured usage, and the snapshot has neither NodeMetrics nor Usage of a node", name)
	}
	return ""
}

// unsupportedFilter refuses pods that a filter is about which their scheduler has
// switched off, and which is modelled as asked only.
func (w *ClusterModel) unsupportedFilter(p *cluster.Pod) string {
	for _, f := range w.PodClass[p.ID].Profile.DisabledFilters {
		if !slices.Contains(scheduler.SwitchableFilters, f) && isAffectedByFilter(f, p.Object) {
			return fmt.Sprintf("its scheduler has the filter %s switched off, which is not modelled", f)
		}
	}
	return ""
}

// isAffectedByFilter reports whether a filter that cannot be switched off may refuse any
// node to the pod's replacement.
func isAffectedByFilter(f scheduler.Filter, p *corev1.Pod) bool {
	switch f {
	case scheduler.VolumeBinding:
		return cluster.HasVolumeClaim(p)
	case "DynamicResources":
		return len(p.Spec.ResourceClaims) > 0
	case "NodeName": // a replacement names no node
		return false
	}
	return true
}

func unsupportedResourceClaims(_ *ClusterModel, p *cluster.Pod) string {
	if len(p.Object.Spec.ResourceClaims) > 0 || p.Object.Status.ExtendedResourceClaimStatus != nil {
		return "it uses resource claims, which are not modelled yet"
	}
	return ""
}

// unsupportedResize refuses pods whose requests differ between the pod that stands
// and its replacement.
func unsupportedResize(_ *ClusterModel, p *cluster.Pod) string {
	for _, c := range p.Object.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) {
			return "it is being resized in place"
		}
	}
	return ""
}

// dependsOnOwnerSelector reports whether the selector of the pod's controller decides.
func (w *ClusterModel) dependsOnOwnerSelector(p *cluster.Pod) bool {
	f := w.PodClass[p.ID].Profile
	return f.Policy != nil || f.ScoresUseOwnerSelectors() && len(p.Object.Spec.TopologySpreadConstraints) == 0
}

// unsupportedOwner refuses pods whose template would be scheduled in another way,
// and those whose spread selector cannot be known.
func (w *ClusterModel) unsupportedOwner(p *cluster.Pod) string {
	o, ok := w.OwnerOf(p)
	if !ok {
		c := p.Controller
		if c == nil || !w.dependsOnOwnerSelector(p) {
			return ""
		}
		switch c.APIVersion + " " + c.Kind {
		case "v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet":
			return fmt.Sprintf("its %s %s is not in the snapshot, and its selector decides the spread", c.Kind, c.Name)
		}
		return ""
	}
	if t := o.Template; t != nil {
		if t.NodeName != "" {
			return fmt.Sprintf("its template names node %s, so no scheduler places it", t.NodeName)
		}
		if len(t.SchedulingGates) > 0 {
			return "its template has scheduling gates"
		}
	}
	return ""
}

// unsupportedAffinity refuses what cannot be read, and terms that select namespaces
// by label while labels of some namespace are not known.
func (w *ClusterModel) unsupportedAffinity(p *cluster.Pod) string {
	if w.InvalidAffinityPod != "" {
		return fmt.Sprintf("the affinity of %s cannot be read", w.InvalidAffinityPod)
	}
	if w.hasNoAffinity(p) {
		return ""
	}
	in := w.replacementOf(p.ID)
	if in.Err != nil {
		return strings.TrimSuffix(in.Err.Error(), ".")
	}
	return in.UnknownNamespaceReason
}

// unsupportedVolumes refuses volumes whose place is not in the snapshot, or is
// translated from an old form.
func (w *ClusterModel) unsupportedVolumes(p *cluster.Pod) string {
	if len(w.PodClass[p.ID].Sample.Object.Spec.Volumes) == 0 {
		return ""
	}
	return w.replacementOf(p.ID).Volumes.UnsupportedReason
}

// hasNoAffinity pods have nothing that could not be read, and no pod has an affinity that
// would be about them: they are not looked at more closely until they are foretold.
func (w *ClusterModel) hasNoAffinity(p *cluster.Pod) bool {
	spec := &w.PodClass[p.ID].Sample.Object.Spec
	return spec.Affinity == nil && len(spec.TopologySpreadConstraints) == 0 && len(w.AntiAffinityTerms)+len(w.ScoredTerms) == 0 && model.FeatureBits(spec) == 0
}
