package evenkeel_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestReadmeShowsWhatIsPrinted: the report in the README is the one that the
// command above it gives, to the letter.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	objects, err := cluster.ReadFiles([]string{"examples/three-zones.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load("config.yaml", evenkeel.DefaultConfig)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, planner.New(c.Planner()).Plan(s, plan.PlannerState{}, controller.Goals(s, c.Build(), nil), s.TakenAt)); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```\n"+b.String()+"```\n") {
		t.Errorf("README.md shows another report than this one:\n%s", b.String())
	}
}
