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
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// inputFlags select the input of a command: files, or the live cluster with the saved state in the namespace of the
// Lease.
type inputFlags struct {
	files     []string
	namespace string
	// conf configures the usage source for a live cluster; nil disables usage.
	conf *config.Config
}

func (f *inputFlags) add(fl *pflag.FlagSet) {
	addLeaseNamespaceFlag(fl, &f.namespace)
	fl.StringArrayVarP(&f.files, "filename", "f", nil,
		"read objects from a file or directory instead of the cluster (-: standard input); repeatable")
}

func (f *inputFlags) describeSource() string {
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

func (f *inputFlags) objects(cmd *cobra.Command, g *globalFlags) (*cluster.Objects, error) {
	if len(f.files) > 0 {
		return cluster.ReadFiles(f.files, cmd.InOrStdin())
	}
	if err := checkNamespace(f.namespace); err != nil {
		return nil, err
	}
	client, conf, err := g.client()
	if err != nil {
		return nil, fmt.Errorf("%w; or set -f FILE to read a snapshot", err)
	}
	o, err := g.readCluster(cmd, client, conf, f.conf)
	if err != nil {
		return nil, err
	}
	return addSavedState(cmd.Context(), o,
		stateWithOptionalPause{state.New(client, f.namespace), g.pauseStore(client, f.namespace), g.logger(cmd)})
}

func (f *inputFlags) snapshot(cmd *cobra.Command, g *globalFlags) (*cluster.Snapshot, error) {
	o, err := f.objects(cmd, g)
	if err != nil {
		return nil, err
	}
	return f.buildSnapshot(o)
}

func (f *inputFlags) buildSnapshot(o *cluster.Objects) (*cluster.Snapshot, error) {
	s, err := cluster.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.describeSource(), err)
	}
	return s, nil
}

// state returns the planner state that the snapshot contains, or an empty state.
func (f *inputFlags) state(s *cluster.Snapshot) (plan.PlannerState, error) {
	st, err := plan.ReadPlannerState(s.Objects.PlannerState)
	if err != nil {
		return st, fmt.Errorf("%s: %w", f.describeSource(), err)
	}
	return st, nil
}

// readCluster reads the whole cluster once. If conf is not nil, readCluster also takes one usage sample from the
// source in conf, and reads the history of the source.
func (g *globalFlags) readCluster(cmd *cobra.Command, client kubernetes.Interface, rc *rest.Config,
	conf *config.Config) (*cluster.Objects, error) {
	o, err := g.startObserver(cmd.Context(), client, rc)
	if err != nil {
		return nil, err
	}
	if conf != nil {
		loads, err := newUsageMonitor(conf, o, rc, g.logger(cmd), metrics.New(programVersion(), conf.Hash()).UsageRecorder)
		if err != nil {
			return nil, err
		}
		loads.sampleOnce(cmd.Context())
		objects := o.Objects()
		if u := objects.Usage; u != nil {
			u.Problems = slices.Concat(loads.sampleCountWarnings(conf), u.Problems)
		}
		return objects, nil
	}
	return o.Objects(), nil
}

// planningFlags select the input, the configuration, the due strategies, and the output format.
type planningFlags struct {
	input          inputFlags
	config, output string
	strategies     []string
}

func (f *planningFlags) add(fl *pflag.FlagSet) {
	f.input.add(fl)
	fl.StringVar(&f.config, "config", "", "configuration file (default: the built-in one)")
	fl.StringSliceVar(&f.strategies, "strategy", nil, "strategies that are due (default: all); the others are constraints")
	fl.StringVarP(&f.output, "output", "o", "table", "table, wide, json or yaml")
}

// planSettings are the parsed values of planningFlags.
type planSettings struct {
	format     report.Format
	conf       *config.Config
	strategies []config.ScheduledStrategy
	due        []string
}

func (f *planningFlags) parse(cmd *cobra.Command) (planSettings, error) {
	format, err := report.ParseFormat(f.output)
	if err != nil {
		return planSettings{}, fmt.Errorf("--output: %w", err)
	}
	conf, err := loadConfig(f.config)
	if err != nil {
		return planSettings{}, err
	}
	f.input.conf = conf
	j := planSettings{format: format, conf: conf, strategies: conf.BuildStrategies()}
	j.due, err = dueStrategies(cmd, j.strategies, f.strategies)
	return j, err
}

func (j planSettings) goals(s *cluster.Snapshot) []plan.Goal {
	return controller.Goals(s, j.strategies, j.due)
}
