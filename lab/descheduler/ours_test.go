package descheduler

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	convert "github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// convertPolicy converts a policy and loads the resulting configuration.
func convertPolicy(t *testing.T, policy, extra string) *config.Config {
	t.Helper()
	converted, err := convert.Convert([]byte(policy), convert.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, policy)
	}
	c, err := config.Load("config.yaml", []byte(converted.Config+extra))
	if err != nil {
		t.Fatalf("%v\n%s", err, converted.Config)
	}
	return c
}

// planPolicy makes a plan with a converted policy.
func planPolicy(t *testing.T, o *cluster.Objects, c *config.Config) plan.Plan {
	t.Helper()
	s, err := cluster.New(o)
	check(t, err)
	return planner.New(c.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
}

// movedPods returns the names of the pods that a plan evicts or removes, in order.
func movedPods(p plan.Plan) (out []string) {
	for _, m := range p.Moves {
		out = append(out, m.Pod.Name)
	}
	return out
}
