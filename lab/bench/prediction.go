package main

import (
	"math"
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

func newPrediction(t planOutput, cpuOfNode float64) *Prediction {
	f := &Prediction{Moves: len(t.Moves), MinEvictions: t.Bound.MinEvictions,
		Histogram: make([]int, histogramBins), ZoneCPU: map[string]float64{}, ZonePods: map[string]int{}}
	for _, n := range t.After.Nodes {
		f.Histogram[histogramBin(n.Requested["cpu"])]++
		f.ZoneCPU[n.Zone] += n.Requested["cpu"] * cpuOfNode
	}
	for _, w := range t.After.Workloads {
		for zone, pods := range w.Zones {
			f.ZonePods[zone] += pods
		}
	}
	certified := map[string]bool{}
	for _, g := range t.Goals {
		if g.Kind == "NodeBelow" && t.Bound.ResidualByGoal[g.ID] > 0 {
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

// outcome holds the fields of a move's outcome that the benchmark reads.
type outcome struct {
	Outcome           string
	Reason            struct{ Code string }
	LandedAsPredicted bool
}

// countOutcomes counts outcomes by kind and reason, and those that landed as predicted.
func countOutcomes(all []outcome) (by map[string]int, landedAsPredicted int) {
	by = map[string]int{}
	for _, o := range all {
		by[o.Outcome+"/"+o.Reason.Code]++
		if o.LandedAsPredicted {
			landedAsPredicted++
		}
	}
	return by, landedAsPredicted
}

// planOutput holds the fields of a plan that the benchmark reads.
type planOutput struct {
	Moves []struct {
		Pod      struct{ Namespace, Name string }
		Wave     int
		Strategy string
	}
	Goals []struct {
		ID, Kind string
		Subject  struct{ Name string }
	}
	Bound struct {
		MinEvictions   int
		ResidualByGoal map[string]float64
	}
	After struct {
		Nodes []struct {
			Name, Zone string
			Requested  map[string]float64
		}
		Workloads []struct{ Zones map[string]int }
	}
	Outcomes []outcome `json:"-"` // from the report that contains the plan
}
