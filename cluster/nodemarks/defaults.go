package nodemarks

var deleteRequest = Mark{Kind: Removing, By: "a delete request"}

const (
	kubernetes      = "Kubernetes"
	autoscaler      = "the cluster autoscaler"
	clusterAPI      = "Cluster API"
	aks             = "Azure Kubernetes Service"
	gke             = "Google Kubernetes Engine"
	awsNTH          = "the AWS node termination handler"
	problemDetector = "the node problem detector"
	eksMonitoring   = "the EKS node monitoring agent"
	castAI          = "CAST AI"
)

// Defaults are the marks that are always recognized. A key without a * wins over a pattern.
var Defaults = []Mark{
	{State, Taint, "node.kubernetes.io/*", "", kubernetes},
	{State, Taint, "status-taint.cluster-autoscaler.kubernetes.io/*", "", autoscaler},

	{Starting, Taint, "node.kubernetes.io/network-unavailable", "", kubernetes},
	{Starting, Condition, "NetworkUnavailable", "True", kubernetes},
	{Starting, Taint, "node.cloudprovider.kubernetes.io/*", "", "the cloud controller manager"},
	{Starting, Taint, "*/agent-not-ready", "", "an agent such as Cilium or a CSI driver"},
	{Starting, Taint, "cni.istio.io/not-ready", "", "Istio"},
	{Starting, Taint, "readiness.k8s.io/*", "", "the node readiness controller"},
	{Starting, Taint, "nidhogg.uswitch.com/*", "", "Nidhogg"},
	{Starting, Taint, "node.gardener.cloud/critical-components-not-ready", "", "Gardener"},
	{Starting, Taint, "node.cluster.x-k8s.io/uninitialized", "", clusterAPI},
	{Starting, Taint, "karpenter.sh/unregistered", "", "Karpenter"},
	{Starting, Taint, "startup-taint.cluster-autoscaler.kubernetes.io/*", "", autoscaler},
	{Starting, Taint, "ignore-taint.cluster-autoscaler.kubernetes.io/*", "", autoscaler},

	{Outgoing, Taint, "DeletionCandidateOfClusterAutoscaler", "", autoscaler},
	{Outgoing, Taint, "node.cluster.x-k8s.io/outdated-revision", "", clusterAPI},
	{Outgoing, Taint, "deployment.machine.sapcloud.io/prefer-no-schedule", "", "the machine controller manager"},
	{Outgoing, Taint, "kops.k8s.io/scheduled-for-update", "", "kOps"},
	{Outgoing, Taint, "UpdateInProgress", "", "the machine config operator"},
	{Outgoing, Taint, "cloud.google.com/maintenance-window-started", "", gke},

	{Draining, Taint, "aws-node-termination-handler/spot-itn", "", awsNTH},
	{Draining, Taint, "aws-node-termination-handler/scheduled-maintenance", "", awsNTH},
	{Draining, Taint, "aws-node-termination-handler/asg-lifecycle-termination", "", awsNTH},
	{Draining, Taint, "aws-node-termination-handler/rebalance-recommendation", "", awsNTH},
	{Draining, Taint, "cloud.google.com/impending-node-termination", "", gke},
	{Draining, Label, "cloud.google.com/active-node-maintenance", "ONGOING", gke},
	{Draining, Taint, "remediator.kubernetes.azure.com/unschedulable", "", aks},
	{Draining, Taint, "remediator.aks.microsoft.com/unschedulable", "", aks},
	{Draining, Taint, "medik8s.io/drain", "", "the node maintenance operator"},
	{Draining, Taint, "weave.works/kured-node-reboot", "", "kured"},
	{Draining, Annotation, "weave.works/kured-reboot-in-progress", "", "kured"},
	{Draining, Annotation, "machineconfiguration.openshift.io/desiredDrain", "drain-*", "the machine config operator"},
	{Draining, Taint, "autoscaling.cast.ai/draining", "", castAI},
	{Draining, Label, "autoscaling.cast.ai/draining", "", castAI},

	{Removing, Taint, "karpenter.sh/disrupted", "", "Karpenter"},
	{Removing, Taint, "karpenter.sh/disruption", "", "Karpenter"},
	{Removing, Taint, "ToBeDeletedByClusterAutoscaler", "", autoscaler},

	{Unhealthy, Taint, "node.cloudprovider.kubernetes.io/shutdown", "", "the cloud controller manager"},
	{Unhealthy, Taint, "node.kubernetes.io/out-of-service", "", "a person or program that fences the node"},
	{Unhealthy, Taint, "medik8s.io/remediation", "", "a remediation operator of Medik8s"},
	{Unhealthy, Condition, "KernelDeadlock", "True", problemDetector},
	{Unhealthy, Condition, "ReadonlyFilesystem", "True", problemDetector},
	{Unhealthy, Condition, "XfsShutdown", "True", problemDetector},
	{Unhealthy, Condition, "CorruptDockerOverlay2", "True", problemDetector},
	{Unhealthy, Condition, "FrequentUnregisterNetDevice", "True", problemDetector},
	{Unhealthy, Condition, "FrequentKubeletRestart", "True", problemDetector},
	{Unhealthy, Condition, "FrequentDockerRestart", "True", problemDetector},
	{Unhealthy, Condition, "FrequentContainerdRestart", "True", problemDetector},
	{Unhealthy, Condition, "KubeletUnhealthy", "True", problemDetector},
	{Unhealthy, Condition, "ContainerRuntimeUnhealthy", "True", problemDetector},
	{Unhealthy, Condition, "KernelReady", "False", eksMonitoring},
	{Unhealthy, Condition, "NetworkingReady", "False", eksMonitoring},
	{Unhealthy, Condition, "StorageReady", "False", eksMonitoring},
	{Unhealthy, Condition, "ContainerRuntimeReady", "False", eksMonitoring},
	{Unhealthy, Condition, "AcceleratedHardwareReady", "False", eksMonitoring},
	{Unhealthy, Condition, "FilesystemCorruptionProblem", "True", aks},
	{Unhealthy, Condition, "KubeletProblem", "True", aks},
	{Unhealthy, Condition, "ContainerRuntimeProblem", "True", aks},
	{Unhealthy, Condition, "VMEventScheduled", "True", aks},
	{Unhealthy, Condition, "RebootScheduled", "True", aks},
	{Unhealthy, Condition, "RedeployScheduled", "True", aks},
	{Unhealthy, Condition, "TerminateScheduled", "True", aks},
	{Unhealthy, Condition, "PreemptScheduled", "True", aks},
}
