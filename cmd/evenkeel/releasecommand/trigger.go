package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/trigger"
)

// defaultTriggerTimeout is how long trigger waits until the leader takes the request.
const defaultTriggerTimeout = 2 * time.Minute

// answerPollInterval is the time between two looks whether the leader has taken the request.
const answerPollInterval = time.Second

type triggerFlags struct {
	namespace string
	wait      time.Duration
}

func newTrigger(a *Access) *cobra.Command {
	f := &triggerFlags{}
	c := &cobra.Command{
		Use: "trigger STRATEGY", Short: "Ask the leader to run a strategy now", Args: requireStrategyArgument,
		Long:    "Ask the process that leads to make a pass of the strategy now, as if the strategy were due. Limits,\nwindows, budgets, back-offs and pauses apply. The leader takes a request between two passes, and at\nmost one a minute.\n\nThe command needs `evenkeel run`, which the chart installs with kind: Deployment. It does not wait\nfor the pass to end.",
		Example: "  # Run the strategy zones now\n  evenkeel trigger zones",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args[0]) },
	}
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	c.Flags().DurationVar(&f.wait, "wait", defaultTriggerTimeout, "how long to wait until the leader takes the request")
	return c
}

func requireStrategyArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the name of one strategy, not %d; want: %s STRATEGY", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

// check returns an error if an argument or a flag has an invalid value.
func (f *triggerFlags) check(strategy string) error {
	if len(validation.IsDNS1123Label(strategy)) > 0 {
		return fmt.Errorf("%q is not a name of a strategy (want lower case letters, digits and dashes)", strategy)
	}
	if f.wait <= 0 {
		return fmt.Errorf("--wait: %s is too short (want more than 0s)", f.wait)
	}
	if f.namespace != "" {
		return installed.CheckNamespace(f.namespace)
	}
	return nil
}

func (f *triggerFlags) run(cmd *cobra.Command, a *Access, strategy string) error {
	a.Logger(cmd)
	if err := f.check(strategy); err != nil {
		return err
	}
	client, _, err := a.Client()
	if err != nil {
		return err
	}
	if f.namespace, err = a.lookup(cmd).Namespace(cmd.Context(), client, f.namespace); err != nil {
		return fmt.Errorf("nothing was triggered: %w", err)
	}
	looking, cancel := context.WithTimeout(cmd.Context(), a.SyncTimeout)
	defer cancel()
	s, err := f.findLeader(looking, client)
	if err != nil {
		return fmt.Errorf("nothing was triggered: %w", err)
	}
	holder := s.Holder
	box, id := trigger.New(client, f.namespace), fmt.Sprintf("%08x", rand.Uint32())
	err = box.Submit(cmd.Context(), trigger.Request{ID: id, Strategy: strategy, By: connection.User(cmd.Context(), client), At: time.Now()})
	if err != nil {
		return fmt.Errorf("nothing was triggered: %w", connection.ExplainForbidden("create, get and update configmaps", err))
	}
	installed.WarnOtherDeschedulers(cmd, s)
	if err := f.waitForLeader(cmd.Context(), a, box, id, holder); err != nil {
		return err
	}
	pause, err := state.NewPauseStore(client, f.namespace).Read(cmd.Context())
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: it is not known whether evictions are paused: %v\n", err)
	}
	but := ""
	if pause != nil {
		but = ", but evicts nothing: " + pause.Block().Reason.Message
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: %s runs strategy %s now%s; see `evenkeel logs`.\n", f.namespace, holder, strategy, but)
	return nil
}

// findLeader returns the process that leads. The error says why no process can take a trigger.
func (f *triggerFlags) findLeader(ctx context.Context, client kubernetes.Interface) (leader.Status, error) {
	s, err := (&leader.Lease{Client: client, Namespace: f.namespace}).Status(ctx)
	if err != nil || s.Holder != "" {
		return s, err
	}
	dry, err := (&leader.Lease{Client: client, Namespace: f.namespace, DryRun: true}).Leader(ctx)
	if err == nil && dry != "" {
		return s, fmt.Errorf("%s leads a dry run in namespace %s, which takes no triggers; to see its plan now, use `evenkeel plan`", dry,
			f.namespace)
	}
	return s, fmt.Errorf("no process holds the Lease %s in namespace %s; a trigger needs `evenkeel run` (kind: Deployment in the chart). "+
		"With kind: CronJob, start a job: kubectl create job --namespace %s --from=cronjob/NAME JOB", release.LeaseName, f.namespace, f.namespace)
}

// waitForLeader waits until the leader has taken the request. If it does not, waitForLeader withdraws the request.
func (f *triggerFlags) waitForLeader(ctx context.Context, a *Access, box *trigger.Store, id, holder string) error {
	waiting, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	a.Progress().Start("waiting for %s to take the trigger", holder)
	defer a.Progress().Stop()
	every := time.NewTicker(answerPollInterval)
	defer every.Stop()
	var last error
	for {
		answer, err := box.Answer(waiting, id)
		if last = err; waiting.Err() != nil {
			last = nil
		}
		switch {
		case answer == nil:
		case answer.Taken:
			return nil
		default:
			return fmt.Errorf("%s rejects the trigger: %s", holder, answer.Rejected)
		}
		select {
		case <-every.C:
			continue
		case <-waiting.Done():
		}
		if back, err := box.Withdraw(ctx, id); err != nil || !back {
			return errors.Join(fmt.Errorf("it is not known whether %s has taken the trigger; see its log", holder), last, err)
		}
		return errors.Join(fmt.Errorf("%s did not take the trigger within %s, so it was withdrawn: a pass is running, or it is a single pass "+
			"(`run --once`), which takes no triggers", holder, f.wait), last)
	}
}
