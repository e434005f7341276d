package guard

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Protection is a value of guards.protect: a kind of pod that Evenkeel does not evict.
type Protection string

// The values of guards.protect. Evenkeel never evicts DaemonSet, mirror and static pods, even if the list omits them.
// The default list does not contain the last four values.
const (
	ProtectLocalStorage   Protection = "PodsWithLocalStorage"
	ProtectDaemonSets     Protection = "DaemonSetPods"
	ProtectSystemCritical Protection = "SystemCriticalPods"
	ProtectBarePods       Protection = "BarePods"
	ProtectFailedBarePods Protection = "FailedBarePods"
	ProtectJobs           Protection = "Jobs"
	ProtectDegraded       Protection = "DegradedWorkloads"
	ProtectLastReady      Protection = "LastReadyPods"
	ProtectPVC            Protection = "PodsWithPVC"
	ProtectWithoutPDB     Protection = "PodsWithoutPDB"
	ProtectResourceClaims Protection = "PodsWithResourceClaims"
	ProtectRequired       Protection = "PodsRequiredByAffinity"
)

// Policy is the treatment of pods whose annotation prefers no eviction.
type Policy string

// The policies of guards.noEvictionPolicy.
const (
	Preferred Policy = "preferred" // evict such pods last
	Mandatory Policy = "mandatory" // never evict such pods
)

// Protections returns all values of guards.protect, in the order of the documentation.
func Protections() []Protection {
	return append(DefaultProtections(), ProtectPVC, ProtectWithoutPDB, ProtectResourceClaims, ProtectRequired)
}

// DefaultProtections returns the protections of the default configuration.
func DefaultProtections() []Protection {
	return []Protection{
		ProtectLocalStorage, ProtectDaemonSets, ProtectSystemCritical, ProtectBarePods, ProtectFailedBarePods, ProtectJobs, ProtectDegraded, ProtectLastReady,
	}
}

// Options are the settings of the guards.
type Options struct {
	// Scope selects the namespaces and the nodes.
	Scope cluster.Scope
	// MinReplicas is the lowest number of desired replicas at which Evenkeel evicts pods of a workload.
	MinReplicas int
	// MinPodAge is the lowest age of an evicted pod.
	MinPodAge time.Duration
	// MaxGracePeriod is the longest time that an evicted pod may take to terminate; 0 disables the check.
	MaxGracePeriod time.Duration
	// GracePeriodSeconds replaces the pods' own grace periods; nil keeps them.
	GracePeriodSeconds *int64
	// PriorityBelow is exclusive: Evenkeel does not evict pods of this or a higher priority. If
	// PriorityBelowName is set, the value of that PriorityClass replaces PriorityBelow.
	PriorityBelow     int32
	PriorityBelowName string
	// Protect is the set of enabled protections.
	Protect map[Protection]bool
	// SafeLocalVolumes names volumes that hold nothing worth keeping. A name may end in * for any rest.
	SafeLocalVolumes []string
	// ProtectedStorageClasses names storage classes. Evenkeel does not evict pods with claims of these classes.
	ProtectedStorageClasses []string
	// PodSelector selects the pods that Evenkeel may evict; nil selects all pods.
	PodSelector labels.Selector
	// Controllers names additional kinds, as group/Kind, that replace an evicted pod immediately
	// from the same template.
	Controllers []string
	// BlockingPods selects pods that keep all pods on their nodes.
	BlockingPods []BlockingPods
	// Groups names the programs whose groups may lose a pod; see annotation.GroupPrograms.
	Groups []string
	// GroupKeys are the labels with which further programs mark the members of groups, on pods and owners. Annotations
	// do not count, because a snapshot has only those that Evenkeel knows.
	GroupKeys []string
	// NoEvictionPolicy applies to pods whose annotation prefers no eviction.
	NoEvictionPolicy Policy
	// Windows are the times at which evictions are allowed.
	Windows cron.Windows
	// TimeZone applies to windows in annotations without a time zone. Nil means UTC.
	TimeZone *time.Location
}

// DefaultOptions returns the values of the default configuration.
func DefaultOptions() Options {
	o := Options{
		Scope:             cluster.Scope{Exclude: []string{"kube-system"}, UtilizationLimit: 0.9},
		MinReplicas:       2,
		MinPodAge:         5 * time.Minute,
		MaxGracePeriod:    10 * time.Minute,
		PriorityBelowName: "system-cluster-critical",
		Protect:           map[Protection]bool{},
		NoEvictionPolicy:  Preferred,
		TimeZone:          time.UTC,
	}
	for _, p := range DefaultProtections() {
		o.Protect[p] = true
	}
	return o
}
