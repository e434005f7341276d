package redaction

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// The values of keptFields besides names of fields. Both keep every field of a type; each also looks into them.
const (
	all  = "*"
	each = "each"
)

const (
	conditionFields = "Type Status Reason ObservedGeneration LastTransitionTime LastUpdateTime LastHeartbeatTime LastProbeTime"
	objectFields    = "TypeMeta ObjectMeta Spec Status"
)

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// keptFields lists the kept fields by type. Fields of maps, strings and numbers are kept as they are.
var keptFields = map[reflect.Type]string{
	of[metav1.TypeMeta](): all,
	of[metav1.ObjectMeta](): "Name Namespace UID Generation Labels Annotations OwnerReferences Finalizers CreationTimestamp " +
		"DeletionTimestamp DeletionGracePeriodSeconds",
	of[metav1.OwnerReference](): all, of[metav1.LabelSelector](): all, of[metav1.Condition](): conditionFields,
	of[metav1.Time](): all, of[metav1.MicroTime](): all, of[metav1.Duration](): all,
	of[resource.Quantity](): all, of[intstr.IntOrString](): all,
	of[corev1.ObjectReference](): "APIVersion Kind Namespace Name UID",

	of[corev1.Namespace](): "TypeMeta ObjectMeta Status", of[corev1.NamespaceStatus](): "Phase",
	of[corev1.Node](): objectFields, of[corev1.NodeSpec](): "Unschedulable Taints", of[corev1.Taint](): all,
	of[corev1.NodeStatus]():    "Capacity Allocatable Conditions Images NodeInfo RuntimeHandlers Features DeclaredFeatures",
	of[corev1.NodeCondition](): conditionFields, of[corev1.ContainerImage](): all,
	of[corev1.NodeSystemInfo](): "OperatingSystem Architecture", of[corev1.NodeRuntimeHandler](): all, of[corev1.NodeFeatures](): all,
	of[schedulingv1.PriorityClass](): "TypeMeta ObjectMeta Value GlobalDefault PreemptionPolicy",
	of[nodev1.RuntimeClass]():        "TypeMeta ObjectMeta Handler Overhead Scheduling", of[nodev1.Overhead](): all, of[nodev1.Scheduling](): all,
	of[corev1.ServiceAccount](): "TypeMeta ObjectMeta",
	of[corev1.LimitRange]():     objectFields, of[corev1.LimitRangeSpec](): all,
	of[corev1.ResourceQuota](): objectFields, of[corev1.ResourceQuotaSpec](): all, of[corev1.ResourceQuotaStatus](): all,

	of[appsv1.Deployment]():         objectFields,
	of[appsv1.DeploymentSpec]():     "Replicas Selector Template Strategy MinReadySeconds RevisionHistoryLimit Paused ProgressDeadlineSeconds",
	of[appsv1.DeploymentStrategy](): all, of[appsv1.DeploymentStatus](): each, of[appsv1.DeploymentCondition](): conditionFields,
	of[appsv1.ReplicaSet](): objectFields, of[appsv1.ReplicaSetSpec](): each, of[appsv1.ReplicaSetStatus](): each,
	of[appsv1.ReplicaSetCondition]():   conditionFields,
	of[corev1.ReplicationController](): objectFields, of[corev1.ReplicationControllerSpec](): each,
	of[corev1.ReplicationControllerStatus](): each, of[corev1.ReplicationControllerCondition](): conditionFields,
	of[appsv1.StatefulSet](): objectFields, of[appsv1.StatefulSetSpec](): each, of[appsv1.StatefulSetUpdateStrategy](): all,
	of[appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy](): all, of[appsv1.StatefulSetOrdinals](): all,
	of[appsv1.StatefulSetStatus](): each, of[appsv1.StatefulSetCondition](): conditionFields,
	of[appsv1.ControllerRevision](): "TypeMeta ObjectMeta Revision", // the data is a pod template that no decision reads
	of[appsv1.DaemonSet]():          objectFields, of[appsv1.DaemonSetSpec](): each, of[appsv1.DaemonSetUpdateStrategy](): all,
	of[appsv1.DaemonSetStatus](): each, of[appsv1.DaemonSetCondition](): conditionFields,
	of[batchv1.Job](): objectFields, of[batchv1.JobSpec](): each, of[batchv1.PodFailurePolicy](): all, of[batchv1.SuccessPolicy](): all,
	of[batchv1.JobStatus](): each, of[batchv1.JobCondition](): conditionFields, of[batchv1.UncountedTerminatedPods](): all,
	of[batchv1.CronJob](): objectFields, of[batchv1.CronJobSpec](): each, of[batchv1.JobTemplateSpec](): "ObjectMeta Spec",

	of[corev1.Service](): "TypeMeta ObjectMeta Spec",
	of[corev1.ServiceSpec](): "Ports Selector Type SessionAffinity ExternalTrafficPolicy InternalTrafficPolicy PublishNotReadyAddresses " +
		"TrafficDistribution",
	of[corev1.ServicePort]():           all,
	of[policyv1.PodDisruptionBudget](): objectFields, of[policyv1.PodDisruptionBudgetSpec](): all,
	of[policyv1.PodDisruptionBudgetStatus](): each,
	of[corev1.Event]():                       "TypeMeta ObjectMeta InvolvedObject Reason LastTimestamp EventTime Series", of[corev1.EventSeries](): all,
	of[metricsv1beta1.NodeMetrics](): "TypeMeta ObjectMeta Timestamp Window Usage",
	of[metricsv1beta1.PodMetrics]():  "TypeMeta ObjectMeta Timestamp Window Containers", of[metricsv1beta1.ContainerMetrics](): all,

	of[corev1.PodTemplateSpec](): "ObjectMeta Spec",
	of[corev1.Pod]():             objectFields,
	of[corev1.PodSpec](): "Volumes InitContainers Containers RestartPolicy TerminationGracePeriodSeconds ActiveDeadlineSeconds " +
		"NodeSelector ServiceAccountName NodeName HostNetwork HostPID HostIPC SecurityContext Affinity SchedulerName Tolerations " +
		"PriorityClassName Priority ReadinessGates RuntimeClassName PreemptionPolicy Overhead TopologySpreadConstraints OS HostUsers " +
		"SchedulingGates ResourceClaims Resources SchedulingGroup EvictionResponders",
	of[corev1.Affinity](): all, of[corev1.Toleration](): all, of[corev1.PodReadinessGate](): all, of[corev1.TopologySpreadConstraint](): all,
	of[corev1.PodOS](): all, of[corev1.PodSchedulingGate](): all, of[corev1.PodResourceClaim](): all, of[corev1.ResourceRequirements](): all,
	of[corev1.PodSchedulingGroup](): all, of[corev1.EvictionResponder](): all,
	of[corev1.PodSecurityContext](): "SELinuxOptions WindowsOptions RunAsUser RunAsNonRoot SeccompProfile AppArmorProfile Sysctls",
	of[corev1.SecurityContext](): "Capabilities Privileged SELinuxOptions WindowsOptions RunAsUser RunAsNonRoot AllowPrivilegeEscalation " +
		"ProcMount SeccompProfile AppArmorProfile",
	of[corev1.Capabilities](): all, of[corev1.SELinuxOptions](): "User Role Type", of[corev1.WindowsSecurityContextOptions](): "HostProcess",
	of[corev1.SeccompProfile](): "Type", of[corev1.AppArmorProfile](): "Type", of[corev1.Sysctl](): "Name",
	of[corev1.Container](): "Name Image Ports Resources RestartPolicy RestartPolicyRules VolumeMounts LivenessProbe ReadinessProbe " +
		"StartupProbe Lifecycle SecurityContext",
	of[corev1.ContainerPort](): all, of[corev1.ContainerRestartRule](): all, of[corev1.VolumeMount](): "Name BindMountOptions",
	of[corev1.Probe](): "ProbeHandler", of[corev1.ProbeHandler](): "HTTPGet TCPSocket", of[corev1.Lifecycle](): "PostStart PreStop",
	of[corev1.LifecycleHandler](): "HTTPGet TCPSocket", of[corev1.HTTPGetAction](): "Host", of[corev1.TCPSocketAction](): "Host",
	of[corev1.PodStatus](): "ObservedGeneration Phase Conditions Reason NominatedNodeName StartTime InitContainerStatuses " +
		"ContainerStatuses EphemeralContainerStatuses QOSClass Resize ResourceClaimStatuses ExtendedResourceClaimStatus AllocatedResources " +
		"Resources NodeAllocatableResourceClaimStatuses",
	of[corev1.PodCondition](): conditionFields, of[corev1.PodResourceClaimStatus](): all, of[corev1.PodExtendedResourceClaimStatus](): all,
	of[corev1.NodeAllocatableResourceClaimStatus](): all,
	of[corev1.ContainerStatus]():                    "Name State Ready RestartCount AllocatedResources Resources",
	of[corev1.ContainerState]():                     "Waiting Terminated", of[corev1.ContainerStateWaiting](): "Reason",
	of[corev1.ContainerStateTerminated](): "ExitCode Reason FinishedAt",

	// Of a volume, the type decides where the pod can run. Some types also have identifiers that decide which pods can
	// use it at once, and how many volumes a node has.
	of[corev1.Volume](): each, of[corev1.VolumeSource](): each,
	of[corev1.EmptyDirVolumeSource](): all, of[corev1.PersistentVolumeClaimVolumeSource](): all, of[corev1.ImageVolumeSource](): all,
	of[corev1.EphemeralVolumeSource](): "VolumeClaimTemplate", of[corev1.PersistentVolumeClaimTemplate](): "ObjectMeta Spec",
	of[corev1.CSIVolumeSource](): "Driver ReadOnly", of[corev1.CSIPersistentVolumeSource](): "Driver VolumeHandle",
	of[corev1.GCEPersistentDiskVolumeSource](): "PDName ReadOnly", of[corev1.AWSElasticBlockStoreVolumeSource](): "VolumeID ReadOnly",
	of[corev1.AzureDiskVolumeSource](): "DiskName DataDiskURI", of[corev1.PortworxVolumeSource](): "VolumeID",
	of[corev1.CinderVolumeSource](): "VolumeID", of[corev1.CinderPersistentVolumeSource](): "VolumeID",
	of[corev1.ISCSIVolumeSource](): "IQN ReadOnly", of[corev1.ISCSIPersistentVolumeSource](): "IQN ReadOnly",
	of[corev1.RBDVolumeSource](): "CephMonitors RBDPool RBDImage ReadOnly", of[corev1.RBDPersistentVolumeSource](): "RBDPool RBDImage ReadOnly",

	of[corev1.PersistentVolumeClaim]():       objectFields,
	of[corev1.PersistentVolumeClaimSpec]():   "AccessModes Selector Resources VolumeName StorageClassName VolumeMode VolumeAttributesClassName",
	of[corev1.VolumeResourceRequirements]():  all,
	of[corev1.PersistentVolumeClaimStatus](): "Phase AccessModes Capacity AllocatedResources AllocatedResourceStatuses CurrentVolumeAttributesClassName",
	of[corev1.PersistentVolume]():            objectFields,
	of[corev1.PersistentVolumeSpec](): "Capacity PersistentVolumeSource AccessModes ClaimRef PersistentVolumeReclaimPolicy " +
		"StorageClassName VolumeMode NodeAffinity VolumeAttributesClassName",
	of[corev1.PersistentVolumeSource](): each, of[corev1.VolumeNodeAffinity](): all, of[corev1.PersistentVolumeStatus](): "Phase",
	of[storagev1.StorageClass]():      "TypeMeta ObjectMeta Provisioner ReclaimPolicy AllowVolumeExpansion VolumeBindingMode AllowedTopologies",
	of[corev1.TopologySelectorTerm](): all,
	of[storagev1.CSINode]():           objectFields, of[storagev1.CSINodeSpec](): "Drivers", of[storagev1.CSINodeDriver](): "Name TopologyKeys Allocatable",
	of[storagev1.VolumeNodeResources](): all,
	of[storagev1.CSIDriver]():           objectFields,
	of[storagev1.CSIDriverSpec](): "AttachRequired PodInfoOnMount VolumeLifecycleModes StorageCapacity FSGroupPolicy RequiresRepublish " +
		"SELinuxMount PreventPodSchedulingIfMissing",
	of[storagev1.VolumeAttachment](): objectFields, of[storagev1.VolumeAttachmentSpec](): "Attacher Source NodeName",
	of[storagev1.VolumeAttachmentSource](): "PersistentVolumeName", of[storagev1.VolumeAttachmentStatus](): "Attached",
	of[storagev1.CSIStorageCapacity](): "TypeMeta ObjectMeta NodeTopology StorageClassName Capacity MaximumVolumeSize",
}
