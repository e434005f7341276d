package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/report"
)

// decideFlags are the flags of approve and discard.
type decideFlags struct {
	namespace, strategy, steps, output string
	wait                               time.Duration
	undo                               bool
}

func atMostOnePlan(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one plan, got %d", cmd.Name(), len(args))
	}
	return nil
}

func (f *decideFlags) addTo(c *cobra.Command, verb string) {
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	c.Flags().StringVar(&f.strategy, "strategy", "", verb+" only the steps of this strategy")
	c.Flags().StringVar(&f.steps, "steps", "", verb+" only these steps, such as 1,4-7 (default: all waiting steps)")
}

// check returns the chosen steps and the output format.
func (f *decideFlags) check(cmd *cobra.Command) (c waiting.StepSelection, format report.Format, err error) {
	if format, err = commandline.ParseFormat(f.output); err != nil {
		return c, "", err
	}
	if f.wait < 0 {
		return c, "", errors.New("--wait: want 0s or more")
	}
	for _, name := range []string{"strategy", "steps"} {
		if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
			return c, "", fmt.Errorf("--%s: the value is empty", name)
		}
	}
	if c.Strategy = f.strategy; f.steps != "" {
		if c.Steps, err = waiting.ParseSteps(f.steps); err != nil {
			return c, "", fmt.Errorf("--steps: %w", err)
		}
	}
	if f.namespace != "" {
		err = installed.CheckNamespace(f.namespace)
	}
	return c, format, err
}

// decision is the connection of approve and discard to the cluster.
type decision struct {
	client  kubernetes.Interface
	objects *objects.Client
	store   *waiting.Store
	plans   waiting.Plans
	now     time.Time
}

// connect finds the namespace of Evenkeel and reads the waiting plans.
func (f *decideFlags) connect(cmd *cobra.Command, a *Access) (d decision, err error) {
	a.Logger(cmd)
	var rc *rest.Config
	if d.client, rc, err = a.Client(); err != nil {
		return d, err
	}
	if f.namespace, err = a.lookup(cmd).Namespace(cmd.Context(), d.client, f.namespace); err != nil {
		return d, err
	}
	if d.objects, err = a.Objects(rc, f.namespace); err != nil {
		return d, err
	}
	d.store, d.now = waiting.New(d.objects), time.Now().UTC().Truncate(time.Second)
	d.plans, err = d.store.Load(cmd.Context(), nil)
	d.plans = d.plans.Register(d.now)
	return d, connection.ExplainForbidden("list and get rebalanceplans.evenkeel.io", err)
}

// find returns the name of the plan that an argument means. A plan that does not wait any more is found by its name.
func (f *decideFlags) find(ctx context.Context, d decision, name string) (string, error) {
	w, err := d.plans.Find(name)
	if err == nil {
		return w.Name, nil
	}
	if o, failure := d.store.Get(ctx, name); failure == nil {
		return o.Name, nil
	}
	return "", err
}

func explainNeeded(out io.Writer, needed []int) {
	if len(needed) > 0 {
		fmt.Fprintf(out, "%s %s included: a step that makes room for another one, and that other step, belong together.\n",
			plural.Choose(len(needed), "Step", "Steps")+" "+waiting.FormatSteps(needed), plural.Choose(len(needed), "is", "are"))
	}
}

// list prints the waiting plans.
func (f *decideFlags) list(cmd *cobra.Command, d decision) error {
	out := cmd.OutOrStdout()
	discarded := d.plans.Discarded()
	if len(d.plans.Waiting) == 0 {
		fmt.Fprintf(out, "No plan waits for approval in namespace %s.\n", f.namespace)
		switch {
		case len(discarded) > 0:
		case f.leadsDryRun(cmd.Context(), d):
			fmt.Fprintln(out, "The release in this namespace is a dry run (dryRun: true), whose plans do not wait.")
		default:
			fmt.Fprintln(out, "A plan waits after a pass with dryRun: false and approvals.enabled: true, if a strategy with mode: approve has moves.")
		}
		return report.DiscardedMoves(out, discarded, commandline.ReportOptions(out))
	}
	for i := range d.plans.Waiting {
		w := &d.plans.Waiting[i]
		if err := report.WaitingPlan(out, w.Name, w.Plan, w.Since, w.Foreign, func(step int) string { return w.StateOf(step).String() },
			commandline.ReportOptions(out)); err != nil {
			return err
		}
	}
	if off := f.approvalsOff(cmd.Context(), d); off != nil {
		fmt.Fprintf(out, "No step is executed: %v.\n", off)
	} else {
		fmt.Fprintf(out, "To approve: evenkeel approve %s [--strategy S] [--steps 1,4-7]\n", terminal.Escape(d.plans.Waiting[0].Name))
	}
	return report.DiscardedMoves(out, discarded, commandline.ReportOptions(out))
}

// leadsDryRun reports whether a dry run holds its Lease. A failed request says that none does.
func (f *decideFlags) leadsDryRun(ctx context.Context, d decision) bool {
	call, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	holder, err := (&leader.Lease{Client: d.client, Namespace: f.namespace, DryRun: true}).Leader(call)
	return err == nil && holder != ""
}

// approvalsOff returns why the process that holds the Lease executes no approved plans, or nil. A
// failed request says that it does.
func (f *decideFlags) approvalsOff(ctx context.Context, d decision) error {
	call, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	s, err := (&leader.Lease{Client: d.client, Namespace: f.namespace}).Status(call)
	if err != nil {
		return nil
	}
	return installed.ApprovalsOff(s, f.namespace)
}
