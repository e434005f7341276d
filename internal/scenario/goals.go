package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// goalsFile is a cluster.yaml with the arguments and the scope of one strategy.
type goalsFile struct {
	Args         map[string]any `json:"args"`
	NodeSelector string         `json:"nodeSelector"`
	PodSelector  string         `json:"podSelector"`
	Exclude      []string       `json:"exclude"`
	clusterFile
}

// GoalsText returns the goals that a strategy states for a cluster, as text. given is a
// cluster.yaml with the additional keys args, nodeSelector, podSelector and exclude (namespaces).
func GoalsText(t testing.TB, given []byte, goals func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal) string {
	t.Helper()
	var f goalsFile
	must.Succeed(t, yaml.UnmarshalStrict(given, &f))
	file, err := yaml.Marshal(f.clusterFile)
	if err != nil {
		t.Fatal(err)
	}
	args, err := yaml.Marshal(f.Args)
	if err != nil {
		t.Fatal(err)
	}
	if args, err = yaml.YAMLToJSON(args); err != nil {
		t.Fatal(err)
	}
	scope := cluster.Scope{Exclude: f.Exclude}
	if scope.Nodes, err = labels.Parse(f.NodeSelector); err != nil {
		t.Fatal(err)
	}
	if scope.Pods, err = labels.Parse(f.PodSelector); err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New((&Scenario{Cluster: file}).Objects(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, g := range goals(args, scope, s) {
		if g.Kind == plan.PodsApart {
			fmt.Fprintf(&b, "%s %s", g.Kind, g.Subject)
		} else {
			fmt.Fprintf(&b, "%s %s at most %v over %s (%s)", g.Kind, g.Subject, g.Limit, g.TopologyKey, strings.Join(g.Domains, " "))
		}
		for _, c := range g.Conflicts {
			fmt.Fprintf(&b, "\n  %s and %s over %s", s.Pods[c.Pods[0]].Object.Name, s.Pods[c.Pods[1]].Object.Name, c.TopologyKey)
		}
		for i, not := range g.NotCounted {
			if not {
				b.WriteString(" not " + s.Nodes[i].Name)
			}
		}
		var pods []string
		for _, id := range g.Pods {
			pods = append(pods, s.Pods[id].Object.Name)
		}
		slices.Sort(pods)
		for _, id := range g.Staying {
			pods = append(pods, "not "+s.Pods[id].Object.Name)
		}
		fmt.Fprintf(&b, "\n  %s\n  %s: %s\n", strings.Join(pods, " "), g.Reason.Code, g.Reason.Message)
	}
	return b.String()
}
