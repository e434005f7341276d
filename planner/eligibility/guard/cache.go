package guard

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
)

// Cache stores intermediate results that many pods share. It is valid for one snapshot, one
// set of options and one time. It is not safe for concurrent use.
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

// replicaSetsKey is what the number of ReplicaSets of a workload depends on.
type replicaSetsKey struct {
	workload cluster.WorkloadID
	owner    metav1.Object // the pod's direct owner; nil if it is not in the snapshot
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{
		Annotations:  annotation.NewCache(),
		nextOpenings: map[string]string{},
		closings:     map[string]time.Time{},
		replicaSets:  map[replicaSetsKey]int{},
		podCounts:    map[cluster.WorkloadID]podCounts{},
	}
}

// affinityRequirements returns the required pod affinity terms of the snapshot.
func (c *Cache) affinityRequirements(s *cluster.Snapshot) *affinityRequirements {
	if c.requirements == nil {
		c.requirements = findAffinityRequirements(s)
	}
	return c.requirements
}

// RecordEviction adds an evicted pod of the snapshot to the counts.
func (c *Cache) RecordEviction(s *cluster.Snapshot, evicted EvictionCounts, pod cluster.PodID) {
	for _, r := range c.affinityRequirements(s).byPod[pod] {
		evicted[r]++
	}
}

// LastRequired reports whether another pod's required podAffinity selects only this pod,
// after the evictions that are counted. The message names the other pod.
func (c *Cache) LastRequired(s *cluster.Snapshot, evicted EvictionCounts, pod cluster.PodID) (message string, required bool) {
	return c.affinityRequirements(s).lastMatch(evicted, pod)
}
