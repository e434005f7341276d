package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// standing is the line on a node that says whether pods go there at all.
func (t *table) standing(n *plan.NodeStatus) {
	if n == nil {
		return
	}
	zone, scope, state, color := "in zone "+safe(n.Zone), "in scope", "takes pods", plain
	if n.Zone == "" {
		zone = "in no zone"
	}
	if !n.InScope {
		scope, color = "not in scope (nodeSelector): its pods stay", yellow
	}
	if len(n.State) > 0 {
		state, color = safe(strings.Join(n.State, ", ")), yellow
	}
	text := "It is " + zone + ", " + scope + "; it "
	if len(n.State) > 0 {
		text += "is "
	}
	t.line("%s", t.paint(color, text+state+"."))
	var used []string
	for _, r := range sortedKeys(n.Used) {
		used = append(used, percent(n.Used[r])+" of its "+safe(r))
	}
	if len(used) > 0 {
		t.line("It uses %s.", strings.Join(used, ", "))
	}
	if h := n.Hint; h != nil {
		because := ""
		if h.Rule != "" {
			because = " (" + safe(strings.Join(rulesOf(*h), ", ")) + "; " + safe(h.Rule) + " at " + number(h.Value) + ")"
		}
		t.line("Pressure hint%s: %s.", because, stateText(*h))
	}
}
