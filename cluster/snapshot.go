// Package cluster holds an immutable, indexed snapshot of a Kubernetes cluster: nodes, pods,
// the workloads that own them, disruption budgets and Services. It reads snapshots from files
// and writes them as native objects.
//
// The package determines the pods on each node, their requests and the workloads that own them. It
// does not decide whether a pod may move. It never contacts an API server and never reads a clock.
package cluster

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	"github.com/evenkeel-project/evenkeel/cluster/work"
	corev1 "k8s.io/api/core/v1"
)

// Snapshot is an indexed view of the cluster. All slices and objects are read-only. Nodes are
// sorted by name, all others by namespace and name (then kind and UID).
type Snapshot struct {
	// Work ends the planning on the snapshot; nil never does.
	Work        *work.Budget
	TakenAt     time.Time
	ServerMajor int
	ServerMinor int
	// VersionUnknown is true if the objects name neither the version of the server nor that of every kubelet.
	// ServerMajor and ServerMinor are then the newest known version. Without the version of the server, they are those
	// of the oldest kubelet.
	VersionUnknown bool
	// Scheduler says what kube-scheduler of the server's minor version does.
	Scheduler  kubeversion.Features
	ClusterUID string
	Nodes      []Node
	Pods       []Pod
	Workloads  []Workload
	Budgets    []Budget
	Services   []Service
	Objects    *Objects // the objects that the snapshot indexes, read-only
	// ActualNodes maps names to the nodes in the cluster. A dry run adds hints to Nodes without
	// writing them to the cluster. ActualNodes is nil if Nodes contains no such hints.
	ActualNodes map[string]*corev1.Node
	// Usage holds the measured usage by node and pod. It is nil if the objects have none.
	Usage *ResolvedUsage
	// UnknownNodePods counts pods that are bound to nodes outside the snapshot.
	UnknownNodePods int
	// Unattempted maps a schedulerName to the pods that the scheduler has not tried to place. Pods
	// whose spec can keep them out of the scheduling queue are not listed.
	Unattempted map[string][]PodID
	// changesUnderWay is true if a bound pod leaves by itself, or if an unbound pod is nominated for a node.
	changesUnderWay bool
	templateRuns    []PodID // the first pod of each run, see TemplateRuns
	nodeByName      map[string]NodeID
	podByUID        func() map[string]PodID // makes the map when it is first called
	namespaceByName map[string]*corev1.Namespace
	claimByKey      map[string]*corev1.PersistentVolumeClaim
	volumeByName    map[string]*corev1.PersistentVolume
}

// Version returns the minor version of the server, such as 1.37, or "" if it is unknown.
func (s *Snapshot) Version() string {
	if s.VersionUnknown {
		return ""
	}
	return fmt.Sprintf("%d.%d", s.ServerMajor, s.ServerMinor)
}

// KnownVersion reports whether Evenkeel has a model of the kube-scheduler of the server's version. For other versions,
// predictions use the model of the nearest version, and for an unknown version that of the newest one.
func (s *Snapshot) KnownVersion() bool {
	return !s.VersionUnknown && kubeversion.Known(s.ServerMajor, s.ServerMinor)
}

// NodeByName returns the node with this name, or nil.
func (s *Snapshot) NodeByName(name string) *Node {
	if id, ok := s.nodeByName[name]; ok {
		return &s.Nodes[id]
	}
	return nil
}

// TemplateRuns returns the pods in order, in runs of neighbors with the same template.
func (s *Snapshot) TemplateRuns() iter.Seq[[]Pod] {
	return func(yield func([]Pod) bool) {
		for i, first := range s.templateRuns {
			end := len(s.Pods)
			if i+1 < len(s.templateRuns) {
				end = int(s.templateRuns[i+1])
			}
			if !yield(s.Pods[first:end]) {
				return
			}
		}
	}
}

// PodByUID returns the pod with this UID, or nil.
func (s *Snapshot) PodByUID(uid string) *Pod {
	if s.podByUID == nil {
		return nil
	}
	if id, ok := s.podByUID()[uid]; ok {
		return &s.Pods[id]
	}
	return nil
}

func (s *Snapshot) indexUIDs() map[string]PodID {
	out := make(map[string]PodID, len(s.Pods))
	for i := range s.Pods {
		if uid := s.Pods[i].Object.UID; uid != "" {
			out[string(uid)] = PodID(i)
		}
	}
	return out
}

// Namespace returns the namespace object, or nil if it is not in the snapshot.
func (s *Snapshot) Namespace(name string) *corev1.Namespace { return s.namespaceByName[name] }

// Claim returns the PersistentVolumeClaim, or nil if it is not in the snapshot.
func (s *Snapshot) Claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return s.claimByKey[namespace+"/"+name]
}

// PersistentVolume returns the volume, or nil if it is not in the snapshot.
func (s *Snapshot) PersistentVolume(name string) *corev1.PersistentVolume {
	return s.volumeByName[name]
}

// WorkloadOf returns the pod's workload, or nil for a bare pod.
func (s *Snapshot) WorkloadOf(p *Pod) *Workload {
	if p.Workload == NoWorkload {
		return nil
	}
	return &s.Workloads[p.Workload]
}

// PodByKey returns the pod with the key "namespace/name", or nil.
func (s *Snapshot) PodByKey(key string) *Pod {
	namespace, name, found := strings.Cut(key, "/")
	if !found {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.Pods, name, func(p Pod, name string) int {
		return cmp.Or(strings.Compare(p.Object.Namespace, namespace), strings.Compare(p.Object.Name, name))
	})
	if !ok {
		return nil
	}
	return &s.Pods[i]
}
