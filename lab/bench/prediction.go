package main

import (
	"fmt"
	"math"
	"os"

	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// Prediction compares the cluster state that a plan predicted with the actual one.
type Prediction struct {
	Moves        int `json:"moves"`
	MinEvictions int `json:"minEvictions"`
	// Certified counts the nodes for which the plan proves that their target cannot be met.
	Certified int                `json:"nodesCertified"`
	Histogram []int              `json:"histogram"`
	ZoneCPU   map[string]float64 `json:"zoneCPU"`
	ZonePods  map[string]int     `json:"zonePods"`
	// HistogramPercent is the percentage of nodes in another step of the histogram than predicted.
	HistogramPercent float64 `json:"histogramOffPercent"`
	// ZonePercent is the difference in percent between the predicted and the actual requested CPU or number of pods
	// of a zone, for the worst zone.
	ZonePercent float64 `json:"zonesOffPercent"`
}

// newPrediction returns what a plan predicts. cpuOfNode is the allocatable CPU by node.
func newPrediction(t *testbed.Plan, cpuOfNode map[string]float64) *Prediction {
	f := &Prediction{Moves: t.Spec.MoveCount, MinEvictions: t.Spec.Minimum.Evictions,
		Histogram: make([]int, histogramBins), ZoneCPU: map[string]float64{}, ZonePods: map[string]int{}}
	for _, n := range t.Spec.After.Nodes {
		share := float64(n.RequestedPerMille["cpu"]) / 1000
		f.Histogram[histogramBin(share)]++
		f.ZoneCPU[n.Zone] += share * cpuOfNode[n.Name]
	}
	for _, w := range t.Spec.After.Workloads {
		for zone, pods := range w.Zones {
			f.ZonePods[zone] += pods
		}
	}
	certified := map[string]bool{}
	for _, g := range t.Spec.Goals {
		if g.Kind == "NodeBelow" && g.Unmet != nil && g.Unmet.Code == "outOfReach" {
			certified[g.Subject.Name] = true
		}
	}
	f.Certified = len(certified)
	return f
}

// compareActual computes the differences between the predicted and the actual state.
func (f *Prediction) compareActual(actual *Imbalance) {
	differ, all := 0, 0
	for i, n := range actual.Histogram {
		differ += max(n-f.Histogram[i], f.Histogram[i]-n)
		all += n
	}
	f.HistogramPercent = 100 * float64(differ) / 2 / float64(all)
	f.ZonePercent = 0
	for zone := range actual.ZoneCPU {
		f.ZonePercent = max(f.ZonePercent, percentDifference(f.ZoneCPU[zone], actual.ZoneCPU[zone]),
			percentDifference(float64(f.ZonePods[zone]), float64(actual.ZonePods[zone])))
	}
}

// percentDifference returns the difference between two values as a percentage of the actual one.
func percentDifference(predicted, actual float64) float64 {
	if actual == 0 {
		return 0
	}
	return 100 * math.Abs(predicted-actual) / actual
}

// countOutcomes counts outcomes by kind and reason, and those that landed as predicted.
func countOutcomes(all []testbed.Outcome) (by map[string]int, landedAsPredicted int) {
	by = map[string]int{}
	for _, o := range all {
		by[o.Outcome+"/"+o.Reason.Code]++
		if o.AsPredicted {
			landedAsPredicted++
		}
	}
	return by, landedAsPredicted
}

// readReport returns the report of the last pass in a log that was written with testbed.ReportFlags.
func readReport(log string) (testbed.Report, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return testbed.Report{}, fmt.Errorf("reading the log of a pass: %w", err)
	}
	all := testbed.Reports(string(text))
	if len(all) == 0 {
		return testbed.Report{}, fmt.Errorf("%s has no report", log)
	}
	return all[len(all)-1], nil
}
