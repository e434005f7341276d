// Package policy compares a plan with the policy of the descheduler.
//
// The package decides which strategies the policy stands for, by converting it. It never plans.
package policy

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/compare"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Policy is a policy that was converted to a configuration.
type Policy struct {
	name string
	conf *config.Config
}

// Read converts a policy, or the values of the chart. name is the name of the file. The error lists every setting that
// cannot be converted.
func Read(name string, data []byte) (*Policy, error) {
	converted, err := descheduler.Convert(data, descheduler.Options{File: name})
	if err != nil {
		return nil, err
	}
	conf, err := config.Load("the converted configuration of "+name, []byte(converted.Config))
	if err != nil {
		return nil, err
	}
	return &Policy{name, conf}, nil
}

// Compare says what the policy finds wrong in the snapshot, and what the plan does about it. The plan is that of conf
// for the snapshot, with the strategies in due, and has all samples of its rejections.
func (p *Policy) Compare(s *cluster.Snapshot, conf *config.Config, due []string, made plan.Plan) plan.Comparison {
	out := compare.Compare(compare.Input{Snapshot: s, Plan: made, Own: strategies(conf, s, due), Policy: strategies(p.conf, s, nil)})
	out.Policy = p.name
	return out
}

// strategies returns the strategies of a configuration with their goals.
func strategies(conf *config.Config, s *cluster.Snapshot, due []string) (out []compare.Strategy) {
	infos := conf.PlannerOptions().Strategies
	for i, st := range conf.BuildStrategies() {
		of := compare.Strategy{Name: st.Name, Goals: controller.Goals(s, []config.ScheduledStrategy{st}, due)}
		at := slices.IndexFunc(conf.Strategies, func(x config.Strategy) bool { return x.Name == st.Name })
		of.Type = conf.Strategies[at].Type
		if len(of.Goals) == 0 {
			scope := conf.Scope()
			if own := infos[i].Own; own != nil {
				scope = own.Scope
			}
			of.NoData = summary.MissingUsage(s, scope, infos[i].ByLoad)
		}
		out = append(out, of)
	}
	return out
}
