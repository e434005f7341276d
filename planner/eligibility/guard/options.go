package guard

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/cron"
)

// Protection is a kind of pod that guards.protect keeps in place.
type Protection string

// The protections of this version. DaemonSet, mirror and static pods stay
// whatever the list says: their replacement can only come up where they are.
// The last four are not in the default list.
const (
	ProtectLocalStorage   Protection = "PodsWithLocalStorage"
	ProtectDaemonSets     Protection = "DaemonSetPods"
	ProtectSystemCritical Protection = "SystemCriticalPods"
	ProtectBarePods       Protection = "BarePods"
	ProtectJobs           Protection = "Jobs"
	ProtectDegraded       Protection = "DegradedWorkloads"
	ProtectLastReady      Protection = "LastReadyPods"
	ProtectPVC            Protection = "PodsWithPVC"
	ProtectWithoutPDB     Protection = "PodsWithoutPDB"
	ProtectResourceClaims Protection = "PodsWithResourceClaims"
	ProtectRequired       Protection = "PodsRequiredByAffinity"
)

// Policy says what a request to rather not evict a pod means.
type Policy string

// The policies of guards.noEvictionPolicy.
const (
	Preferred Policy = "preferred" // such pods go last
	Mandatory Policy = "mandatory" // such pods stay
)

// Protections lists every protection, in the order of the documentation.
func Protections() []Protection {
	return append(DefaultProtections(), ProtectPVC, ProtectWithoutPDB, ProtectResourceClaims, ProtectRequired)
}

// DefaultProtections are those of the shipped configuration.
func DefaultProtections() []Protection {
	return []Protection{ProtectLocalStorage, ProtectDaemonSets, ProtectSystemCritical, ProtectBarePods, ProtectJobs, ProtectDegraded, ProtectLastReady}
}

// Options are the settings of the guards.
type Options struct {
	Scope cluster.Scope
	// MinReplicas is the smallest desired replica count of a workload whose
	// pods may be moved.
	MinReplicas int
	// MinPodAge is how long a pod must have run.
	MinPodAge time.Duration
	// SchedulerTimeout is how long a scheduler may leave a pod unattempted before
	// it counts as not responding; 0 means for ever.
	SchedulerTimeout time.Duration
	// PriorityBelow is exclusive: a pod of this priority or a higher one
	// stays. PriorityBelowName, when set, is looked up among the snapshot's
	// PriorityClasses and takes its place.
	PriorityBelow     int32
	PriorityBelowName string
	// Protect is the set of protections in force.
	Protect map[Protection]bool
	// ProtectedStorageClasses keep the pods that use a claim of theirs.
	ProtectedStorageClasses []string
	// PodSelector selects the pods that may be moved; nil selects all.
	PodSelector labels.Selector
	// Controllers are further kinds, as group/Kind, that replace their pods at
	// once and from the same template.
	Controllers []string
	// NoEvictionPolicy says what "prefer no eviction" means.
	NoEvictionPolicy Policy
	// Windows say when evictions may happen.
	Windows cron.Windows
	// TimeZone is where windows of annotations are that name none; nil is UTC.
	TimeZone *time.Location
}

// DefaultOptions are the values of the shipped configuration.
func DefaultOptions() Options {
	o := Options{
		Scope:             cluster.Scope{Exclude: []string{"kube-system"}, UtilizationLimit: 0.9},
		MinReplicas:       2,
		MinPodAge:         5 * time.Minute,
		SchedulerTimeout:  time.Minute,
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
