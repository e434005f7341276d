package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// tiny is smaller than the rounding of the planner. Excess up to tiny is zero.
const tiny = 1e-9

// maxFarGoals is the number of unmet goals that the section lists. Up to maxOpenGoals, the list is open.
const maxFarGoals, maxOpenGoals = 24, 6

// Undone is the section about pods that stay and goals that stay unmet.
type Undone = Section

// goalCounts counts the unmet goals of a plan, without nodes to empty.
type goalCounts struct {
	left     []*plan.Goal // unmet after the plan, the furthest first
	unlisted int          // unmet after the plan and not in left
	better   int          // of left
	// toEmpty and emptied count nodes to empty that keep pods, and those that are emptied.
	toEmpty, emptied int
}

func (c *goalCounts) all() int { return len(c.left) + c.unlisted }

func countGoals(p *plan.Plan) (c goalCounts) {
	_, c.unlisted = p.UnlistedGoals()
	for i := range p.Goals {
		g := &p.Goals[i]
		after := p.After.Excess[g.ID]
		switch {
		case g.Kind == plan.NodeEmpty && after > tiny:
			c.toEmpty++
			continue
		case g.Kind == plan.NodeEmpty:
			c.emptied++
			continue
		case after <= tiny:
			continue
		}
		c.left = append(c.left, g)
		if after < g.Excess-tiny {
			c.better++
		}
	}
	slices.SortStableFunc(c.left, func(a, b *plan.Goal) int { return cmp.Compare(p.After.Excess[b.ID], p.After.Excess[a.ID]) })
	return c
}

func (r *Report) makeUndone() Undone {
	s := Section{ID: "undone", Title: "What stays undone"}
	var leads []string
	if p := r.plan; len(p.NothingJudged) > 0 {
		leads = append(leads, "Nothing could be judged: "+p.NothingJudgedText()+".")
	}
	rejected := false
	for _, of := range r.undonePlans() {
		c := countGoals(of.plan)
		leads = append(leads, undoneLeads(of, &c)...)
		rejected = rejected || len(of.plan.Rejections.Counts) > 0
		r.addCauses(&s, of, &c)
	}
	switch {
	case len(leads) > 0:
	case len(r.plan.Strategies) == 0:
		leads = append(leads, "No strategy is enabled, so there is no goal.")
	case r.omitted.Goals > 0:
		leads = append(leads, "Every goal that the report lists is met.")
	case rejected:
		leads = append(leads, "Every goal is met. These pods could help more, and stay.")
	default:
		leads = append(leads, "Nothing. Every goal is met after these moves, and no guard, limit or budget held back a pod that could help.")
	}
	if n := r.omitted.Goals; n > 0 {
		s.Notes = append(s.Notes, text(r.leavesOut(count(n, "unmet goal"), "It keeps those that the moves improve, and those furthest from being met.")))
	}
	s.Lead = text(strings.Join(leads, " "))
	return s
}

// undonePlans returns the plan and its proposals, also those without moves.
func (r *Report) undonePlans() []listed {
	out := []listed{{plan: r.plan, title: "Pods that were considered and stay, by cause"}}
	for i := range r.plan.Proposals {
		of := &r.plan.Proposals[i]
		l := listed{plan: &of.Plan, mode: of.Mode, title: "Strategies whose moves are only shown: pods that stay, by cause"}
		if of.Mode == plan.Approve {
			l.title = "Strategies whose moves wait for approval: pods that stay, by cause"
		}
		out = append(out, l)
	}
	return out
}

// undoneLeads counts the goals that stay unmet, and the nodes that are not emptied.
func undoneLeads(of listed, c *goalCounts) (out []string) {
	who := ""
	switch of.mode {
	case plan.Approve:
		who = " of strategies whose moves wait for approval"
	case plan.ShowOnly:
		who = " of strategies whose moves are only shown"
	}
	if n := c.all(); n > 0 {
		lead := fmt.Sprintf("%s%s %s unmet", count(n, "goal"), who, verb(n, "stays", "stay"))
		if len(of.plan.Moves) > 0 && c.unlisted == 0 {
			lead += fmt.Sprintf(": %s %s, %s without change. None gets worse", number(c.better), verb(c.better, "improves", "improve"), number(n-c.better))
		}
		out = append(out, lead+".")
	}
	if c.toEmpty > 0 {
		out = append(out, fmt.Sprintf("%s of %s with few requests%s %s pods.", number(c.toEmpty), count(c.emptied+c.toEmpty, "node"), who, verb(c.toEmpty, "keeps", "keep")))
	}
	return out
}

// addCauses adds why pods stay, and which goals are furthest from being met.
func (r *Report) addCauses(s *Section, of listed, c *goalCounts) {
	p := of.plan
	counts := p.Rejections.Counts
	by, listed := answers.GoalsByCause(&p.Bound)
	if len(counts) > 0 {
		s.Tables = append(s.Tables, causes(p, of.title, by))
		s.Notes = append(s.Notes, r.causeNotes(p, c, listed))
	}
	far := c.left[:min(len(c.left), maxFarGoals)]
	if len(far) > 0 {
		which := " furthest from being met"
		if len(far) == c.all() {
			which = " that " + verb(len(far), "stays", "stay") + " unmet"
		}
		s.Details = append(s.Details, Details{Summary: "The " + count(len(far), "goal") + which, Open: len(c.left) <= maxOpenGoals,
			Tables: []Table{r.goalTable(p, far)}})
	}
}

func causes(p *plan.Plan, caption string, by map[plan.Code]map[string]bool) Table {
	counts := p.Rejections.Counts
	t := Table{Caption: text(caption), Class: "causes", Heads: heads("Cause", "", ">Pods", ">Goals", "What would change it", "Example")}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b plan.Code) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, c := range order {
		goals := "–"
		if n := len(by[c]); n > 0 {
			goals = number(n)
		}
		example := Cell{Class: "why"}
		if i := slices.IndexFunc(p.Rejections.Samples, func(x plan.Rejection) bool { return x.Reason.Code == c }); i >= 0 {
			x := &p.Rejections.Samples[i]
			example.Text = x.Pod.String() + ": " + answers.ZonesInWords(x.Reason.Message)
		}
		t.Rows = append(t.Rows, []Cell{{Text: sentence(cmp.Or(c.Meaning(), string(c))), Code: string(c), Row: true}, barCell(float64(counts[c]), float64(counts[order[0]])),
			countCell(counts[c]), numberCell(goals), textCell(sentence(c.Remedy())), example})
	}
	return t
}

func (r *Report) causeNotes(p *plan.Plan, c *goalCounts, listed int) answers.Text {
	var notes []string
	if n := len(p.Bound.ResidualByGoal); n > 0 {
		notes = append(notes, fmt.Sprintf("%s cannot be met by any eviction that the guards permit. ", count(n, "goal")))
	}
	if more := p.Bound.MinEvictions - len(p.Moves); more > 0 && len(p.Moves) > 0 {
		notes = append(notes, fmt.Sprintf("Meeting every goal that can be met takes at least %s, %s more than this plan has. ", count(p.Bound.MinEvictions, "eviction"), number(more)))
	}
	if listed > 0 && listed < c.all() {
		notes = append(notes, fmt.Sprintf("The plan names the cause for %s of the %s; the column Goals counts these, and a goal can have two causes. ", number(listed), count(c.all(), "goal")))
	}
	if p.GoalsNotTried > 0 {
		notes = append(notes, fmt.Sprintf("The search ended early (%s) and did not look at %s. ", p.SearchLimitReached, count(p.GoalsNotTried, "unmet goal")))
	}
	return text(strings.Join(notes, ""), code("evenkeel explain pod NAMESPACE/NAME"), " explains one pod.")
}

// goalTable lists goals with their excess now and after the plan.
func (r *Report) goalTable(p *plan.Plan, goals []*plan.Goal) Table {
	t := Table{Caption: text("Furthest from being met after the plan"), Class: "sortable", Heads: heads("Goal", "Requires", ">now → after", "Strategy", "Zone")}
	zones := false
	for _, g := range goals {
		after := p.After.Excess[g.ID]
		var requires string
		var change Cell
		switch g.Kind {
		case plan.NodeBelow:
			used := ""
			if g.Basis == plan.BasisLoad {
				used = " used"
			}
			requires, change = resourceLabel(g.Resource)+used+" at most "+percentOf(g.Limit), changeCell(percentOf(g.Limit+g.Excess), percentOf(g.Limit+after))
		case plan.SkewAtMost:
			requires, change = "zones at most "+count(int(g.Limit), "pod")+" apart", changeCell(significant(g.Limit+g.Excess)+" apart", significant(g.Limit+after)+" apart")
		case plan.CountAtMost:
			requires, change = "at most "+count(int(g.Limit), "pod")+" in one place", changeCell(significant(g.Excess)+" too many", significant(after)+" too many")
		case plan.PodsApart:
			requires, change = "pods apart", changeCell(count(int(g.Excess), "conflict"), count(int(after), "conflict"))
		default:
			requires, change = "leaves its node", changeCell(significant(g.Excess), significant(after))
		}
		subject, zone := g.Subject.Name, r.zoneOf[g.Subject.Name]
		if g.Subject.Namespace != "" {
			subject = g.Subject.Namespace + "/" + subject
		}
		if g.Kind == plan.SkewAtMost && g.TopologyKey != "topology.kubernetes.io/zone" {
			requires = "values of " + g.TopologyKey + " at most " + count(int(g.Limit), "pod") + " apart"
		}
		zones = zones || zone != ""
		t.Rows = append(t.Rows, []Cell{rowCell(subject), textCell(requires), change, nameCell(g.Strategy), textCell(zone)})
	}
	if !zones {
		t.Heads = t.Heads[:len(t.Heads)-1]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:len(t.Heads)]
		}
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
