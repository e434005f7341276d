package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

func firstLine(t *testing.T, p plan.Plan, opts ...report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p, opts...); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(b.String(), "\n")
	return line
}

// TestNothingToDo: that goals are met is said only of goals that there are.
func TestNothingToDo(t *testing.T) {
	type st = plan.StrategyState
	for want, all := range map[string][]st{
		"nothing to do: all 14 goals are met":                                                             {{Name: "zones", Goals: 10, Asked: true}, {Name: "hot", Goals: 4, Asked: true}},
		"nothing to do: the one goal is met":                                                              {{Name: "zones", Goals: 1, Asked: true}, {Name: "hot"}},
		"nothing to do: no strategy states a goal":                                                        {{Name: "zones"}, {Name: "hot"}},
		"nothing to do: all 4 goals of hot are met":                                                       {{Name: "zones", Goals: 10}, {Name: "hot", Goals: 4, Asked: true}},
		"nothing to do: no strategy that was asked for states a goal":                                     {{Name: "zones", Goals: 10}, {Name: "hot"}},
		"all 4 goals of hot are met; 1 goal of zones is not, and was not asked for":                       {{Name: "zones", Goals: 10, Unmet: 1}, {Name: "hot", Goals: 4, Asked: true}},
		"the one goal of hot is met; 2 goals of zones are not, and were not asked for":                    {{Name: "zones", Goals: 10, Unmet: 2}, {Name: "hot", Goals: 1, Asked: true}},
		"no strategy that was asked for states a goal; 1 goal of zones is not met, and was not asked for": {{Name: "zones", Goals: 10, Unmet: 1}, {Name: "hot"}},
	} {
		p := level()
		p.Strategies = all
		if got := firstLine(t, p); got != "Plan: "+want+"; nothing is evicted (dry run)." {
			t.Errorf("%+v:\n%s\nwant\n%s", all, got, want)
		}
	}
	if got := firstLine(t, level(), report.Options{Evicts: true}); !strings.HasSuffix(got, "met; nothing is evicted by this command; with this configuration `evenkeel run` evicts.") {
		t.Errorf("where a run evicts: %s", got)
	}
}

// TestTimeThatNobodyNoted: a time taken from the objects is said to be that.
func TestTimeThatNobodyNoted(t *testing.T) {
	p := level()
	p.TakenAtNewest = true
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	if want := "State of 2026-01-01 00:00:00 UTC (newest time in the snapshot; it does not say when it was taken), Kubernetes 1.37; "; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
}
