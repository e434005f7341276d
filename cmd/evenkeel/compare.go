package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/compare"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// comparedPolicy is the policy of another program, converted to a configuration.
type comparedPolicy struct {
	name string
	conf *config.Config
}

// readPolicy reads and converts the policy in a file.
func readPolicy(cmd *cobra.Command, file string) (*comparedPolicy, error) {
	name, data, err := readInputFile(file, cmd.InOrStdin(), maxInputBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the policy to compare with: %w", err)
	}
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

// compare says what the policy finds wrong in the snapshot of the plan, and what the plan does about it.
func (p *comparedPolicy) compare(in *planningInput, made plan.Plan) plan.Comparison {
	out := compare.Compare(compare.Input{Snapshot: in.snapshot, Plan: made,
		Own: comparedStrategies(in.conf, in.snapshot, in.due), Policy: comparedStrategies(p.conf, in.snapshot, nil)})
	out.Policy = p.name
	return out
}

// comparedStrategies returns the strategies of a configuration with their goals.
func comparedStrategies(conf *config.Config, s *cluster.Snapshot, due []string) (out []compare.Strategy) {
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
