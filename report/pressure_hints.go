package report

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// writePressureHints lists the hints on nodes under pressure, and those that are missing.
func (t *planTable) writePressureHints(p plan.Plan) {
	g := layout.NewGrid("NODE", "RULE", ">VALUE", "SINCE", "EXPIRES", "~STATE")
	for _, h := range p.Pressure {
		value := "-"
		if h.Rule != "" {
			value = number(h.Value)
		}
		g.Add(escape(h.Node), orDash(escape(strings.Join(hintRules(h), ", "))), value,
			timeText(h.Since), timeText(h.Expires), hintStateText(h))
	}
	var notes []string
	if slices.ContainsFunc(p.Pressure, func(h plan.PressureHint) bool { return h.Predicted }) {
		notes = []string{"The plan assumes these changes. A live run makes them after every sample."}
	}
	t.out.addSection(pressureRank, layout.Section{Title: "Pressure hints", Grid: g, Notes: notes})
}

func hintRules(h plan.PressureHint) []string {
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

// hintStateText describes the state of a hint, and whether the plan assumes the hint.
func hintStateText(h plan.PressureHint) string {
	switch h.State {
	case plan.HintPresent:
		return "present"
	case plan.HintToWrite:
		if h.Predicted {
			return "would be written (a dry run writes no hints)"
		}
		return "not written yet; the plan assumes no hint"
	case plan.HintToRemove:
		if h.Predicted {
			return "would be removed (a dry run removes no hints)"
		}
		return "not removed yet; the plan assumes the hint"
	case plan.HintExpired:
		if h.Predicted {
			return "expired; would be removed"
		}
		return "expired: `evenkeel hints gc` removes it"
	case plan.HintMissing:
		return "recorded, but its label or taint is missing on the node"
	case plan.HintInvalidRecord:
		return "invalid record: " + escape(h.Problem) + "; the plan assumes no hint"
	case plan.HintForeign:
		return "foreign label or taint (" + escape(h.ForeignHint) + "): remove it with `" + escape(h.RemoveCommand) + "`"
	case plan.HintAwaitingSamples:
		return "needs " + plural.Count(h.RequiredSamples-h.Samples, "more sample") + " above the level; the plan assumes no hint"
	case plan.HintLimitReached:
		return "no hint: hotter nodes use up the limit (hints.maxHintedFrac)"
	}
	return escape(string(h.State))
}
