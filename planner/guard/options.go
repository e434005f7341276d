package guard

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Protection is a kind of pod that guards.protect keeps in place.
type Protection string

// The protections of this version. DaemonSet, mirror and static pods stay
// whatever the list says: their replacement can only come up where they are.
const (
	ProtectLocalStorage   Protection = "PodsWithLocalStorage"
	ProtectDaemonSets     Protection = "DaemonSetPods"
	ProtectSystemCritical Protection = "SystemCriticalPods"
	ProtectBarePods       Protection = "BarePods"
	ProtectJobs           Protection = "Jobs"
)

// Protections lists every protection, in the order of the documentation.
func Protections() []Protection {
	return []Protection{ProtectLocalStorage, ProtectDaemonSets, ProtectSystemCritical, ProtectBarePods, ProtectJobs}
}

// Options are the settings of the guards.
type Options struct {
	Scope cluster.Scope
	// MinReplicas is the smallest desired replica count of a workload whose
	// pods may be moved.
	MinReplicas int
	// MinPodAge is how long a pod must have run.
	MinPodAge time.Duration
	// PriorityBelow is exclusive: a pod of this priority or a higher one
	// stays. PriorityBelowName, when set, is looked up among the snapshot's
	// PriorityClasses and takes its place.
	PriorityBelow     int32
	PriorityBelowName string
	// Protect is the set of protections in force.
	Protect map[Protection]bool
}

// DefaultOptions are the values of the shipped configuration.
func DefaultOptions() Options {
	o := Options{
		Scope:             cluster.Scope{Exclude: []string{"kube-system"}},
		MinReplicas:       2,
		MinPodAge:         5 * time.Minute,
		PriorityBelowName: "system-cluster-critical",
		Protect:           map[Protection]bool{},
	}
	for _, p := range Protections() {
		o.Protect[p] = true
	}
	return o
}
