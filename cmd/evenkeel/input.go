package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// inputFlags say what is looked at: files, or else the cluster.
type inputFlags struct{ files []string }

func (f *inputFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVarP(&f.files, "filename", "f", nil, "look at objects in a file or directory instead of a cluster (-: standard input); repeatable")
}

func (f *inputFlags) source() string {
	if len(f.files) == 0 {
		return "the cluster"
	}
	files := slices.Clone(f.files)
	for i, name := range files {
		if name == "-" {
			files[i] = "standard input"
		}
	}
	return strings.Join(files, ", ")
}

func (f *inputFlags) objects(cmd *cobra.Command, g *global) (*cluster.Objects, error) {
	if len(f.files) > 0 {
		return cluster.ReadFiles(f.files, cmd.InOrStdin())
	}
	client, conf, err := g.client()
	if err != nil {
		return nil, fmt.Errorf("%w; or give -f FILE to look at a snapshot", err)
	}
	return g.live(cmd, client, conf)
}

func (f *inputFlags) snapshot(cmd *cobra.Command, g *global) (*cluster.Snapshot, error) {
	o, err := f.objects(cmd, g)
	if err != nil {
		return nil, err
	}
	return f.index(o)
}

func (f *inputFlags) index(o *cluster.Objects) (*cluster.Snapshot, error) {
	s, err := cluster.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.source(), err)
	}
	return s, nil
}

// state is what the planner remembered when the snapshot was taken, as far as the
// snapshot has it.
func (f *inputFlags) state(s *cluster.Snapshot) (plan.PlannerState, error) {
	st, err := plan.ReadState(s.Objects.PlannerState)
	if err != nil {
		return st, fmt.Errorf("%s: %w", f.source(), err)
	}
	return st, nil
}

// live reads the whole cluster once.
func (g *global) live(cmd *cobra.Command, client kubernetes.Interface, conf *rest.Config) (*cluster.Objects, error) {
	o, err := g.observed(cmd.Context(), client, conf)
	if err != nil {
		return nil, err
	}
	return o.Objects(), nil
}

// judgeFlags say what is looked at, by which configuration and strategies it is
// judged, and in which form the answer is shown.
type judgeFlags struct {
	input          inputFlags
	config, output string
	strategies     []string
}

func (f *judgeFlags) add(fl *pflag.FlagSet) {
	f.input.add(fl)
	fl.StringVar(&f.config, "config", "", "configuration file (default: the shipped one)")
	fl.StringSliceVar(&f.strategies, "strategy", nil, "strategies that are due (default: all); the others are constraints")
	fl.StringVarP(&f.output, "output", "o", "table", "table, wide, json or yaml")
}

// judge is what the flags of judgeFlags mean.
type judge struct {
	format     report.Format
	conf       *config.Config
	strategies []config.Scheduled
	due        []string
}

func (f *judgeFlags) parse(cmd *cobra.Command) (judge, error) {
	format, err := report.ParseFormat(f.output)
	if err != nil {
		return judge{}, fmt.Errorf("--output: %w", err)
	}
	conf, err := loadConfig(f.config)
	if err != nil {
		return judge{}, err
	}
	j := judge{format: format, conf: conf, strategies: conf.Build()}
	j.due, err = due(cmd, j.strategies, f.strategies)
	return j, err
}

func (j judge) goals(s *cluster.Snapshot) []plan.Goal {
	return controller.Goals(s, j.strategies, j.due)
}
