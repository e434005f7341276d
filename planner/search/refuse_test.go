package search

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestWhatIsTooLittleToLeaveFor checks minBenefit: 0.05 % of a node of 10 CPU is 5m.
func TestWhatIsTooLittleToLeaveFor(t *testing.T) {
	skewed := plan.Goal{Kind: plan.SkewAtMost, Limit: 1}
	constraint := halfUsedGoals("cpu", 0)[0]
	constraint.Constraint = true
	for name, c := range map[string]struct {
		first, others string // requests of p0 and of the other pods
		goals         []plan.Goal
		says          string
	}{
		"excess below the floor": {"1", "4004m", halfUsedGoals("cpu", 0),
			"evicting the pod would remove only 0.04% of the cpu of n0 from the excess"},
		"excess at the floor": {"1", "4005m", halfUsedGoals("cpu", 0), ""},
		"a small pod":         {"4m", "6", halfUsedGoals("cpu", 0), "0.04% of the cpu of n0"},
		"no excess":           {"1", "4", halfUsedGoals("cpu", 0), ""},
		"nobody asks":         {"1", "4004m", []plan.Goal{constraint}, ""},
		"a group needs it":    {"1", "4004m", append(halfUsedGoals("cpu", 0), skewed), ""},
		"enough for another": {"1", "4004m", append(halfUsedGoals("cpu", 0),
			plan.Goal{Node: 0, Resource: "cpu", Limit: 0.4}), ""},
	} {
		c0 := newSmallSearch(t, 2, []string{"n0 a " + c.first, "n0 b " + c.others, "n0 a 0"}, nil, c.goals...)
		reason, no := c0.account.benefitTooSmall(0)
		if no != (c.says != "") || !strings.Contains(reason.Message, c.says) || no && reason.Code != plan.BenefitTooSmall {
			t.Errorf("%s: %v, %+v; want %q", name, no, reason, c.says)
		}
	}
}
