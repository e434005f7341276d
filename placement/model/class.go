package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	"k8s.io/apimachinery/pkg/labels"
)

// EquivalenceClass is a set of pods that the scheduler cannot tell apart. The pods of a class have
// the same scheduler, namespace, labels, owner, requests, affinity, tolerations, spread
// constraints, images, volumes, ports and priority.
type EquivalenceClass struct {
	Number           int // index in Cluster.ClassList
	Namespace        string
	Labels           labels.Set
	Sample           *cluster.Pod
	Profile          *scheduler.Compiled
	ExpectedMilliCPU int64        // milliCPU that TargetLoadPacking expects a pod to use; 0 if no profile uses it
	RiskAmounts      *RiskAmounts // for trimaran's plugins about risk; nil if no profile uses them
	pods             []cluster.PodID
	Priority         int32
	Ports            []HostPort
	Disks            []volume.Disk
	Claims           []string           // names of claims, one entry per volume
	spreadCounters   []*PodCounter      // topology spread counters that count its pods
	termCounters     []*PodCounter      // inter-pod affinity counters that count its pods
	KnownSupported   bool               // ClusterModel.Supported found no unsupported owner, affinity or volume
	TemplateRequests *cluster.Resources // requests of the owner's pod template; nil: not computed yet
}
