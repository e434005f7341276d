package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/work"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/report"
)

// inputFlags select the input of a command: files, or the live cluster with its saved state.
type inputFlags struct {
	files     []string
	namespace string
	version   string // of the server; empty: that in the files
	// conf configures the usage source for a live cluster; nil disables usage.
	conf *config.Config
}

func (f *inputFlags) add(fl *pflag.FlagSet) {
	installed.AddNamespaceFlag(fl, &f.namespace)
	fl.StringArrayVarP(&f.files, "filename", "f", nil,
		"read objects from this file or directory instead of the cluster; - means standard input; repeatable")
	fl.StringVar(&f.version, "kubernetes-version", "", "with -f: the API server's version, such as 1.36, if the files do not contain the version "+
		"(default: the oldest kubelet's version)")
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
		g.progress.Start("reading %s", f.describeSource())
		defer g.progress.Stop()
		// Nothing has begun that must end in order, and a snapshot may have gigabytes.
		defer context.AfterFunc(cmd.Context(), func() {
			g.printError(cmd.ErrOrStderr(), "interrupted while reading "+f.describeSource())
			os.Exit(1)
		})()
		o, err := cluster.ReadFiles(f.files, cmd.InOrStdin())
		if err == nil && f.version != "" {
			o.ServerVersion = f.version
		}
		return o, err
	}
	if f.version != "" {
		return nil, errors.New("--kubernetes-version needs -f: the API server reports its version")
	}
	if f.namespace != "" {
		if err := installed.CheckNamespace(f.namespace); err != nil {
			return nil, err
		}
	}
	client, conf, err := g.client()
	if err != nil {
		return nil, fmt.Errorf("%w; or set -f FILE to read a snapshot", err)
	}
	o, namespace, err := g.readClusterAndState(cmd, client, conf, f.conf, f.namespace)
	f.namespace = namespace
	return o, err
}

// readClusterAndState reads the whole cluster and adds the saved state of the release. Without a release there is no
// state. If the state cannot be read, the objects say why. In both cases, a warning says so before the plan is printed.
func (g *globalFlags) readClusterAndState(cmd *cobra.Command, client kubernetes.Interface, rc *rest.Config, conf *config.Config,
	fromFlag string) (o *cluster.Objects, namespace string, err error) {
	defer g.progress.Stop()
	if o, err = g.readCluster(cmd, client, rc, conf); err != nil {
		return nil, "", err
	}
	g.progress.Start("reading the state of Evenkeel")
	namespace, err = g.lookup(cmd).Namespace(cmd.Context(), client, fromFlag)
	switch {
	case errors.Is(err, installed.ErrNoRelease):
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: %v; the configuration is the built-in one unless --config is set, and there are no pause, no back-offs and no hourly counts\n", err)
		return o, "", nil
	case err != nil:
		o.PlannerStateError = err.Error()
	default:
		if fromFlag != "" {
			installed.WarnWithoutLease(cmd, client, namespace)
		}
		kinds, err := objects.New(rc, namespace)
		if err != nil {
			return nil, "", err
		}
		if o, err = addSavedState(cmd.Context(), o, state.New(client, namespace), state.NewPauseStore(kinds), g.logger(cmd)); err != nil {
			return nil, "", err
		}
		if conf == nil || slices.ContainsFunc(conf.Strategies, func(s config.Strategy) bool { return s.Mode == plan.Approve }) {
			addDiscardedMoves(cmd, o, waiting.New(kinds))
		}
	}
	if o.PlannerStateError != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: %s; pauses, back-offs and hourly counts are unknown\n", o.PlannerStateError)
	}
	return o, namespace, nil
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
		loads, err := newUsageMonitor(conf, o, rc, g.logger(cmd), metrics.New(programVersion(), conf.Hash()))
		if err != nil {
			return nil, err
		}
		g.progress.Start("reading usage from %s", conf.Load.Source)
		loads.sampleOnce(cmd.Context())
		objects := o.Objects(cmd.Context())
		if u := objects.Usage; u != nil {
			u.Problems = slices.Concat(loads.sampleCountWarnings(conf), u.Problems)
		}
		return objects, nil
	}
	return o.Objects(cmd.Context()), nil
}

// addDiscardedMoves adds the moves that a person discarded to the saved state. If they cannot be read, it prints a
// warning.
func addDiscardedMoves(cmd *cobra.Command, o *cluster.Objects, store *waiting.Store) {
	if o.PlannerStateError != "" {
		return
	}
	plans, err := store.Load(cmd.Context(), nil)
	if discarded := plans.Register(time.Now()).Discarded(); err == nil && len(discarded) > 0 {
		var st plan.PlannerState
		if st, err = plan.ReadPlannerState(o.PlannerState); err == nil {
			st.Discarded = discarded
			var text []byte
			if text, err = json.Marshal(st); err == nil {
				o.PlannerState = text
			}
		}
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: discarded moves are unknown and may be proposed: %v\n",
			terminal.Escape(err.Error()))
	}
}

// planningFlags select the input, the configuration, the due strategies, and the output format.
type planningFlags struct {
	input          inputFlags
	config, output string
	strategies     []string
	whatIf         whatIfFlags
	// allSamples makes the plan list all rejections instead of the first ones of each code.
	allSamples bool
}

func (f *planningFlags) add(fl *pflag.FlagSet) {
	f.input.add(fl)
	fl.StringVar(&f.config, "config", "", "configuration file, or builtin for this program's own configuration (default: the configuration of the release in the cluster, or builtin with -f)")
	fl.StringSliceVar(&f.strategies, "strategy", nil, "strategies to plan for; goals of all other strategies become constraints (default: all)")
	fl.StringVarP(&f.output, "output", "o", "table", "output format: table, wide, json, yaml, html, markdown, "+commandline.ObjectForms)
}

// planningInput is everything that a plan depends on, and the output format.
type planningInput struct {
	format   report.Format
	conf     *config.Config
	due      []string       // names of the due strategies
	options  search.Options // of planner
	planner  *planner.Planner
	snapshot *cluster.Snapshot // with predicted hints
	state    plan.PlannerState
	goals    []plan.Goal
	// strategies are those of conf.
	strategies []schedule.Strategy
	objects    *cluster.Objects
	// whatIf is nil without an imagined change of the nodes. The snapshot then has the change, and objects has not.
	whatIf *plan.WhatIf
	stop   func() bool // reports whether the planning must end
}

// chooseConfig returns the configuration of the plan. A snapshot belongs to no release.
func (f *planningFlags) chooseConfig(cmd *cobra.Command, g *globalFlags) (installed.Choice, error) {
	if len(f.input.files) > 0 {
		conf, err := installed.Load(f.config)
		return installed.Choice{Config: conf}, err
	}
	if f.input.namespace != "" {
		if err := installed.CheckNamespace(f.input.namespace); err != nil {
			return installed.Choice{}, err
		}
	}
	return g.lookup(cmd).Choose(cmd.Context(), f.config, f.input.namespace)
}

// read parses the flags and reads the input. If saveTo is not empty, read also writes the input to that file. The
// planning on the snapshot ends with the command, and after limits.maxPlanTime, or where the input says that it ended.
func (f *planningFlags) read(cmd *cobra.Command, g *globalFlags, saveTo string) (*planningInput, error) {
	format, err := commandline.ParseOutput(cmd, f.output)
	if err != nil {
		return nil, err
	}
	chosen, err := f.chooseConfig(cmd, g)
	if err != nil {
		return nil, err
	}
	conf := chosen.Config
	f.input.conf = chosen.Measured()
	strategies := conf.BuildStrategies()
	opts := conf.PlannerOptions()
	opts.Trust.PlanUntrusted = true // such a plan is only shown
	if f.allSamples {
		opts.SamplesPerCode = -1
	}
	in := &planningInput{format: format, conf: conf, options: opts, planner: planner.New(opts), strategies: strategies}
	if in.due, err = dueStrategies(cmd, strategies, f.strategies); err != nil {
		return nil, err
	}
	objects, err := f.input.objects(cmd, g)
	if err != nil {
		return nil, err
	}
	chosen.Tell(cmd.ErrOrStderr())
	if len(f.input.files) > 0 && f.config == "" && objects.ClusterUID != "" { // a command of this program wrote them
		fmt.Fprintln(cmd.ErrOrStderr(), "evenkeel: warning: the built-in configuration is used, because the snapshot contains none; set --config to the configuration of its cluster, or to builtin")
	}
	if saveTo != "" {
		if err := saveSnapshot(saveTo, objects, cluster.JSON); err != nil {
			return nil, err
		}
	}
	in.objects = objects
	s, err := cluster.New(objects)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.input.describeSource(), err)
	}
	if in.state, err = plan.ReadPlannerState(objects.PlannerState); err != nil {
		return nil, fmt.Errorf("%s: %w", f.input.describeSource(), err)
	}
	ctx, end := cmd.Context(), time.Now().Add(time.Duration(conf.Limits.MaxPlanTime))
	in.stop = func() bool { return ctx.Err() != nil || !time.Now().Before(end) }
	if change, err := f.whatIf.change(); err != nil {
		return nil, err
	} else if !change.IsEmpty() {
		if s, err = in.imagine(s, change); err != nil {
			return nil, err
		}
	}
	if in.snapshot, in.goals, err = in.stateGoals(s); err != nil {
		return nil, err
	}
	return in, nil
}

// stateGoals returns the snapshot with predicted hints, and its goals. The planning on it ends with the command, and
// after limits.maxPlanTime.
func (in *planningInput) stateGoals(s *cluster.Snapshot) (*cluster.Snapshot, []plan.Goal, error) {
	s, err := withPredictedHints(in.planner, s)
	if err != nil {
		return nil, nil, err
	}
	s.Work = work.New(in.stop, s.Objects.StoppedAt)
	return s, controller.Goals(s, in.strategies, in.due), nil
}

// addSavedState adds the saved state to the objects. If the pause is unreadable, addSavedState only logs a warning.
// If the state is unreadable, addSavedState adds the error instead: the plan then shows the error and evicts nothing.
func addSavedState(ctx context.Context, o *cluster.Objects, store *state.Store, pauses state.PauseStore,
	log *slog.Logger) (*cluster.Objects, error) {
	st, err := store.Load(ctx)
	if err != nil {
		o.PlannerStateError = err.Error()
		return o, ctx.Err()
	}
	if st.Pause, err = pauses.Read(ctx); err != nil && !errors.Is(err, state.ErrNoRebalancer) {
		log.Warn("cannot read the pause of evictions", "error", err)
	}
	if o.PlannerState, err = json.Marshal(st); err != nil {
		return nil, fmt.Errorf("encoding the saved state: %w", err)
	}
	return o, nil
}
