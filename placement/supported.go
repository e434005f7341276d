package placement

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// Supported reports whether placement can be foretold for the pod, and if not,
// a sentence that says why.
func (w *World) Supported(p cluster.PodID) (why string, ok bool) {
	pod := &w.snap.Pods[p]
	for _, check := range []func(*cluster.Pod) string{
		w.serverUnknown, schedulerUnknown, claimsUnknown, resizeUnknown, w.ownerUnknown, w.affinityUnknown, w.volumesUnknown,
	} {
		if why := check(pod); why != "" {
			return why, false
		}
	}
	return "", true
}

func (w *World) serverUnknown(*cluster.Pod) string {
	if s := w.snap; s.ServerMajor != 1 || s.ServerMinor < 36 || s.ServerMinor > 37 {
		return fmt.Sprintf("the scores of kube-scheduler %d.%d are not known (1.36 and 1.37 are)", s.ServerMajor, s.ServerMinor)
	}
	return ""
}

func schedulerUnknown(p *cluster.Pod) string {
	if p.Terminal {
		return "the pod has ended, so its replacement is no longer to come"
	}
	if s := p.Object.Spec.SchedulerName; s != "" && s != corev1.DefaultSchedulerName {
		return fmt.Sprintf("it is scheduled by %q, whose scores are not known", s)
	}
	if len(p.Object.Spec.SchedulingGates) > 0 {
		return "it has scheduling gates"
	}
	if p.Object.Spec.SchedulingGroup != nil {
		return "it is scheduled together with a group of pods"
	}
	return ""
}

func claimsUnknown(p *cluster.Pod) string {
	if len(p.Object.Spec.ResourceClaims) > 0 || p.Object.Status.ExtendedResourceClaimStatus != nil {
		return "it uses resource claims, which are not modelled yet"
	}
	return ""
}

// resizeUnknown refuses pods whose requests differ between the pod that stands
// and its replacement.
func resizeUnknown(p *cluster.Pod) string {
	for _, c := range p.Object.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) {
			return "it is being resized in place"
		}
	}
	return ""
}

// ownerUnknown refuses pods whose template would be scheduled in another way,
// and those whose spread selector cannot be known.
func (w *World) ownerUnknown(p *cluster.Pod) string {
	o, ok := w.ownerOf(p)
	if !ok {
		c := p.Controller
		if c == nil || w.opts.NoDefaultSpread || len(p.Object.Spec.TopologySpreadConstraints) > 0 {
			return ""
		}
		switch c.APIVersion + " " + c.Kind {
		case "v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet":
			return fmt.Sprintf("its %s %s is not in the snapshot, and its selector decides the spread", c.Kind, c.Name)
		}
		return ""
	}
	if t := o.template; t != nil {
		if t.NodeName != "" {
			return fmt.Sprintf("its template names node %s, so no scheduler places it", t.NodeName)
		}
		if len(t.SchedulingGates) > 0 {
			return "its template has scheduling gates"
		}
	}
	return ""
}

// affinityUnknown refuses what cannot be read, and terms that select namespaces
// by label while labels of some namespace are not known.
func (w *World) affinityUnknown(p *cluster.Pod) string {
	if w.unreadable != "" {
		return fmt.Sprintf("the affinity of %s cannot be read", w.unreadable)
	}
	in := w.incomingOf(p.ID)
	if in.err != nil {
		return strings.TrimSuffix(in.err.Error(), ".")
	}
	return in.namespaces
}

// volumesUnknown refuses volumes whose place is not in the snapshot, or is
// translated from an old form.
func (w *World) volumesUnknown(p *cluster.Pod) string { return w.incomingOf(p.ID).volumes }
