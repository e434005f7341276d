package guard

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
)

// Cache stores intermediate results that many pods share. A cache is valid for one snapshot, one set of options and one
// time. It is not safe for concurrent use.
type Cache struct {
	// Annotations caches the parsed annotations of pods, namespaces, workloads and nodes.
	Annotations *annotation.Cache

	nextOpenings map[string]string    // by the windows of the pod's annotations
	closings     map[string]time.Time // by the windows of the pod's annotations
	replicaSets  map[replicaSetsKey]int
	podCounts    map[cluster.WorkloadID]podCounts
	requirements *affinityRequirements
	passed       passedScopes
}

// replicaSetsKey identifies the pods that get the same result from countReplicaSets.
type replicaSetsKey struct {
	workload cluster.WorkloadID
	owner    metav1.Object // the pod's direct owner; nil if it is not in the snapshot
}

func NewCache() *Cache {
	return &Cache{
		Annotations:  annotation.NewCache(),
		nextOpenings: map[string]string{},
		closings:     map[string]time.Time{},
		replicaSets:  map[replicaSetsKey]int{},
		podCounts:    map[cluster.WorkloadID]podCounts{},
	}
}
