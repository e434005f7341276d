package guard

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Cache stores intermediate results that many pods share. A cache is valid for one snapshot, one set of options and one
// time. It is not safe for concurrent use.
type Cache struct {
	// Annotations caches the parsed annotations of pods, namespaces, workloads and nodes.
	Annotations *annotation.Cache

	nextOpenings map[string]string    // by the windows of the pod's annotations
	closings     map[string]time.Time // by the windows of the pod's annotations
	revisions    map[revisionsKey]int
	podCounts    map[cluster.WorkloadID]podCounts
	blockingPods map[cluster.NodeID]string // results of findBlockingPod
	requirements *affinityRequirements
	waiting      map[schedulerPriority]cluster.PodID // see longestWaiting
	tried        map[string]map[int32]time.Time      // see newestTried
	quotas       map[string][]*corev1.ResourceQuota  // by namespace; nil until the first use
	quotaRooms   map[cluster.PodID][]quotaRoom       // see HasQuotaRoom
	admission    admission
	passed       passedScopes

	failedCreates map[controllerKey]createFailure // nil until the first use
}

// revisionsKey identifies the pods that get the same result from countRevisions.
type revisionsKey struct {
	workload cluster.WorkloadID
	owner    metav1.Object // the pod's direct owner; nil if it is not in the snapshot
}

func NewCache() *Cache {
	return &Cache{
		Annotations:  annotation.NewCache(),
		nextOpenings: map[string]string{},
		closings:     map[string]time.Time{},
		revisions:    map[revisionsKey]int{},
		podCounts:    map[cluster.WorkloadID]podCounts{},
		blockingPods: map[cluster.NodeID]string{},
		waiting:      map[schedulerPriority]cluster.PodID{},
		tried:        map[string]map[int32]time.Time{},
		quotaRooms:   map[cluster.PodID][]quotaRoom{},
	}
}

// ownerKey identifies the pods of one workload with the same direct owner object and the same kind of controller.
type ownerKey struct {
	workload cluster.WorkloadID
	owner    metav1.Object
	kind     string
}

// ownerKeyOf returns false if the snapshot has no workload or no owner of the pod.
func ownerKeyOf(p *cluster.Pod) (ownerKey, bool) {
	if p.Workload == cluster.NoWorkload || p.Controller == nil || len(p.Owners) == 0 {
		return ownerKey{}, false
	}
	return ownerKey{p.Workload, p.Owners[0], p.Controller.Kind}, true
}

// passedScopes records the nodes and the owners that have a pod that passed every rule.
type passedScopes struct {
	nodes  []bool     // by cluster.NodeID
	owners []ownerKey // the latest owner with such a pod, by cluster.WorkloadID
	// templates has the latest template with such a pod, by cluster.WorkloadID.
	templates []*cluster.Template
	// refused has the latest template that a rule with WorkloadScope or TemplateScope refused, by
	// cluster.WorkloadID.
	refused []templateRefusal
}

// templateRefusal is the reason for which all pods of a template are refused, unless an earlier rule refuses one. The
// field at is the place of the rule in the order of all rules. The template passes the earlier rules with WorkloadScope
// or TemplateScope.
type templateRefusal struct {
	template *cluster.Template
	at       int
	reason   plan.Reason
}

// refusalOf returns the refusal of the template of a pod, or nil.
func (s *passedScopes) refusalOf(p *cluster.Pod) *templateRefusal {
	if s.refused == nil || p.Workload == cluster.NoWorkload || p.Template == nil || s.refused[p.Workload].template != p.Template {
		return nil
	}
	return &s.refused[p.Workload]
}

func (s *passedScopes) addRefusal(snapshot *cluster.Snapshot, p *cluster.Pod, r templateRefusal) {
	if p.Workload == cluster.NoWorkload || len(p.Owners) == 0 { // otherwise pods of one template have one owner
		return
	}
	if s.refused == nil {
		s.refused = make([]templateRefusal, len(snapshot.Workloads))
	}
	s.refused[p.Workload] = r
}

// coveredBy returns the scopes whose rules an earlier pod has already passed for the pod p. For OddPodScope, no pod
// needs to.
func (s *passedScopes) coveredBy(p *cluster.Pod) (out scopes) {
	if p.Ordinary {
		out.add(OddPodScope)
	}
	if s.nodes == nil {
		return out
	}
	if p.Node != cluster.NoNode && s.nodes[p.Node] {
		out.add(NodeScope)
	}
	if p.Workload == cluster.NoWorkload {
		return out
	}
	if p.Template != nil && s.templates[p.Workload] == p.Template {
		if out.add(TemplateScope); len(p.Owners) > 0 {
			out.add(WorkloadScope) // pods of one template have one owner
			return out
		}
	}
	if key, ok := ownerKeyOf(p); ok && s.owners[p.Workload] == key {
		out.add(WorkloadScope)
	}
	return out
}

// add records a pod that passed every rule.
func (s *passedScopes) add(snapshot *cluster.Snapshot, p *cluster.Pod) {
	if s.nodes == nil {
		s.nodes, s.owners = make([]bool, len(snapshot.Nodes)), make([]ownerKey, len(snapshot.Workloads))
		s.templates = make([]*cluster.Template, len(snapshot.Workloads))
	}
	if p.Node != cluster.NoNode {
		s.nodes[p.Node] = true
	}
	if p.Workload == cluster.NoWorkload || s.templates[p.Workload] == p.Template && p.Template != nil {
		return // pods of one template have one owner
	}
	s.templates[p.Workload] = p.Template
	if key, ok := ownerKeyOf(p); ok {
		s.owners[p.Workload] = key
	}
}
