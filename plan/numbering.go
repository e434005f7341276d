package plan

import "slices"

// ContinueNumbering returns p with steps and waves that continue those of the first plan of
// the same pass. The result has a new ID.
func (p Plan) ContinueNumbering(first Plan) Plan {
	steps, waves := 0, 0
	for _, m := range first.Moves {
		steps, waves = max(steps, m.Step), max(waves, m.Wave)
	}
	p.Moves, p.Hints = slices.Clone(p.Moves), slices.Clone(p.Hints)
	for i := range p.Moves {
		p.Moves[i].Step += steps
		p.Moves[i].Wave += waves
	}
	for i := range p.Hints {
		p.Hints[i].Wave += waves
	}
	p.ID = ContentID(p)
	return p
}
