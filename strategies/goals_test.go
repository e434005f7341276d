package strategies_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// goalCase is a strategy and a cluster in the format of planner/testdata/scenarios/README.md.
type goalCase struct {
	Type    string           `json:"type"`
	Args    map[string]any   `json:"args"`
	Scope   goalScope        `json:"scope"`
	Base    string           `json:"base"`
	Objects []map[string]any `json:"objects"`
}

// goalScope has a selector of nodes and of pods, namespaces that are out of scope, and the marks of hints.
type goalScope struct {
	Nodes   string            `json:"nodes"`
	Pods    string            `json:"pods"`
	Exclude []string          `json:"exclude"`
	Hints   cluster.HintMarks `json:"hints"`
}

// aboutNodes are the types whose goals are about the node of a pod, so that its replacement must not return.
var aboutNodes = []string{"NodeAffinity", "NodeTaints"}

// TestGoalsAboutPods compares the goals of strategies about single pods with those in testdata, in order.
func TestGoalsAboutPods(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		golden.Pairs(t, file, func(t *testing.T, given []byte) string {
			var c goalCase
			must.Succeed(t, yaml.UnmarshalStrict(given, &c))
			return goalLines(t, c)
		})
	}
}

func goalLines(t *testing.T, c goalCase) string {
	t.Helper()
	text := must.Get(yaml.Marshal(map[string]any{"base": c.Base, "objects": c.Objects}))(t)
	s := must.Get(cluster.New((&scenario.Scenario{Cluster: text}).Objects(t)))(t)
	args := must.Get(json.Marshal(c.Args))(t)
	nodes, pods := parseSelector(t, c.Scope.Nodes), parseSelector(t, c.Scope.Pods)
	scope := cluster.Scope{Exclude: c.Scope.Exclude, Nodes: nodes, Pods: pods, Hints: c.Scope.Hints}
	st, errs := strategies.New("s", c.Type, args, scope)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var b strings.Builder
	goals := st.Goals(s)
	for _, g := range goals {
		if g.Kind == plan.NoLowerRank {
			writeRanks(&b, s, g)
			continue
		}
		uid := string(s.Pods[g.Pods[0]].Object.UID)
		if g.Kind != plan.PodAway || len(g.Pods) != 1 || g.Subject.UID != uid || g.Weight != 1 || g.MayReturn == slices.Contains(aboutNodes, c.Type) ||
			g.Targets != nil && g.Targets[s.Pods[g.Pods[0]].Node] {
			t.Errorf("goal %+v, want a PodAway goal about its subject, which may return if the goal is not about its node", g)
		}
		how := ""
		if g.Removal != "" {
			how = ", by " + string(g.Removal)
		}
		how += targetsText(s, g.Targets)
		fmt.Fprintf(&b, "%s%s\n  %s: %s\n", g.Subject, how, g.Reason.Code, g.Reason.Message)
	}
	if len(goals) == 0 {
		b.WriteString("no goal\n")
	}
	return b.String()
}

// writeRanks lists, for each pod, the nodes that rank lower than its own.
func writeRanks(b *strings.Builder, s *cluster.Snapshot, g plan.Goal) {
	for i, class := range g.Ranks.ClassOf {
		if class == plan.NoClass {
			continue
		}
		ranks, lower := g.Ranks.OfClass[class], make([]bool, len(s.Nodes))
		for n, rank := range ranks {
			lower[n] = rank < ranks[s.Pods[i].Node]
		}
		if text := targetsText(s, lower); text != "" {
			fmt.Fprintf(b, "%s %s: not%s\n", g.Kind, s.Pods[i].Object.Name, text[1:])
		}
	}
}

// targetsText lists the targets of a goal; nil means every node.
func targetsText(s *cluster.Snapshot, targets []bool) (text string) {
	for i, ok := range targets {
		if ok {
			text += " " + s.Nodes[i].Name
		}
	}
	if text == "" {
		return ""
	}
	return ", to" + text
}

// parseSelector returns nil for an empty text.
func parseSelector(t *testing.T, text string) labels.Selector {
	t.Helper()
	if text == "" {
		return nil
	}
	sel := must.Get(labels.Parse(text))(t)
	return sel
}
