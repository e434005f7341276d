package targets

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// marks are those of docs/reference/node-marks.md, by kind: the place, the key and the value. A * stands for any text.
var marks = map[string]string{
	"state": `taint:node.kubernetes.io/* taint:status-taint.cluster-autoscaler.kubernetes.io/*`,
	"starting": `taint:node.kubernetes.io/network-unavailable condition:NetworkUnavailable=True taint:node.cloudprovider.kubernetes.io/*
		taint:*/agent-not-ready taint:cni.istio.io/not-ready taint:readiness.k8s.io/* taint:nidhogg.uswitch.com/*
		taint:node.gardener.cloud/critical-components-not-ready taint:node.cluster.x-k8s.io/uninitialized taint:karpenter.sh/unregistered
		taint:startup-taint.cluster-autoscaler.kubernetes.io/* taint:ignore-taint.cluster-autoscaler.kubernetes.io/*`,
	"outgoing": `taint:DeletionCandidateOfClusterAutoscaler taint:node.cluster.x-k8s.io/outdated-revision
		taint:deployment.machine.sapcloud.io/prefer-no-schedule taint:kops.k8s.io/scheduled-for-update taint:UpdateInProgress
		taint:cloud.google.com/maintenance-window-started`,
	"draining": `taint:aws-node-termination-handler/spot-itn taint:aws-node-termination-handler/scheduled-maintenance
		taint:aws-node-termination-handler/asg-lifecycle-termination taint:aws-node-termination-handler/rebalance-recommendation
		taint:cloud.google.com/impending-node-termination label:cloud.google.com/active-node-maintenance=ONGOING
		taint:remediator.kubernetes.azure.com/unschedulable taint:remediator.aks.microsoft.com/unschedulable taint:medik8s.io/drain
		taint:weave.works/kured-node-reboot annotation:weave.works/kured-reboot-in-progress
		annotation:machineconfiguration.openshift.io/desiredDrain=drain-* taint:autoscaling.cast.ai/draining
		label:autoscaling.cast.ai/draining`,
	"removing": `taint:karpenter.sh/disrupted taint:karpenter.sh/disruption taint:ToBeDeletedByClusterAutoscaler`,
	"unhealthy": `taint:node.cloudprovider.kubernetes.io/shutdown taint:node.kubernetes.io/out-of-service taint:medik8s.io/remediation
		condition:KernelDeadlock=True condition:ReadonlyFilesystem=True condition:XfsShutdown=True condition:CorruptDockerOverlay2=True
		condition:FrequentUnregisterNetDevice=True condition:FrequentKubeletRestart=True condition:FrequentDockerRestart=True
		condition:FrequentContainerdRestart=True condition:KubeletUnhealthy=True condition:ContainerRuntimeUnhealthy=True
		condition:KernelReady=False condition:NetworkingReady=False condition:StorageReady=False condition:ContainerRuntimeReady=False
		condition:AcceleratedHardwareReady=False condition:FilesystemCorruptionProblem=True condition:KubeletProblem=True
		condition:ContainerRuntimeProblem=True condition:VMEventScheduled=True condition:RebootScheduled=True
		condition:RedeployScheduled=True condition:TerminateScheduled=True condition:PreemptScheduled=True`,
}

// Marks are those of placement.nodeMarks, by kind. They add to those of the table.
type Marks map[string][]string

// of returns the marks of a kind.
func (m Marks) of(kind string) []string { return append(strings.Fields(marks[kind]), m[kind]...) }

// any reports whether a mark of any kind meets the condition.
func (m Marks) any(is func(mark string) bool) bool {
	for kind := range marks {
		if slices.ContainsFunc(m.of(kind), is) {
			return true
		}
	}
	return false
}

// IsMark reports whether Kubernetes or another program marks nodes with the taint.
func (m Marks) IsMark(taint corev1.Taint) bool {
	return m.any(func(mark string) bool {
		key, isTaint := strings.CutPrefix(mark, "taint:")
		key, value, hasValue := strings.Cut(key, "=")
		return isTaint && fits(key, taint.Key) && (!hasValue || fits(value, taint.Value))
	})
}

// Marked returns the mark of a kind that the node has, or "".
func (m Marks) Marked(n *corev1.Node, kind string) string {
	if kind == "removing" && n.DeletionTimestamp != nil {
		return "a delete request"
	}
	for _, mark := range m.of(kind) {
		place, rest, _ := strings.Cut(mark, ":")
		key, value, hasValue := strings.Cut(rest, "=")
		for has, is := range placesOf(n)[place] {
			// A mark without a * wins over a pattern.
			named := func(x string) bool { return x == place+":"+has || x == place+":"+has+"="+is }
			if fits(key, has) && (!hasValue || fits(value, is)) && (!strings.Contains(key, "*") || !m.any(named)) {
				return mark
			}
		}
	}
	return ""
}

func placesOf(n *corev1.Node) map[string]map[string]string {
	taints, conditions := map[string]string{}, map[string]string{}
	for _, t := range n.Spec.Taints {
		taints[t.Key] = t.Value
	}
	for _, c := range n.Status.Conditions {
		conditions[string(c.Type)] = string(c.Status)
	}
	return map[string]map[string]string{"taint": taints, "condition": conditions, "label": n.Labels, "annotation": n.Annotations}
}

// fits reports whether a text fits a pattern with at most one *.
func fits(pattern, text string) bool {
	begin, end, open := strings.Cut(pattern, "*")
	return text == pattern || open && len(text) >= len(begin)+len(end) && strings.HasPrefix(text, begin) && strings.HasSuffix(text, end)
}
