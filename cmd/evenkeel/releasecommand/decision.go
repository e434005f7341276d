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
	"github.com/evenkeel-project/evenkeel/controller/approval"
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
	c.Flags().StringVar(&f.steps, "steps", "", verb+" only these steps, such as 1,4-7 (default: all that wait)")
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
	d.store, d.now = waiting.New(d.client, f.namespace), time.Now().UTC().Truncate(time.Second)
	d.plans, err = d.store.Load(cmd.Context())
	d.plans = d.plans.Expire(d.now)
	return d, connection.ExplainForbidden("get configmap "+waiting.ConfigMapName, err)
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
	if len(d.plans.Waiting) == 0 && len(d.plans.Discarded) > 0 {
		fmt.Fprintf(out, "No plan waits for approval in namespace %s.\n", f.namespace)
		return report.DiscardedMoves(out, d.plans.Discarded, commandline.ReportOptions(out))
	}
	if len(d.plans.Waiting) == 0 {
		fmt.Fprintf(out, "No plan waits for approval in namespace %s.\n", f.namespace)
		if f.leadsDryRun(cmd.Context(), d) {
			fmt.Fprintln(out, "The release in this namespace is a dry run (dryRun: true), which keeps no plans.")
			return nil
		}
		fmt.Fprintln(out, "A plan waits after a pass with dryRun: false and approvals.enabled: true, if a strategy with mode: approve has moves.")
		return nil
	}
	of, err := approval.New(d.client, f.namespace).Unfinished(cmd.Context())
	if err != nil {
		return connection.ExplainForbidden("get configmap "+approval.ConfigMapName, err)
	}
	for i := range d.plans.Waiting {
		w := &d.plans.Waiting[i]
		if err := report.WaitingPlan(out, w.Plan, w.Since, func(step int) string {
			s := w.StateOf(step)
			if s.State == waiting.Approved && of != w.ID {
				return s.String() + ", not executed"
			}
			return s.String()
		}, commandline.ReportOptions(out)); err != nil {
			return err
		}
		if of == w.ID {
			fmt.Fprintln(out, "Steps of this plan are approved, and wait for the leader or are being executed.")
		}
	}
	if off := f.approvalsOff(cmd.Context(), d); off != nil {
		fmt.Fprintf(out, "No step is executed: %v.\n", off)
		return report.DiscardedMoves(out, d.plans.Discarded, commandline.ReportOptions(out))
	}
	fmt.Fprintf(out, "To approve: evenkeel approve %s [--strategy S] [--steps 1,4-7]\n", terminal.Escape(d.plans.Waiting[0].ID))
	return report.DiscardedMoves(out, d.plans.Discarded, commandline.ReportOptions(out))
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
