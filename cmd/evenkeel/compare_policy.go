package main

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/compare"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// comparedPolicy is a policy of the descheduler that was converted to a configuration.
type comparedPolicy struct {
	name string
	conf *config.Config
}

// readPolicy converts a policy, or the values of the chart. name is the name of the file. The error lists every setting
// that cannot be converted.
func readPolicy(name string, data []byte) (*comparedPolicy, error) {
	converted, err := descheduler.Convert(data, descheduler.Options{File: name})
	if err != nil {
		return nil, err
	}
	conf, err := config.Load("the converted configuration of "+name, []byte(converted.Config))
	if err != nil {
		return nil, err
	}
	return &comparedPolicy{name, conf}, nil
}

// compare says what the policy finds wrong in the snapshot, and what the plan does about it. The plan is that of conf
// for the snapshot, with the strategies in due, and has all samples of its rejections.
func (p *comparedPolicy) compare(s *cluster.Snapshot, conf *config.Config, due []string, made plan.Plan) plan.Comparison {
	out := compare.Compare(compare.Input{Snapshot: s, Plan: made, Own: goalsByStrategy(conf, s, due), Policy: goalsByStrategy(p.conf, s, nil)})
	out.Policy = p.name
	return out
}

// goalsByStrategy returns the strategies of a configuration with their goals.
func goalsByStrategy(conf *config.Config, s *cluster.Snapshot, due []string) (out []compare.Strategy) {
	infos := conf.PlannerOptions().Strategies
	for i, st := range conf.BuildStrategies() {
		of := compare.Strategy{Name: st.Name, Goals: controller.Goals(s, []schedule.Strategy{st}, due)}
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
