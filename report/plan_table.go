package report

import (
	"github.com/evenkeel-project/evenkeel/plan"
)

// plan writes the verdict on a plan and then all of its sections.
func (t *table) plan(p plan.Plan, subject, effect string) {
	t.verdict(p, subject, effect)
	t.blocks(p.Blocks)
	t.origin(p)
	t.goals(p)
	t.nodes(p)
	t.zones(p)
	t.workloads(p)
	t.pressureHints(p)
	t.moves(p)
	t.rejections(p)
	t.bound(p)
	t.schedulers(p)
	t.inputs(p)
}

// blocks explains why the moves of the plan are not executed.
func (t *table) blocks(blocks []plan.EvictionBlock) {
	for _, b := range blocks {
		t.line("%s", t.paint(yellow, "Nothing is evicted now: "+reasonText(b.Reason)+"."))
	}
}

const timeLayout = "2006-01-02 15:04:05 MST"

// origin writes when the state was read, the Kubernetes version and the validity of the plan.
func (t *table) origin(p plan.Plan) {
	estimated := ""
	if p.TakenAtEstimated {
		estimated = " (newest time in the snapshot; the snapshot does not record when it was taken)"
	}
	version := safe(p.Cluster.Version)
	if version == "" {
		version = "of unknown version"
	}
	t.line("State of %s%s, Kubernetes %s; plan %s valid until %s.", p.TakenAt.UTC().Format(timeLayout), estimated,
		version, shortID(p.ID), p.Expires.UTC().Format(timeLayout))
}

// shortID returns the first 12 characters of a content hash.
func shortID(id string) string {
	const keep = 12
	if len(id) > keep {
		id = id[:keep]
	}
	return orDash(safe(id))
}

func (t *table) goals(p plan.Plan) {
	g := columns("GOAL", "STRATEGY", "WANTED", ">NOW", ">AFTER")
	for _, goal := range p.Goals {
		g.row(safe(goal.ID), safe(goal.Strategy), goalText(goal), excess(goal, goal.Excess), excess(goal, p.After.Excess[goal.ID]))
	}
	t.section("Goals not met now", g, maxLines)
}
