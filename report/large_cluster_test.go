package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// largeLimits restrict only the number of evictions of one pass.
const largeLimits = "limits: {perPass: %d, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, " +
	"perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}\n"

const largeConfig = `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  hot-nodes: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.1, memory: 0.1}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`

// TestReportOfLargeCluster checks that the table about 1,500 nodes, 7,000 pods and 700 moves fits 60 lines on terminals
// of any width, and has all that an operator needs.
func TestReportOfLargeCluster(t *testing.T) {
	p := planOfLargeCluster(t)
	for _, width := range reportWidths {
		lines := largeReport(t, p, width)
		if !strings.HasPrefix(verdictOf(strings.Join(lines, "\n")), "Plan: 700 evictions ") {
			t.Errorf("width %d: the first line is %s", width, lines[0])
		}
		checkSections(t, width, lines, "Strategies: ", "Zones: ", "Moves, in order (10 of 700 with the largest benefit)",
			"Not moved (", "Why goals stay unmet")
		if !slices.Contains(lines, "  ... and 690 more: -o wide") {
			t.Errorf("width %d: the report does not count the moves that it leaves out", width)
		}
	}
}

// TestReportInAFile checks that nothing is left out and no message is cut if no terminal shows the table.
func TestReportInAFile(t *testing.T) {
	p := planOfLargeCluster(t)
	text := written(t, report.Plan, report.Table, p)
	for _, m := range p.Moves {
		if !strings.Contains(text, " "+m.Pod.String()+" ") || !strings.Contains(text, m.Reason.Message+" ("+string(m.Reason.Code)+")") {
			t.Fatalf("the report lacks the move of %s because %s", m.Pod, m.Reason.Message)
		}
	}
	if strings.Contains(text, "Shortened: ") || strings.Contains(text, "Moves, in order (10 of") {
		t.Error("the report is shortened")
	}
}

// TestReportOfThreeModes checks that the table about 24 strategies in three modes and 12 zones has the summary and the
// causes of the main plan, whatever the proposals contain, and names all that it leaves out.
func TestReportOfThreeModes(t *testing.T) {
	for limit, want := range map[int][]string{
		40:   {"Strategies: ", "Zones: ", "Moves, in order (10 of 40 ", "  What stays undone?  ", "Mode approve ", "Only shown "},
		1000: {"Strategies: ", "Zones: ", "Moves, in order (10 of 194 ", "Waiting for approval ", "Only shown "}, // every goal is met
	} {
		p := planOfThreeModes(t, limit)
		for _, width := range reportWidths {
			lines := largeReport(t, p, width)
			checkSections(t, width, lines, want...)
			at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Shortened: -o wide shows everything") })
			if at < 0 {
				t.Errorf("limit %d, width %d: the report does not end with what it leaves out", limit, width)
				continue
			}
			end := strings.Join(lines[at:], " ")
			for _, section := range []string{"Goals not met now", "Nodes", "Workloads by zone", "Lower bound",
				"Goals not met after the moves of automatic strategies"} {
				shown := slices.ContainsFunc(lines[:at], func(l string) bool { return strings.HasPrefix(l, section) })
				if shown == strings.Contains(end, section+" (") {
					t.Errorf("limit %d, width %d: section %q is shown: %t, the end is %q", limit, width, section, shown, end)
				}
			}
		}
	}
}

var reportWidths = []int{80, 100, 120, 200}

// largeReport returns the lines of the table. It checks that they fit 60 lines and the width.
func largeReport(t *testing.T, p plan.Plan, width int) []string {
	t.Helper()
	text := written(t, report.Plan, report.Table, p, report.Options{Width: width})
	t.Log(text)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 60 {
		t.Errorf("width %d: %d lines, want at most 60", width, len(lines))
	}
	for _, l := range lines {
		if layout.Width(l) > width {
			t.Errorf("width %d: a line has %d columns: %s", width, layout.Width(l), l)
		}
	}
	return lines
}

// checkSections checks that each section or paragraph has a line that begins with its start.
func checkSections(t *testing.T, width int, lines []string, starts ...string) {
	t.Helper()
	for _, start := range starts {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, start) }) {
			t.Errorf("width %d: the report has no section %q", width, start)
		}
	}
}

func planOfThreeModes(t *testing.T, limit int) plan.Plan {
	t.Helper()
	text := strings.Builder{}
	text.WriteString("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\napprovals: {enabled: true}\n")
	fmt.Fprintf(&text, largeLimits+"strategies:\n", limit)
	for i := range 24 { // the strategies of a proposal have lower targets than those of the plans before it
		target, mode := 24+i/3-6*(i%3), []string{"automatic", "approve", "dryRun"}[i%3]
		strategy := fmt.Sprintf("type: NodeLoad, args: {target: {cpu: 0.%d, memory: 0.%[1]d}}", target)
		if i%4 == 3 {
			strategy = "type: ZoneSpread"
		}
		fmt.Fprintf(&text, "  balance-%02d: {schedule: \"*/10 * * * *\", mode: %s, %s}\n", i, mode, strategy)
	}
	objects := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 200, 1000)
	for i := range objects.Nodes {
		objects.Nodes[i].Labels[corev1.LabelTopologyZone] = fmt.Sprintf("z%d", i%12)
	}
	return planOf(t, text.String(), objects)
}

func planOfLargeCluster(t *testing.T) plan.Plan {
	t.Helper()
	return planOf(t, largeConfig+fmt.Sprintf(largeLimits, 700), simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 1500, 7000))
}

func planOf(t *testing.T, text string, objects *cluster.Objects) plan.Plan {
	t.Helper()
	c := must.Get(config.Load("large.yaml", []byte(text)))(t)
	s := must.Get(cluster.New(objects))(t)
	return planner.New(c.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
}
