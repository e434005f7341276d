package simulation

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// variedCluster generates one Varied cluster.
type variedCluster struct {
	r                      *rand.Rand
	o                      *cluster.Objects
	spaces                 []nodeSpace
	totalCPU, requestedCPU int64 // milliCPU
	apps                   []*variedApp
}

// nodeSpace is a node with its free resources. weight is the relative probability that the node receives a pod.
type nodeSpace struct {
	node      *corev1.Node
	cpu, mem  int64
	weight    float64
	podsByApp map[string]int // number of pods by workload
}

func (v *variedCluster) chance(p float64) bool { return v.r.Float64() < p }

func (v *variedCluster) addNodes(n int) {
	for i := range n {
		name := fmt.Sprintf("n%03d", i)
		cpu := pickRandom(v.r, int64(4000), 8000, 8000, 16000)
		mem := cpu / 1000 * pickRandom(v.r, int64(2), 4, 4, 4, 8) << 30
		labels := map[string]string{zoneKey: fmt.Sprintf("z%d", i%3), "kubernetes.io/hostname": name}
		if v.chance(0.35) {
			labels["disk"] = "ssd"
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: labels}}
		node.Status = readyNode(requests(cpu, mem).Requests)
		node.Status.Allocatable["pods"] = resource.MustParse("110")
		v.o.Nodes = append(v.o.Nodes, node)
		draw := pickRandom(v.r, 1.9, 1.9, 1.9, 1, 1, 1, 1, 0.3, 0.3, 0.3)
		v.spaces = append(v.spaces, nodeSpace{node, cpu * 97 / 100, mem * 95 / 100, draw * float64(cpu), map[string]int{}})
		v.totalCPU += cpu
	}
}

// pickNode returns a random node, by weight, that has room and meets the workload's constraints. pickNode returns
// nil if no node does.
func (v *variedCluster) pickNode(a *variedApp) *corev1.Node {
	var sum float64
	weights := make([]float64, len(v.spaces))
	for i := range v.spaces {
		if s := &v.spaces[i]; s.cpu >= a.cpu && s.mem >= a.mem && a.allowed(s) {
			weights[i] = s.weight
			if a.favouredZone == s.node.Labels[zoneKey] {
				weights[i] *= 4
			}
			sum += weights[i]
		}
	}
	at := v.r.Float64() * sum
	for i, w := range weights {
		if at -= w; w > 0 && at < 0 {
			s := &v.spaces[i]
			s.cpu, s.mem, v.requestedCPU = s.cpu-a.cpu, s.mem-a.mem, v.requestedCPU+a.cpu
			s.podsByApp[a.name]++
			return s.node
		}
	}
	return nil
}

// variedApp is one workload of a Varied cluster.
type variedApp struct {
	ns, name     string
	cpu, mem     int64
	favouredZone string // zone that attracts most of its pods
	template     corev1.PodTemplateSpec
	onePerNode   bool              // at most one pod on each node
	node         map[string]string // required labels of its nodes
	zonalVolume  bool              // each pod has a volume that binds it to a zone

	owners []metav1.OwnerReference // of its pods
	pods   []*corev1.Pod
}

func (a *variedApp) allowed(s *nodeSpace) bool {
	for k, want := range a.node {
		if s.node.Labels[k] != want {
			return false
		}
	}
	return !a.onePerNode || s.podsByApp[a.name] == 0
}
