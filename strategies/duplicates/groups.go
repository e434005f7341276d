package duplicates

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// finder finds groups of equal pods in a snapshot, and counts them.
type finder struct {
	snapshot   *cluster.Snapshot
	topologies *topology.Cache
	hosts      *topology.Domains
	allHosts   *topology.Set
	// outOfScope marks, by node, the nodes whose pods do not count. It is nil if all nodes are in scope.
	outOfScope []bool
	// notShown marks, by node, the nodes that messages leave out.
	notShown []bool
}

func newFinder(s *cluster.Snapshot, scope cluster.Scope) *finder {
	topologies := topology.NewCache(s, scope)
	hosts := topologies.Domains(corev1.LabelHostname)
	f := &finder{s, topologies, hosts, hosts.NewSet(func(int32) bool { return true }), make([]bool, len(s.Nodes)), make([]bool, len(s.Nodes))}
	for i := range s.Nodes {
		f.outOfScope[i] = !scope.HasNode(&s.Nodes[i])
		f.notShown[i] = f.outOfScope[i] || !s.Nodes[i].Ready
	}
	if !slices.Contains(f.outOfScope, true) {
		f.outOfScope = nil
	}
	return f
}

// groups splits the pods of a workload that are neither terminating nor finished into groups. The pods of a group have
// the same controller and the same images. The variable last is a fast path: equal pods are usually adjacent.
func (f *finder) groups(all []cluster.PodID) [][]cluster.PodID {
	var groups [][]cluster.PodID
	index := map[string]int{}
	last, at := (*cluster.Pod)(nil), 0
	for _, id := range all {
		p := &f.snapshot.Pods[id]
		if p.Terminating || p.Terminal || p.Controller == nil {
			continue
		}
		if last == nil || !sameController(p, last) || !sameImages(p.Object.Spec.Containers, last.Object.Spec.Containers) {
			key, known := groupKey(p), false
			if at, known = index[key]; !known {
				at = len(groups)
				index[key], groups = at, append(groups, nil)
			}
		}
		last, groups[at] = p, append(groups[at], id)
	}
	return groups
}

func sameController(a, b *cluster.Pod) bool {
	x, y := a.Controller, b.Controller
	return x.UID == y.UID && x.Name == y.Name && x.Kind == y.Kind
}

// sameImages compares without copying the containers, which are large.
func sameImages(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if &a[i] != &b[i] && a[i].Image != b[i].Image {
			return false
		}
	}
	return true
}

// groupKey identifies the group of a pod within its workload. The order of the containers does not matter.
func groupKey(p *cluster.Pod) string {
	images := make([]string, len(p.Object.Spec.Containers))
	for i := range images {
		images[i] = p.Object.Spec.Containers[i].Image
	}
	slices.Sort(images)
	c := p.Controller
	return strings.Join(append(images, c.Kind, c.Name, string(c.UID)), "\x00")
}

// inScope returns the number of pods that run in scope or are not bound yet.
func (f *finder) inScope(group []cluster.PodID) int {
	n := 0
	for _, id := range group {
		if node := f.snapshot.Pods[id].Node; node == cluster.NoNode || f.outOfScope == nil || !f.outOfScope[node] {
			n++
		}
	}
	return n
}

// message describes the fullest node in scope, including nodes where the group could not run again,
// such as cordoned ones. No kubelet terminates pods on a NotReady node, so such nodes do not count.
func (f *finder) message(name string, pods []cluster.PodID, limit, total, nodes int) (message string) {
	f.hosts.Count(f.snapshot, pods, f.allHosts, f.notShown, func(c *topology.Counter) {
		message = fmt.Sprintf("%s has %s with the same images on one node; an even spread of %d pods over %d nodes has at most %d on each",
			name, plural.Count(c.Most(), "pod"), total, nodes, limit)
	})
	return message
}
