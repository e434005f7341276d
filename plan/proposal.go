package plan

// StrategyMode says who decides about the moves of a strategy.
type StrategyMode string

const (
	// Automatic: passes execute the moves.
	Automatic StrategyMode = "automatic"
	// Approve: the moves wait until a person approves them.
	Approve StrategyMode = "approve"
	// ShowOnly: the moves are only reported.
	ShowOnly StrategyMode = "dryRun"
)

// StrategyModes lists all modes, from the most to the least permissive.
func StrategyModes() []StrategyMode { return []StrategyMode{Automatic, Approve, ShowOnly} }

// Proposal is the plan of the strategies in one mode, Approve or ShowOnly. It begins where the moves of the Plan that
// contains it have ended as predicted.
type Proposal struct {
	Mode StrategyMode `json:"mode"`
	Plan Plan         `json:"plan"`
}

// ForApproval returns the proposal in mode Approve. It returns nil if no strategy has this mode.
func (p *Plan) ForApproval() *Plan {
	for i := range p.Proposals {
		if p.Proposals[i].Mode == Approve {
			return &p.Proposals[i].Plan
		}
	}
	return nil
}
