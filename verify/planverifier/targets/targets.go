// Package targets decides for package planverifier to which nodes a pod may be sent. It implements "What is behind the
// scheduler" in docs/reference/placement.md and docs/reference/node-marks.md with its own code.
//
// The package covers the state and the marks of nodes, operating systems, architectures, images that are never pulled,
// runtime handlers, volumes in use and pressure.
package targets

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Cluster is what the rules read of a cluster.
type Cluster struct {
	Pods  map[string]*corev1.Pod
	Nodes map[string]*corev1.Node
	// SameWorkload reports whether two pods belong to one workload.
	SameWorkload     func(p, q *corev1.Pod) bool
	NewArchitectures bool
	Marks            Marks
	Objects          *cluster.Objects
}

// Node returns why no pod at all may be sent to the node, or two empty texts.
func (m Marks) Node(n *corev1.Node) (code plan.Code, why string) {
	for _, of := range []struct {
		kind string
		code plan.Code
	}{{"removing", plan.NodeBeingDisrupted}, {"draining", plan.NodeBeingDrained}, {"outgoing", plan.OnlyLeavingNodes},
		{"unhealthy", plan.OnlyUnhealthyNodes}, {"starting", plan.OnlyUnhealthyNodes}} {
		if mark := m.Marked(n, of.kind); mark != "" {
			return of.code, "has " + mark
		}
	}
	switch {
	case n.Spec.Unschedulable:
		return plan.OnlyCordonedNodes, "is cordoned"
	case has(n, corev1.NodeDiskPressure) || has(n, corev1.NodePIDPressure):
		return plan.OnlyUnhealthyNodes, "is under pressure"
	}
	return "", ""
}

// Pod returns why the pod may not be sent to the node, or two empty texts.
func (c Cluster) Pod(p *corev1.Pod, n *corev1.Node) (code plan.Code, why string) {
	if code, why := c.Marks.Node(n); code != "" {
		return code, why
	}
	at := platformOf(n)
	switch {
	case p.Spec.OS != nil && at.os != "" && string(p.Spec.OS.Name) != at.os:
		return plan.OnlyRefusingNodes, "has another operating system"
	case has(n, corev1.NodeMemoryPressure) && !requests(p):
		return plan.OnlyRefusingNodes, "is under memory pressure"
	case lacksImage(p, n, c.Nodes[p.Spec.NodeName]):
		return plan.OnlyRefusingNodes, "lacks an image that is never pulled"
	case !c.hasHandler(p, n):
		return plan.OnlyRefusingNodes, "lacks the runtime handler of RuntimeClass " + *p.Spec.RuntimeClassName
	case c.volumeInUse(p, n) != "":
		return plan.VolumeInUse, c.volumeInUse(p, n)
	case !c.proven(p, at):
		return plan.OnlyUnprovenPlatforms, "has a platform on which no Ready pod of the workload runs"
	}
	return "", ""
}

func has(n *corev1.Node, of corev1.NodeConditionType) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == of && c.Status == corev1.ConditionTrue })
}

// requests reports whether a container requests cpu or memory.
func requests(p *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(p.Spec.InitContainers, p.Spec.Containers), func(c corev1.Container) bool {
		return !c.Resources.Requests.Cpu().IsZero() || !c.Resources.Requests.Memory().IsZero()
	})
}

// lacksImage reports whether a node lists its images, and not one that the pod never pulls. If the node of a Ready pod
// does not list the image either, it is unknown where it is.
func lacksImage(p *corev1.Pod, n, own *corev1.Node) bool {
	lacks := func(n *corev1.Node, image string) bool {
		return len(n.Status.Images) > 0 && len(n.Status.Images) < 50 &&
			!slices.ContainsFunc(n.Status.Images, func(i corev1.ContainerImage) bool { return slices.Contains(i.Names, image) })
	}
	return slices.ContainsFunc(slices.Concat(p.Spec.InitContainers, p.Spec.Containers), func(c corev1.Container) bool {
		return c.ImagePullPolicy == corev1.PullNever && lacks(n, c.Image) && (own == nil || !isReady(p) || !lacks(own, c.Image))
	})
}

// hasHandler reports whether the node lists the handler of the pod's RuntimeClass, or one of the two is unknown.
func (c Cluster) hasHandler(p *corev1.Pod, n *corev1.Node) bool {
	return p.Spec.RuntimeClassName == nil || len(n.Status.RuntimeHandlers) == 0 || !slices.ContainsFunc(c.Objects.RuntimeClasses, func(x *nodev1.RuntimeClass) bool {
		return x.Name == *p.Spec.RuntimeClassName && !slices.ContainsFunc(n.Status.RuntimeHandlers, func(h corev1.NodeRuntimeHandler) bool {
			return h.Name == x.Handler
		})
	})
}

// platform is the operating system and the architecture of a node, as far as they are known.
type platform struct{ os, arch string }

func platformOf(n *corev1.Node) platform {
	out := platform{n.Status.NodeInfo.OperatingSystem, n.Status.NodeInfo.Architecture}
	if v, ok := n.Labels[corev1.LabelOSStable]; ok {
		out.os = v
	}
	if v, ok := n.Labels[corev1.LabelArchStable]; ok {
		out.arch = v
	}
	return out
}

// proven reports whether the pod, or a Ready pod of its workload, runs on the platform, as far as the pod does not name
// it. A pod of which no platform is known runs everywhere.
func (c Cluster) proven(p *corev1.Pod, on platform) bool {
	byOS := p.Spec.OS == nil && !names(p, corev1.LabelOSStable)
	byArch := !c.NewArchitectures && !names(p, corev1.LabelArchStable)
	if !byOS && !byArch || on.os == "" || on.arch == "" {
		return true
	}
	known := false
	for _, q := range c.Pods {
		n := c.Nodes[q.Spec.NodeName]
		if n == nil || q != p && (!c.SameWorkload(p, q) || !isReady(q)) {
			continue
		}
		is := platformOf(n)
		if is.os == "" || is.arch == "" {
			continue
		}
		if known = true; (!byOS || is.os == on.os) && (!byArch || is.arch == on.arch) {
			return true
		}
	}
	return !known
}

func isReady(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// names reports whether the node selector or the required node affinity of the pod names the label.
func names(p *corev1.Pod, label string) bool {
	if _, selected := p.Spec.NodeSelector[label]; selected {
		return true
	}
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			if slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool { return strings.HasSuffix(e.Key, label) }) {
				return true
			}
		}
	}
	return false
}
