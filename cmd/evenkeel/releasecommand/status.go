package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/report"
)

// showFlags are the flags of the commands that only read.
type showFlags struct{ namespace, output string }

func (f *showFlags) addTo(c *cobra.Command) {
	installed.AddNamespaceFlag(c.PersistentFlags(), &f.namespace)
	c.PersistentFlags().StringVarP(&f.output, "output", "o", string(report.Table), "output format: table, wide, json, yaml, "+commandline.ObjectForms)
}

func newStatus(a *Access) *cobra.Command {
	f := &showFlags{}
	c := &cobra.Command{
		Use: "status", Short: "Show what the release does, whether anything is wrong, and what to do", Args: commandline.NoArguments,
		Long: "Show what Evenkeel is doing now, whether anything is wrong, and what to do about each problem.\n\n" +
			"The command reads the Rebalancer, the Leases, and the plans that need approval or are running. The\n" +
			"command changes nothing. If a permission is missing, the command names the permission and shows\n" +
			"everything else. With -o json or yaml, the command prints the Rebalancer object.",
		Example: "  # What does Evenkeel do now?\n  evenkeel status\n\n  # Print the Rebalancer as YAML\n  evenkeel status -o yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.status(cmd, a) },
	}
	f.addTo(c)
	return c
}

// connect connects to the cluster and finds the namespace of Evenkeel.
func (f *showFlags) connect(cmd *cobra.Command, a *Access) (client kubernetes.Interface, stored *objects.Client, format report.Format, err error) {
	a.Logger(cmd)
	if format, err = commandline.ParseOutput(cmd, f.output); err != nil {
		return nil, nil, "", err
	}
	client, config, err := a.Client()
	if err != nil {
		return nil, nil, "", err
	}
	if f.namespace, err = a.lookup(cmd).Namespace(cmd.Context(), client, f.namespace); err != nil {
		return nil, nil, "", err
	}
	stored, err = a.Objects(config, f.namespace)
	return client, stored, format, err
}

func (f *showFlags) status(cmd *cobra.Command, a *Access) error {
	client, stored, format, err := f.connect(cmd, a)
	if err != nil {
		return err
	}
	s := statusReader{Release: report.Release{Namespace: f.namespace, Now: time.Now()}}
	ctx, cancel := context.WithTimeout(cmd.Context(), a.SyncTimeout)
	defer cancel()
	failed, last := 0, error(nil)
	reads := []func() error{func() error { return s.readRelease(ctx, stored) }, func() error { return s.readLeases(ctx, client) },
		func() error { return s.readWaiting(ctx, stored) }}
	for _, read := range reads {
		if err := read(); err != nil {
			failed, last = failed+1, err
		}
	}
	if failed == len(reads) && apierrors.ReasonForError(last) == metav1.StatusReasonUnknown { // the API server cannot be reached
		return fmt.Errorf("the status of the release in namespace %s is unknown: %w", f.namespace, observe.PlainError(last))
	}
	s.readRunning(ctx, stored)
	if s.Object == nil && (format == report.JSON || format == report.YAML) {
		return fmt.Errorf("there is no Rebalancer to print; run evenkeel status without -o %s", f.output)
	}
	return report.ReleaseStatus(cmd.OutOrStdout(), format, s.Release, commandline.ReportOptions(cmd.OutOrStdout()))
}

// statusReader collects what can be read.
type statusReader struct{ report.Release }

// add notes what is unknown because of a missing permission. It returns other errors.
func (s *statusReader) add(what, permission string, err error) error {
	if err == nil {
		return nil
	}
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		s.Unknown = append(s.Unknown, fmt.Sprintf("%s: permission to %s in namespace %s is missing", what, permission, s.Namespace))
	} else {
		s.Unknown = append(s.Unknown, fmt.Sprintf("%s: %v", what, observe.PlainError(err)))
	}
	return err
}

func (s *statusReader) readRelease(ctx context.Context, stored *objects.Client) error {
	o, err := stored.Rebalancers.Get(ctx, objects.ReleaseName, metav1.GetOptions{})
	switch {
	case objects.IsKindMissing(err):
		s.KindsMissing = true
		return nil
	case objects.IsMissing(err, "rebalancers", objects.ReleaseName):
		s.NoObject = true
		return nil
	case err == nil:
		o.APIVersion, o.Kind = v1alpha1.GroupVersion.String(), "Rebalancer"
		s.Object = o
	}
	return s.add("what passes did, and whether evictions are paused", "get rebalancers.evenkeel.io "+objects.ReleaseName, err)
}

func (s *statusReader) readLeases(ctx context.Context, client kubernetes.Interface) error {
	of, err := release.In(ctx, client, s.Namespace, s.Now)
	if err == nil || errors.As(err, new(release.NoLeaseError)) {
		s.Lease = &report.Lease{Holder: of.Holder, Renewed: of.Renewed}
		if of.Holder == "" && of.DryRunHolder != "" {
			s.Lease.Holder, s.Lease.DryRun = of.DryRunHolder, true
		}
		return nil
	}
	return s.add("which process leads", "get leases "+release.LeaseName+" and "+release.DryRunLeaseName, err)
}

func (s *statusReader) readWaiting(ctx context.Context, stored *objects.Client) error {
	if s.KindsMissing {
		return nil
	}
	plans, err := waiting.New(stored).Load(ctx, nil)
	plans = plans.Register(s.Now)
	for i := range plans.Waiting {
		w := &plans.Waiting[i]
		x := report.WaitingPlanSummary{ID: w.Name, Moves: w.WaitingMoves(), Expires: w.Expires}
		x.Steps = len(x.Moves)
		for _, m := range w.Moves {
			if w.StateOf(m.Step).State == waiting.Approved {
				x.Approved++
			}
		}
		s.Waiting = append(s.Waiting, x)
	}
	if err != nil && s.Object != nil { // as the last pass saw it
		for _, w := range s.Object.Status.Waiting {
			if w.Expires != nil && s.Now.Before(w.Expires.Time) {
				s.Waiting = append(s.Waiting, report.WaitingPlanSummary{ID: w.Name, Steps: int(w.Steps), Approved: int(w.Approved), Expires: w.Expires.Time})
			}
		}
	}
	return s.add("which pods the plans that wait would move", "list and get rebalanceplans.evenkeel.io", err)
}

// readRunning finds a plan that is executed by the process that leads. A process that died leaves such a plan, until
// the next one leads.
func (s *statusReader) readRunning(ctx context.Context, stored *objects.Client) {
	if s.KindsMissing || s.Lease == nil || s.Lease.Holder == "" {
		return
	}
	all, err := stored.Plans.List(ctx, metav1.ListOptions{Limit: 10, FieldSelector: fields.OneTermEqualSelector("status.phase", string(v1alpha1.PhaseRunning)).String()})
	if err == nil {
		for i := range all.Items {
			if o := &all.Items[i]; o.Status.Phase == v1alpha1.PhaseRunning && o.Status.Holder == s.Lease.Holder {
				s.Running = o
			}
		}
	}
	_ = s.add("whether a pass evicts pods now", "list rebalanceplans.evenkeel.io", err)
}
