package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	"k8s.io/apimachinery/pkg/labels"
)

// EquivalenceClass is a set of pods that the scheduler cannot tell apart: the same
// scheduler, namespace, labels, owner, requests, affinity, tolerations, spread,
// images, volumes, ports and priority.
type EquivalenceClass struct {
	Number           int // in World.classes
	Namespace        string
	Labels           labels.Set
	Sample           *cluster.Pod
	Profile          *scheduler.Compiled
	ExpectedMilliCPU int64 // milliCPU that TargetLoadPacking expects of it; 0 without such a profile
	pods             []cluster.PodID
	Priority         int32
	Ports            []HostPort
	Disks            []volume.Disk
	Claims           []string      // names of claims, one entry per volume
	SpreadCounters   []*PodCounter // counters of topology spread that count its pods
	TermCounters     []*PodCounter // counters of inter-pod affinity that count its pods
	KnownSupported   bool          // neither its owner nor what its pods ask for is in the way of foretelling
	Simple           bool          // see alike
	TemplateRequests *cluster.Resources
}
