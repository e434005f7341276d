package report

import (
	"fmt"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// verdict is the one line that a hurried reader needs.
func (t *table) verdict(p plan.Plan, subject, effect string) {
	met := 0
	for _, g := range p.Goals {
		if p.After.Excess[g.ID] <= tiny {
			met++
		}
	}
	color, text := green, ""
	switch {
	case len(p.Goals) == 0 && len(p.Moves) == 0:
		text, color = nothingToDo(p.Strategies)
	case len(p.Moves) == 0:
		color = yellow
		text = fmt.Sprintf("0 evictions; %d of %d goals stay unmet, for the reasons below", len(p.Goals)-met, len(p.Goals))
	default:
		if met < len(p.Goals) {
			color = yellow
		}
		verb := "level"
		if len(p.Moves) == 1 {
			verb = "levels"
		}
		text = fmt.Sprintf("%s %s %d of %d goals; proven minimum %d", count(len(p.Moves), "eviction"), verb, met, len(p.Goals), p.Bound.MinForPlan)
	}
	if effect != "" {
		text += "; " + effect
	}
	t.line("%s", t.paint(color, subject+": "+text+"."))
}

// nothingToDo tells goals that are met from goals that nobody states, and from
// goals that are not met but were not asked for.
func nothingToDo(all []plan.StrategyState) (text, color string) {
	asked, unasked := []string{}, []string{}
	stated, goals, open := 0, 0, []string{}
	for _, st := range all {
		stated += st.Goals
		if st.Asked {
			goals += st.Goals
			asked = append(asked, safe(st.Name))
			continue
		}
		if st.Goals > 0 {
			unasked = append(unasked, safe(st.Name))
		}
		if st.Unmet > 0 {
			is := "is"
			if st.Unmet > 1 {
				is = "are"
			}
			open = append(open, fmt.Sprintf("%s of %s %s not, and %s not asked for", count(st.Unmet, "goal"), safe(st.Name), is, was(st.Unmet)))
		}
	}
	switch {
	case stated == 0:
		return "nothing to do: no strategy states a goal", yellow
	case goals == 0:
		text, color = "no strategy that was asked for states a goal", yellow
	default:
		text, color = allMet(goals), green
		if len(unasked) > 0 {
			text = allMet(goals, asked...)
		}
	}
	if len(open) == 0 {
		return "nothing to do: " + text, color
	}
	if goals == 0 {
		open[0] = strings.Replace(open[0], " not, and", " not met, and", 1)
	}
	return text + "; " + strings.Join(open, "; "), yellow
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func allMet(n int, of ...string) string {
	whose := ""
	if len(of) > 0 {
		whose = " of " + strings.Join(of, ", ")
	}
	if n == 1 {
		return "the one goal" + whose + " is met"
	}
	return fmt.Sprintf("all %d goals%s are met", n, whose)
}
