package cluster

import (
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Objects holds native objects in any order, as read from files or an API server.
type Objects struct {
	Nodes                  []*corev1.Node
	Pods                   []*corev1.Pod
	Namespaces             []*corev1.Namespace
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	PersistentVolumes      []*corev1.PersistentVolume
	ResourceQuotas         []*corev1.ResourceQuota
	LimitRanges            []*corev1.LimitRange
	ServiceAccounts        []*corev1.ServiceAccount
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget
	ReplicaSets            []*appsv1.ReplicaSet
	Deployments            []*appsv1.Deployment
	StatefulSets           []*appsv1.StatefulSet
	DaemonSets             []*appsv1.DaemonSet
	ControllerRevisions    []*appsv1.ControllerRevision
	Jobs                   []*batchv1.Job
	CronJobs               []*batchv1.CronJob
	PriorityClasses        []*schedulingv1.PriorityClass
	RuntimeClasses         []*nodev1.RuntimeClass
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	CSIDrivers             []*storagev1.CSIDriver
	VolumeAttachments      []*storagev1.VolumeAttachment
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity
	NodeMetrics            []*metricsv1beta1.NodeMetrics
	PodMetrics             []*metricsv1beta1.PodMetrics
	// Events holds the events that decisions read: those with the reason FailedCreate. Others have no effect.
	Events []*corev1.Event

	// StoppedAt is the work after which the time for a plan on these objects ended; see package work. 0: it did not
	// end.
	StoppedAt int64
	// TakenAt is the time at which the objects were read. If it is zero, New uses the newest
	// timestamp in the objects.
	TakenAt time.Time
	// ServerVersion is the API server's "major.minor". If it is empty, the newest supported
	// version is assumed.
	ServerVersion string
	// ClusterUID is the UID of the namespace kube-system. If it is empty, New takes it from
	// Namespaces.
	ClusterUID string
	// Skipped counts objects of other kinds by "group/version Kind". Read ignores such objects.
	Skipped map[string]int
	// LeftOut lists the files of a directory that were not read, because of their names.
	LeftOut []string
	// PlannerState is Evenkeel's own PlannerState as JSON, or empty. Package plan reads it.
	PlannerState []byte
	// PlannerStateError says why the PlannerState could not be read. It is empty if there was
	// no error.
	PlannerStateError string
	// UnreadVersions names, for each namespace, an object that was not read because its API version is not v1, although
	// v1 of its kind is read. Such an object may restrict evictions. The namespace of cluster-scoped objects is "".
	UnreadVersions map[string]string
	// Unread says why objects could not be read, all or some of them, by "group/version Kind".
	Unread map[string]string
	// Listed holds the kinds whose objects were all read, as "group/version Kind". A kind without objects is included.
	Listed []string
	// Usage holds the measured usage of nodes and pods. If it is nil, the usage is that of NodeMetrics and PodMetrics.
	Usage *Usage
	// Redacted is true for objects that Redact returned.
	Redacted bool
}

// empty reports whether there are no objects.
func (o *Objects) empty() bool {
	return !slices.ContainsFunc(kinds, func(k kindDef) bool { return k.has(o) })
}

// MarkUnread records why objects of the kind could not be read.
func (o *Objects) MarkUnread(kind, why string) {
	if o.Unread == nil {
		o.Unread = map[string]string{}
	}
	o.Unread[kind] = why
}

// Knows reports whether every object of the kind P was read, so that a missing object does not exist. If a file lists
// no kinds and contains an object of the kind, Knows assumes that the file contains all objects of the kind.
func Knows[P object](o *Objects) bool {
	k := kindByType[reflect.TypeFor[P]()]
	return o.Unread[k.name] == "" && (k.has(o) || slices.Contains(o.Listed, k.name))
}

// skippedKinds lists the kinds of skipped objects for an error message.
func (o *Objects) skippedKinds() string {
	if len(o.Skipped) == 0 {
		return ""
	}
	kinds := sortedKeys(o.Skipped)
	if len(kinds) > 3 {
		kinds = append(kinds[:3], "...")
	}
	return " (ignored kinds: " + strings.Join(kinds, ", ") + ")"
}
