package plan

// BalancePart names a part of the balance score.
type BalancePart string

const (
	// BalanceGoals is the share of the goals with excess.
	BalanceGoals BalancePart = "goals"
	// BalanceZones is the share of pods that a zone failure takes beyond those that no placement can save.
	BalanceZones BalancePart = "zones"
	// BalanceUtilization is the spread of the requested share of nodes.
	BalanceUtilization BalancePart = "utilization"
	// BalanceWhole stands for all parts, if only the score is known, as from a stored plan.
	BalanceWhole BalancePart = "whole"
)

// balancePoints are the points of the score that each part can cost if all parts apply.
var balancePoints = map[BalancePart]float64{BalanceGoals: 50, BalanceZones: 25, BalanceUtilization: 25, BalanceWhole: 100}

// PartBalance is how uneven one part of the cluster is: 0 if it is even, and 1 in the worst case.
type PartBalance struct {
	Name   BalancePart
	Uneven float64
}

// Balance holds the parts of the balance score that apply to a cluster. docs/reference/report.md defines them.
type Balance struct{ Parts []PartBalance }

// Score returns the balance score: 100 if no part is uneven, and 0 if every part is as uneven as possible.
func (b *Balance) Score() float64 {
	score := 100.0
	for _, p := range b.Parts {
		score -= b.LostPoints(p)
	}
	return max(0, score)
}

// LostPoints returns the points that a part costs. The points of parts that do not apply go to the others.
func (b *Balance) LostPoints(of PartBalance) float64 {
	total := 0.0
	for _, p := range b.Parts {
		total += balancePoints[p.Name]
	}
	if total == 0 {
		return 0
	}
	return of.Uneven * 100 * balancePoints[of.Name] / total
}

// Balance returns the balance of the cluster before and after the plan. It returns false if the balance is unknown:
// the pass could judge nothing, or a strategy lacks usage data.
func (p *Plan) Balance() (before, after *Balance, known bool) {
	if len(p.NothingJudged) > 0 || p.Before.Balance == nil || p.After.Balance == nil || len(p.Before.Balance.Parts) == 0 {
		return nil, nil, false
	}
	for _, st := range p.Strategies {
		if st.NoData != "" {
			return nil, nil, false
		}
	}
	return p.Before.Balance, p.After.Balance, true
}

// LimitUse is the share of a limit that a plan uses. Share is 1 if no further eviction is allowed.
type LimitUse struct {
	Limit string // the key of the configuration
	Share float64
}
