package answers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// The cases of a first screen. Each has a file in testdata.
var cases = map[string]func() view.View{
	"snapshot":         threeZones,
	"live":             live,
	"automatic":        func() view.View { return with(live(), func(v *view.View) { v.Evicts = true }) },
	"other-config":     func() view.View { return with(live(), func(v *view.View) { v.OtherConfig = true }) },
	"proposal":         proposal,
	"proposal-live":    func() view.View { return with(proposal(), func(v *view.View) { v.Evicts, v.Snapshot = true, false }) },
	"waiting":          waiting,
	"only-shown":       onlyShown,
	"stored":           stored,
	"run":              run,
	"run-as-predicted": asPredicted,
	"run-of-approved-steps": func() view.View { // the plan that waited has the goals
		return with(asPredicted(), func(v *view.View) {
			v.Plan.Goals, v.Plan.Strategies, v.Plan.Before.Excess, v.Plan.After.Excess = nil, nil, nil, nil
		})
	},
	"run-dry": func() view.View {
		return with(run(), func(v *view.View) { v.Run.Mode, v.Run.Outcomes = plan.DryRun, nil })
	},
	"running":           running,
	"run-stopped":       stopped,
	"run-refused":       refused,
	"untrusted":         untrusted,
	"version-unknown":   func() view.View { return with(untrusted(), func(v *view.View) { v.Plan.Cluster.Version = "" }) },
	"paused":            paused,
	"breaker-open":      breakerOpen,
	"no-usage-data":     noUsageData,
	"nothing-judged":    nothingJudged,
	"nothing-to-do":     nothingToDo,
	"no-violation":      noViolation,
	"no-goal":           func() view.View { return with(nothingToDo(), func(v *view.View) { v.Plan.Strategies = nil }) },
	"not-due":           notDue,
	"no-eviction-helps": noEvictionHelps,
	"nodes-to-empty":    nodesToEmpty,
	"no-node-emptied": func() view.View {
		return with(nodesToEmpty(), func(v *view.View) { v.Plan.Moves = nil; v.Plan.After.Excess = v.Plan.Before.Excess })
	},
	"many-goals":      manyGoals,
	"gets-worse":      getsWorse,
	"pods-that-ended": ended,
	"without-place":   withoutPlace,
	"hostile-names":   hostile,
	"search-ended-early": func() view.View {
		return with(manyGoals(), func(v *view.View) {
			v.Plan.SearchLimitReached = "limits.maxPlanTime 30s; 40 pods were not tried to the end"
		})
	},
}

func TestAnswers(t *testing.T) {
	for name, of := range cases {
		t.Run(name, func(t *testing.T) {
			v := of()
			golden.Equal(t, "testdata/"+name+".txt", []byte(write(answers.Of(&v))))
		})
	}
}

// write writes a first screen. Names are in brackets, and codes in backticks.
func write(f answers.First) string {
	var b strings.Builder
	text := func(t answers.Text) string {
		var b strings.Builder
		for _, p := range t {
			fmt.Fprintf(&b, map[answers.Kind]string{answers.Plain: "%s", answers.Name: "[%s]", answers.Code: "`%s`", answers.Strong: "*%s*"}[p.Kind], p.Text)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%s %s\n", f.Mark, f.State)
	for _, x := range f.Forbids {
		fmt.Fprintf(&b, "!! %s\n", x)
	}
	fmt.Fprintf(&b, "# %s\n\n", text(f.Headline))
	for _, a := range f.Answers {
		fmt.Fprintf(&b, "%s\n  %s\n", a.Question, text(a.Statement))
		if len(a.Detail) > 0 {
			fmt.Fprintf(&b, "  %s\n", text(a.Detail))
		}
		if a.Section != "" {
			fmt.Fprintf(&b, "  -> %s: %s\n", a.Section, a.Link)
		}
	}
	fmt.Fprintf(&b, "What do I do next?\n  %s\n", text(f.Next.Words))
	for _, c := range f.Next.Commands {
		fmt.Fprintf(&b, "  $ %s\n", c)
	}
	if len(f.Next.Note) > 0 {
		fmt.Fprintf(&b, "  (%s)\n", text(f.Next.Note))
	}
	return b.String()
}

// TestWords checks that no answer has doubled or missing punctuation, and that none is empty.
func TestWords(t *testing.T) {
	for name, of := range cases {
		v := of()
		first := answers.Of(&v)
		texts := []answers.Text{first.Headline, first.Next.Words}
		for _, a := range first.Answers {
			texts = append(texts, a.Statement)
			if len(a.Detail) > 0 {
				texts = append(texts, a.Detail)
			}
		}
		for _, x := range texts {
			s := x.String()
			if s == "" || strings.Contains(s, "..") || strings.Contains(s, "  ") || strings.Contains(s, " .") || s != strings.TrimSpace(s) ||
				!strings.ContainsAny(s[len(s)-1:], ".:") {
				t.Errorf("%s: %q", name, s)
			}
		}
		if len(first.Next.Commands) == 0 || first.State == "" {
			t.Errorf("%s: no state or no command", name)
		}
	}
}

var taken = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

func with(v view.View, change func(*view.View)) view.View {
	change(&v)
	return v
}

// TestReasonBeginsWithTheNameAsItIs checks that the reason of a move changes no name at its beginning.
func TestReasonBeginsWithTheNameAsItIs(t *testing.T) {
	for message, want := range map[string]string{
		"old-1 is 1032h old, above 720h":    "shop/old-1 is 1032h old, above 720h",
		"old has 2/0 pods over 2 zones":     "shop/old has 2/0 pods over 2 zones",
		"n1 uses 85% of its cpu, above 60%": "n1 uses 85% of its cpu, above 60%",
		"the containers of old-1 restarted": "The containers of old-1 restarted",
	} {
		m := plan.Move{From: "n1", Reason: plan.Reason{Message: message}}
		m.Pod.Namespace, m.Pod.Name, m.Owner.Name = "shop", "old-1", "old"
		if got := answers.ReasonOf(&m); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
