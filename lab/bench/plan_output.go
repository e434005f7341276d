package main

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
