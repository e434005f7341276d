package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// group is the steps of a strategy.
type group struct {
	Strategy, Title, Text string
	Waits                 bool
	Checked               bool
	Units                 []unit
}

// unit is one step, or several that are decided together.
type unit struct {
	Value   string // the numbers, such as 4,5
	Label   string
	Waits   bool
	Checked bool
	Rows    []stepRow
}

type stepRow struct {
	Step, Wave             int
	Namespace, Name        string
	From, FromZone         string
	To, ToZone, Sure, Why  string
	State, Landed, Outcome string
	Last                   bool // of several
}

// groups returns the steps by strategy, in the order of the first step of each.
func (q *request) groups(o *v1alpha1.RebalancePlan, p *waiting.Plan) (out []group) {
	zones, moves, steps := map[string]string{}, map[int]*v1alpha1.Move{}, stepsOf(o)
	for _, n := range o.Spec.Before.Nodes {
		zones[n.Name] = n.Zone
	}
	var units [][]int
	for i := range o.Spec.Moves {
		m := &o.Spec.Moves[i]
		moves[int(m.Step)] = m
		units = append(units, []int{int(m.Step)})
	}
	if p != nil {
		units = p.Units()
	}
	chosen := q.chosen(p)
	for _, of := range units {
		first := moves[of[0]]
		if first == nil {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool { return g.Strategy == first.Strategy })
		if i < 0 {
			i, out = len(out), append(out, group{Strategy: first.Strategy})
		}
		u := unit{Value: waiting.FormatSteps(of)}
		var names []string
		for _, step := range of {
			m := moves[step]
			row := q.stepRow(m, zones, steps[m.Step])
			if p != nil {
				d := p.StateOf(step)
				u.Waits = u.Waits || d.State == waiting.Waiting
				if d.State != waiting.Waiting && row.Outcome == "" {
					row.Outcome = d.String()
				}
			}
			u.Checked = u.Checked || chosen[step]
			u.Rows, names = append(u.Rows, row), append(names, m.Pod.Namespace+"/"+m.Pod.Name)
		}
		u.Label = plural.Noun(len(of), "Step") + " " + u.Value + ", " + answers.Join(names)
		if u.Rows[len(u.Rows)-1].Last = true; len(of) > 1 {
			u.Label += ", all or none"
		}
		out[i].Units = append(out[i].Units, u)
	}
	for i := range out {
		out[i].finish(o)
	}
	return out
}

// finish adds what the steps of a strategy bring.
func (g *group) finish(o *v1alpha1.RebalancePlan) {
	n, waits, checked, why, of := 0, 0, 0, "", 0
	for _, u := range g.Units {
		for i := range u.Rows {
			if x := &u.Rows[i]; x.Why != "" && x.Why == why {
				x.Why = fmt.Sprintf("as step %d", of)
			} else {
				why, of = x.Why, x.Step
			}
		}
		n += len(u.Rows)
		if u.Waits {
			waits++
		}
		if u.Checked {
			checked++
		}
	}
	g.Waits, g.Checked = waits > 0, waits > 0 && checked == waits
	g.Title = fmt.Sprintf("%s: all %s", cmp.Or(g.Strategy, "no strategy"), plural.Count(n, "step"))
	met, named := 0, []string{}
	for i := range o.Spec.Goals {
		goal := &o.Spec.Goals[i]
		if goal.Strategy == g.Strategy && goal.ExcessBefore != "" && (goal.ExcessAfter == "" || goal.ExcessAfter == "0") {
			if met++; len(named) < 3 {
				named = append(named, goal.Subject.Name)
			}
		}
	}
	if met > 0 {
		g.Text = fmt.Sprintf("%s would be met: %s", plural.Count(met, "goal"), strings.Join(named, ", "))
		if met > len(named) {
			g.Text += fmt.Sprintf(" and %d more", met-len(named))
		}
	}
}

func (q *request) stepRow(m *v1alpha1.Move, zones map[string]string, x *v1alpha1.StepStatus) stepRow {
	row := stepRow{Step: int(m.Step), Wave: int(m.Wave), Namespace: m.Pod.Namespace, Name: m.Pod.Name, From: m.From, FromZone: zones[m.From], To: m.To, ToZone: zones[m.To],
		Why: answers.ZonesInWords(m.Reason.Message)}
	if m.To != "" {
		row.Sure = percent.Of(float64(m.ConfidencePerMille) / 1000)
	}
	if m.DisplacedFor != nil {
		row.Why = "makes room for " + m.DisplacedFor.Namespace + "/" + m.DisplacedFor.Name + ": both or none"
	}
	if x == nil {
		return row
	}
	switch kind := stepKind(x); {
	case kind == "predicted":
		row.Outcome = "evicted, on " + x.Landed + " as predicted"
	case kind == "elsewhere" && x.Landed != "":
		row.Outcome = "evicted, on " + x.Landed + ", elsewhere than predicted"
	case kind == "unready" || kind == "elsewhere":
		row.Outcome = "evicted, no ready replacement known"
	case kind == "stayed":
		row.Outcome = strings.ToLower(string(x.State))
	}
	if x.Reason != nil && (x.State != v1alpha1.StepEvicted || x.Landed == "") {
		row.Outcome += ": " + cmp.Or(x.Reason.Message, x.Reason.Code)
	}
	return row
}
