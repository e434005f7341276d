package report

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// pressure lists the hints on nodes under pressure, and those that would be there.
func (t *table) pressure(p plan.Plan) {
	g := columns("NODE", "RULE", ">VALUE", "SINCE", "EXPIRES", "STATE")
	for _, h := range p.Pressure {
		value := "-"
		if h.Rule != "" {
			value = number(h.Value)
		}
		g.row(safe(h.Node), orDash(safe(strings.Join(rulesOf(h), ", "))), value, timeText(h.Since), timeText(h.Expires), stateText(h))
	}
	t.section("Pressure hints", g, maxLines)
	if slices.ContainsFunc(p.Pressure, func(h plan.PressureHint) bool { return h.Predicted }) {
		t.line("  Planned as if that were done already: a run that evicts does it at each sample.")
	}
}

func rulesOf(h plan.PressureHint) []string {
	if h.Rule == "" {
		return nil
	}
	return append([]string{h.Rule}, h.OtherRules...)
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(timeLayout)
}

// stateText says how it is about a hint, and what the plan made of that.
func stateText(h plan.PressureHint) string {
	switch h.State {
	case plan.HintPresent:
		return "stands"
	case plan.HintToWrite:
		if h.Predicted {
			return "would be written (dry run writes none)"
		}
		return "not written yet; planned without it"
	case plan.HintToRemove:
		if h.Predicted {
			return "would be cleared (dry run clears none)"
		}
		return "not cleared yet; planned with it"
	case plan.HintExpired:
		if h.Predicted {
			return "expired; would be cleared"
		}
		return "expired: `evenkeel hints gc` clears it"
	case plan.HintForeign:
		return "foreign (" + safe(h.ForeignHint) + "): remove it with `" + safe(h.RemoveCommand) + "`"
	case plan.HintAwaitingSamples:
		return "would carry a hint after " + count(h.RequiredSamples-h.Samples, "more sample") + "; moves that need it are not shown"
	case plan.HintLimitReached:
		return "hot, without a hint: hotter nodes have them all (hints.maxHintedFrac)"
	}
	return safe(string(h.State))
}
