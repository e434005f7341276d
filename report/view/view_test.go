package view_test

import (
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// TestTargetsOf checks that most nodes decide, and that targets for requests and for use are apart.
func TestTargetsOf(t *testing.T) {
	below := func(resource string, basis plan.Basis, limit float64) plan.Goal {
		return plan.Goal{Kind: plan.NodeBelow, Resource: resource, Basis: basis, Limit: limit}
	}
	got := view.TargetsOf([]plan.Goal{below("cpu", "", .9), below("memory", "", .9), below("cpu", plan.BasisLoad, .7), below("cpu", "", .8), below("cpu", "", .8),
		{Kind: plan.SkewAtMost, Limit: 1}})
	want := []view.Target{{Resource: "cpu", Basis: plan.BasisLoad, Limit: .7}, {Resource: "cpu", Basis: plan.BasisRequests, Limit: .8},
		{Resource: "memory", Basis: plan.BasisRequests, Limit: .9}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
