package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/objects"
)

// defaultTriggerTimeout is how long trigger waits until the leader takes the request, and until its pass ends.
const defaultTriggerTimeout = 2 * time.Minute

// answerPollInterval is the time between two looks at the request.
const answerPollInterval = time.Second

// maxAnswer bounds each text of the status of a request, in bytes.
const maxAnswer = 2000

type triggerFlags struct {
	namespace string
	wait      time.Duration
}

func newTrigger(a *Access) *cobra.Command {
	f := &triggerFlags{}
	c := &cobra.Command{
		Use: "trigger STRATEGY...", Short: "Ask the leader to run strategies now", Args: requireStrategies,
		Long: "Ask the leader to run a pass of the named strategies now, as if they were due. All limits, time\n" +
			"windows, disruption budgets, back-offs and pauses still apply. The leader accepts requests only\n" +
			"between passes, and at most one request per minute.\n\n" +
			"The command creates a RebalanceRun in the release's namespace, and waits until the pass has ended.\n" +
			"If there is no leader, the next leader, such as the CronJob's next Job, accepts the request.",
		Example: "  # Run the strategy zones now\n  evenkeel trigger zones\n\n  # List all requests\n  kubectl get rebalanceruns --namespace evenkeel",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args) },
	}
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	c.Flags().DurationVar(&f.wait, "wait", defaultTriggerTimeout, "how long to wait until the leader accepts the request, and again until the pass ends")
	return c
}

func requireStrategies(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s takes the names of strategies; want: %s STRATEGY [STRATEGY]", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// check returns an error if an argument or a flag has an invalid value.
func (f *triggerFlags) check(strategies []string) error {
	for i, name := range strategies {
		switch {
		case len(validation.IsDNS1123Label(name)) > 0:
			return fmt.Errorf("%q is not a name of a strategy (want lower case letters, digits and dashes)", name)
		case slices.Contains(strategies[:i], name):
			return fmt.Errorf("strategy %s is named twice", name)
		}
	}
	if f.wait <= 0 {
		return fmt.Errorf("--wait: %s is too short (want more than 0s)", f.wait)
	}
	if f.namespace != "" {
		return installed.CheckNamespace(f.namespace)
	}
	return nil
}

func (f *triggerFlags) run(cmd *cobra.Command, a *Access, strategies []string) error {
	a.Logger(cmd)
	if err := f.check(strategies); err != nil {
		return err
	}
	client, conf, err := a.Client()
	if err != nil {
		return err
	}
	of := a.lookup(cmd)
	if f.namespace, err = of.Namespace(cmd.Context(), client, f.namespace); err != nil {
		return fmt.Errorf("nothing was triggered: %w", err)
	}
	looking, cancel := context.WithTimeout(cmd.Context(), a.SyncTimeout)
	defer cancel()
	s, err := f.findLeader(looking, client, of)
	if err != nil {
		return fmt.Errorf("nothing was triggered: %w", err)
	}
	stored, err := a.Objects(conf, f.namespace)
	if err != nil {
		return err
	}
	r, err := stored.Runs.Create(cmd.Context(), &v1alpha1.RebalanceRun{ObjectMeta: metav1.ObjectMeta{GenerateName: strategies[0] + "-"},
		Spec: v1alpha1.RebalanceRunSpec{Strategies: strategies, By: connection.User(cmd.Context(), client)}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("nothing was triggered: %w", objects.Explain(connection.ExplainForbidden("create rebalanceruns", err)))
	}
	installed.WarnOtherDeschedulers(cmd, s)
	if s.Holder == "" {
		fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: no process leads now. The next one takes the request %s, for example the next job of a CronJob.\n"+
			"To start a job now: kubectl create job --namespace %s --from=cronjob/NAME JOB\nTo withdraw the request: %s\n",
			f.namespace, r.Name, f.namespace, f.deletion(r))
		return nil
	}
	a.Progress().Start("waiting for %s to take the request %s", s.Holder, r.Name)
	defer a.Progress().Stop()
	return f.await(cmd, a, client, stored, r, s.Holder)
}

// findLeader returns what the Lease says about the process that leads, if one does. The error says that the release is
// a dry run, also if its pods have not read their new configuration yet.
func (f *triggerFlags) findLeader(ctx context.Context, client kubernetes.Interface, of *installed.Lookup) (leader.Status, error) {
	s, err := f.leader(ctx, client)
	if err != nil {
		return s, err
	}
	// The jobs of a dry run hold no Lease, and the configuration changes before its pods read it.
	if conf, err := of.Choose(ctx, "", f.namespace); err == nil && conf.Known && conf.DryRun {
		if s.Holder != "" {
			return s, fmt.Errorf("the configuration of the release in namespace %s has dryRun: true, and a dry run takes no triggers; "+
				"%s may not have read it yet; to see its plan now, use `evenkeel plan`", f.namespace, s.Holder)
		}
		return s, fmt.Errorf("the release in namespace %s is a dry run, which takes no triggers; to see its plan now, use `evenkeel plan`",
			f.namespace)
	}
	return s, nil
}

// leader returns what the Lease says about the process that leads, if one does. The error says that a process leads a
// dry run instead.
func (f *triggerFlags) leader(ctx context.Context, client kubernetes.Interface) (leader.Status, error) {
	s, err := (&leader.Lease{Client: client, Namespace: f.namespace}).Status(ctx)
	if err != nil || s.Holder != "" {
		return s, err
	}
	dry, err := (&leader.Lease{Client: client, Namespace: f.namespace, DryRun: true}).Leader(ctx)
	if err == nil && dry != "" {
		return s, dryRunError{fmt.Errorf("%s leads a dry run in namespace %s, which takes no triggers; to see its plan now, use `evenkeel plan`",
			dry, f.namespace)}
	}
	return s, nil
}

// dryRunError says that the release is a dry run.
type dryRunError struct{ error }

func (f *triggerFlags) deletion(r *v1alpha1.RebalanceRun) string {
	return fmt.Sprintf("kubectl delete rebalancerun --namespace %s %s", f.namespace, r.Name)
}

// await waits until the pass of the request has ended, and prints which process runs it. If the leader does not take
// the request in time, or the release becomes a dry run before, await withdraws the request.
func (f *triggerFlags) await(cmd *cobra.Command, a *Access, client kubernetes.Interface, stored *objects.Client, r *v1alpha1.RebalanceRun,
	holder string) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), f.wait)
	defer cancel()
	every := time.NewTicker(answerPollInterval)
	defer every.Stop()
	var last error // the last failure to read the request
	for {
		now, err := stored.Runs.Get(ctx, r.Name, metav1.GetOptions{})
		switch {
		case err == nil && now.UID == r.UID:
			if ended, err := f.print(cmd, a, r, now); ended {
				return err
			}
			r, last = now, nil
		case err == nil, objects.IsMissing(err, "rebalanceruns", r.Name):
			return fmt.Errorf("the request %s was deleted", r.Name)
		case ctx.Err() == nil:
			last = err
		}
		select {
		case <-every.C:
			if r.Status.Phase != "" {
				continue
			}
			var dry dryRunError
			if _, err := f.leader(ctx, client); errors.As(err, &dry) {
				return f.withdraw(cmd, a, stored, r, holder, fmt.Errorf("the request was withdrawn: %w", dry))
			}
			continue
		case <-ctx.Done():
		}
		if r.Status.Phase == "" {
			return errors.Join(f.withdraw(cmd, a, stored, r, holder, fmt.Errorf("%s did not take the request within %s, so it was withdrawn: "+
				"a pass is running, or it is a single pass (`run --once`), which takes a request only when it begins", holder, f.wait)), last)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Its pass has not ended yet; to watch it: kubectl get rebalancerun --namespace %s %s --watch\n", f.namespace, r.Name)
		return nil
	}
}

// print prints what has changed in the status of a request, and reports whether the request has ended. It returns an
// error if the request was rejected.
func (f *triggerFlags) print(cmd *cobra.Command, a *Access, before, now *v1alpha1.RebalanceRun) (ended bool, err error) {
	message := terminal.Line(now.Status.Message, maxAnswer)
	switch {
	case now.Status.Phase == v1alpha1.RunRejected:
		return true, fmt.Errorf("the request %s is rejected: %s", now.Name, message)
	case now.Status.Phase != "" && before.Status.Phase == "":
		a.Progress().Stop()
		fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: %s runs %s %s now (request %s); see `evenkeel logs`.\n", f.namespace, terminal.Line(now.Status.Holder, maxAnswer),
			plural.Choose(len(now.Spec.Strategies), "strategy", "strategies"), strings.Join(now.Spec.Strategies, ", "), now.Name)
	}
	if now.Status.Phase != v1alpha1.RunCompleted {
		return false, nil
	}
	text := "Its pass (run " + terminal.Line(now.Status.RunID, maxAnswer) + ") has ended"
	if message != "" {
		text += ": " + message
	}
	fmt.Fprintln(cmd.OutOrStdout(), text+".")
	return true, nil
}

// withdraw deletes a request that no process has taken, and returns why. If a process has taken it since the last look,
// withdraw prints the status.
func (f *triggerFlags) withdraw(cmd *cobra.Command, a *Access, stored *objects.Client, r *v1alpha1.RebalanceRun, holder string, why error) error {
	ctx := context.WithoutCancel(cmd.Context())
	err := stored.Runs.Delete(ctx, r.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion}})
	if err == nil {
		return why
	}
	if now, readErr := stored.Runs.Get(ctx, r.Name, metav1.GetOptions{}); readErr == nil && now.UID == r.UID && now.Status.Phase != "" {
		_, err = f.print(cmd, a, r, now)
		return err
	}
	return fmt.Errorf("it is not known whether %s has taken the request; to withdraw it: %s: %w", holder, f.deletion(r), err)
}
