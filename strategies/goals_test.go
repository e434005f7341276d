package strategies_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestGoals compares the goals about single pods with want.goals, for each file under testdata/goals. config.yaml and
// cluster.yaml have the format of the planner's scenarios; config.yaml lacks apiVersion and kind.
func TestGoals(t *testing.T) {
	files, err := filepath.Glob("testdata/goals/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) != 3 || a.Files[2].Name != "want.goals" || len(strings.TrimSpace(string(a.Comment))) == 0 {
				t.Fatal("want a description, config.yaml, cluster.yaml and want.goals")
			}
			text := append([]byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"), a.Files[0].Data...)
			got := describeGoals(t, text, (&scenario.Scenario{Cluster: a.Files[1].Data}).Objects(t))
			if golden.Update() {
				a.Files[2].Data = []byte(got)
				golden.Write(t, file, txtar.Format(a))
				return
			}
			if d := cmp.Diff(string(a.Files[2].Data), got); d != "" {
				t.Errorf("%s\nthe goals differ (-want +got):\n%s", a.Comment, d)
			}
		})
	}
}

// describeGoals writes one line for each goal of the strategies of a configuration.
func describeGoals(t *testing.T, conf []byte, o *cluster.Objects) string {
	t.Helper()
	c, err := config.Load("config.yaml", conf)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, st := range c.BuildStrategies() {
		goals := st.Strategy.Goals(s)
		if len(goals) == 0 {
			fmt.Fprintf(&b, "%s: no goal\n", st.Name)
		}
		for _, g := range goals {
			p := &s.Pods[g.Pods[0]]
			if g.Kind != plan.PodAway || g.Strategy != st.Name || len(g.Pods) != 1 || g.Subject.UID != string(p.Object.UID) ||
				g.MayReturn || g.LandingNotRequired || g.Targets != nil && g.Targets[p.Node] {
				t.Errorf("unexpected goal %+v", g)
			}
			fmt.Fprintf(&b, "%s: %s/%s leaves %s for %s: %s: %s\n", st.Name, g.Subject.Namespace, g.Subject.Name, s.Nodes[p.Node].Name,
				targetNames(s, g.Targets), g.Reason.Code, g.Reason.Message)
		}
	}
	return b.String()
}

func targetNames(s *cluster.Snapshot, targets []bool) string {
	if targets == nil {
		return "any other node"
	}
	var names []string
	for i, ok := range targets {
		if ok {
			names = append(names, s.Nodes[i].Name)
		}
	}
	return strings.Join(names, ", ")
}
