package planner

import "github.com/evenkeel-project/evenkeel/plan"

// holds returns what blocks all evictions now: a pause or the breaker.
func (c *search) holds() []plan.EvictionBlock {
	var out []plan.EvictionBlock
	if c.st.Pause.ActiveAt(c.now) {
		out = append(out, c.st.Pause.Block())
	}
	if t := c.st.Breaker; t != nil {
		if r := c.p.opts.Breaker.StaysOpen(t, c.s, c.now); r != nil {
			out = append(out, plan.EvictionBlock{Reason: *r, Since: t.At, Until: t.Until})
		}
	}
	return out
}
