package main

import (
	"context"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// Imbalance says how uneven the cluster is at one moment, by pod requests.
type Imbalance struct {
	// CPUStdDev is the standard deviation over nodes, in percent of allocatable.
	CPUStdDev float64 `json:"cpuStdDevPercent"`
	CPUMean   float64 `json:"cpuMeanPercent"`
	CPUMax    float64 `json:"cpuMaxPercent"`
	// NodesAbove counts nodes with any resource above its target.
	NodesAbove int `json:"nodesAbove"`
	// Skewed counts Deployments whose zones differ by more than one pod. Broken counts the skewed Deployments that have
	// a required spread constraint.
	Skewed  int `json:"deploymentsSkewed"`
	Broken  int `json:"constraintsBroken"`
	Pending int `json:"pending"`
	// Histogram counts nodes by requested CPU in steps of 5 %; the last step is 100 % and more.
	Histogram []int `json:"histogram"`
	// ZoneCPU is the requested CPU per zone; ZonePods is the number of pods per zone.
	ZoneCPU  map[string]float64 `json:"zoneCPU"`
	ZonePods map[string]int     `json:"zonePods"`
	// Landed counts pods that did not exist at the start. LandedAbove counts the landed pods on nodes above the target.
	Landed      int `json:"landed"`
	LandedAbove int `json:"landedAbove"`
}

const histogramBins = 21

// histogramBin returns the step of the histogram for a fraction of CPU. Values within 1e-6 of the next step are rounded
// up.
func histogramBin(share float64) int {
	return min(histogramBins-1, max(0, int(math.Floor(share*20+1e-6))))
}

// nodeRequests holds a node's allocatable resources and the requests of its pods.
type nodeRequests struct {
	zone                   string
	allocatable, requested map[string]float64
}

func (l nodeRequests) requestedFraction(resource string) float64 {
	return l.requested[resource] / l.allocatable[resource]
}

// readImbalance reads the cluster and returns its imbalance. known holds the pods that existed at the start.
func readImbalance(ctx context.Context, client kubernetes.Interface, t balanceTarget, known map[string]bool) (*Imbalance, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return computeImbalance(nodes.Items, pods.Items, t, known), nil
}

func computeImbalance(nodes []corev1.Node, pods []corev1.Pod, t balanceTarget, known map[string]bool) *Imbalance {
	loads := map[string]*nodeRequests{}
	for i := range nodes {
		n := &nodes[i]
		loads[n.Name] = &nodeRequests{zone: n.Labels[seed.ZoneKey], requested: map[string]float64{},
			allocatable: map[string]float64{"cpu": n.Status.Allocatable.Cpu().AsApproximateFloat64(),
				"memory": n.Status.Allocatable.Memory().AsApproximateFloat64()}}
	}
	s := &Imbalance{Histogram: make([]int, histogramBins), ZoneCPU: map[string]float64{}, ZonePods: map[string]int{}}
	g := zoneCounts{nodes: loads, podsByZone: map[string]map[string]int{}, required: map[string]bool{}}
	var landed []string
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		l := loads[p.Spec.NodeName]
		if l == nil {
			s.Pending++
			continue
		}
		cpu := 0.0
		for _, c := range p.Spec.Containers {
			cpu += c.Resources.Requests.Cpu().AsApproximateFloat64()
			l.requested["memory"] += c.Resources.Requests.Memory().AsApproximateFloat64()
		}
		l.requested["cpu"] += cpu
		s.ZoneCPU[l.zone] += cpu
		s.ZonePods[l.zone]++
		g.add(p, l.zone)
		if known != nil && !known[p.Namespace+"/"+p.Name] {
			landed = append(landed, p.Spec.NodeName)
		}
	}
	s.computeStatistics(loads)
	s.Skewed, s.Broken = g.countSkewed()
	above := nodesAbove(loads, t)
	s.NodesAbove, s.Landed = len(above), len(landed)
	for _, n := range landed {
		if above[n] {
			s.LandedAbove++
		}
	}
	return s
}

// computeStatistics computes the statistics of the nodes' CPU fractions; every node has the same weight.
func (s *Imbalance) computeStatistics(loads map[string]*nodeRequests) {
	var sum, squares float64
	for _, l := range loads {
		share := l.requestedFraction("cpu")
		sum += share
		squares += share * share
		s.CPUMax = max(s.CPUMax, 100*share)
		s.Histogram[histogramBin(share)]++
	}
	n := float64(len(loads))
	s.CPUMean = 100 * sum / n
	s.CPUStdDev = 100 * math.Sqrt(max(0, squares/n-sum/n*sum/n))
}

func nodesAbove(loads map[string]*nodeRequests, t balanceTarget) map[string]bool {
	out := map[string]bool{}
	for resource, limit := range t.limitsByResource() {
		var used, has float64
		for _, l := range loads {
			used, has = used+l.requested[resource], has+l.allocatable[resource]
		}
		for name, l := range loads {
			if l.requestedFraction(resource) > t.threshold(used/has, limit)+1e-9 {
				out[name] = true
			}
		}
	}
	return out
}

// zoneCounts counts pods per Deployment and zone; the label app names the Deployment.
type zoneCounts struct {
	nodes      map[string]*nodeRequests
	podsByZone map[string]map[string]int
	required   map[string]bool
}

func (g zoneCounts) add(p *corev1.Pod, zone string) {
	name := p.Namespace + "/" + p.Labels["app"]
	if g.podsByZone[name] == nil {
		g.podsByZone[name] = map[string]int{}
		for _, l := range g.nodes {
			g.podsByZone[name][l.zone] = 0
		}
	}
	g.podsByZone[name][zone]++
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.TopologyKey == seed.ZoneKey && c.WhenUnsatisfiable == corev1.DoNotSchedule {
			g.required[name] = true
		}
	}
}

func (g zoneCounts) countSkewed() (all, declared int) {
	for name, zones := range g.podsByZone {
		least, most := math.MaxInt, 0
		for _, n := range zones {
			least, most = min(least, n), max(most, n)
		}
		if most-least > 1 {
			all++
			if g.required[name] {
				declared++
			}
		}
	}
	return all, declared
}
