package releasecommand

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxReasonLength bounds --reason in characters, because reports, events and messages repeat the reason.
const maxReasonLength = 200

type pauseFlags struct {
	namespace, reason string
	duration          time.Duration
}

func newPause(a *Access) *cobra.Command {
	f := &pauseFlags{}
	c := &cobra.Command{
		Use: "pause", Short: "Stop evictions for a time, or until you resume them", Args: commandline.NoArguments,
		Long: "Stop evictions until somebody runs `evenkeel resume`, or for the time that --for sets. Evenkeel\nkeeps watching evictions in progress, but starts no new evictions. Evenkeel still makes and reports\nplans.\n\n" +
			"The command sets spec.pause in the Rebalancer named " + objects.ReleaseName + " in the release's namespace. Evenkeel\nreads spec.pause before every eviction.",
		Example: "  # Pause evictions until somebody runs `evenkeel resume`\n  evenkeel pause --reason \"release 42\"\n\n  # Pause evictions for two hours\n  evenkeel pause --for 2h",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.pause(cmd, a) },
	}
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	c.Flags().DurationVar(&f.duration, "for", 0, "end the pause after this time (default: only `evenkeel resume` ends the pause)")
	c.Flags().StringVar(&f.reason, "reason", "", "reason for the pause (default: the reason for the current pause)")
	return c
}

func newResume(a *Access) *cobra.Command {
	f := &pauseFlags{}
	c := &cobra.Command{
		Use: "resume", Short: "End a pause", Args: commandline.NoArguments, Long: "End a pause, so that Evenkeel can evict pods again.", Example: "  # Allow evictions again\n  evenkeel resume",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.resume(cmd, a) },
	}
	installed.AddNamespaceFlag(c.Flags(), &f.namespace)
	return c
}

func (f *pauseFlags) check(cmd *cobra.Command) error {
	if f.namespace != "" {
		if err := installed.CheckNamespace(f.namespace); err != nil {
			return err
		}
	}
	if cmd.Flags().Changed("for") && f.duration < time.Second {
		return fmt.Errorf("--for: %s is too short (want 1s or more; leave it out to pause until resume)", f.duration)
	}
	if n := utf8.RuneCountInString(f.reason); n > maxReasonLength {
		return fmt.Errorf("--reason: %d characters are too many (want at most %d)", n, maxReasonLength)
	}
	return nil
}

// connect connects to the cluster and finds the namespace of Evenkeel. It also returns the user name that the pause
// will contain. If the namespace is not known, the error begins with unchanged, which says that nothing has changed.
func (f *pauseFlags) connect(cmd *cobra.Command, a *Access, unchanged string) (kubernetes.Interface, state.PauseStore, string, error) {
	a.Logger(cmd)
	if err := f.check(cmd); err != nil {
		return nil, state.PauseStore{}, "", err
	}
	client, rc, err := a.Client()
	if err != nil {
		return nil, state.PauseStore{}, "", err
	}
	if f.namespace, err = a.lookup(cmd).Namespace(cmd.Context(), client, f.namespace); err != nil {
		return nil, state.PauseStore{}, "", fmt.Errorf("%s: %w", unchanged, err)
	}
	kinds, err := a.Objects(rc, f.namespace)
	return client, state.NewPauseStore(kinds), connection.User(cmd.Context(), client), err
}

func (f *pauseFlags) pause(cmd *cobra.Command, a *Access) error {
	client, pauses, who, err := f.connect(cmd, a, "evictions are not paused")
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	want := plan.Pause{Since: now, By: who, Reason: f.reason}
	if f.duration > 0 {
		want.Until = now.Add(f.duration)
	}
	before, err := pauses.Pause(cmd.Context(), want)
	if err != nil {
		return fmt.Errorf("evictions are not paused: %w", err)
	}
	if before != nil && before.By != who {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: this changes another user's pause: %s\n", before.Block().Reason.Message)
	}
	warnWithoutLeader(cmd, client, f.namespace)
	held, err := pauses.Read(cmd.Context())
	if err != nil {
		return fmt.Errorf("the pause was written, but: %w", err)
	}
	if held == nil {
		return fmt.Errorf("the pause in namespace %s has already ended: another user resumed evictions", f.namespace)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: %s.\n", f.namespace, held.Block().Reason.Message)
	if before != nil && f.reason == "" && held.Reason != "" {
		fmt.Fprintln(cmd.OutOrStdout(), "The reason of the previous pause is kept; to change it, use --reason.")
	}
	return nil
}

func (f *pauseFlags) resume(cmd *cobra.Command, a *Access) error {
	client, pauses, who, err := f.connect(cmd, a, "the pause is unchanged")
	if err != nil {
		return err
	}
	before, err := pauses.Resume(cmd.Context())
	if err != nil {
		return fmt.Errorf("the pause is unchanged: %w", err)
	}
	installed.WarnWithoutLease(cmd, client, f.namespace)
	switch {
	case before == nil:
		fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: evictions were not paused.\n", f.namespace)
		return nil
	case before.By != who:
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: this ended another user's pause: %s\n", before.Block().Reason.Message)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: evictions are no longer paused.\n", f.namespace)
	if s, err := (&leader.Lease{Client: client, Namespace: f.namespace}).Status(cmd.Context()); err == nil {
		installed.WarnOtherDeschedulers(cmd, s)
	}
	return nil
}

// warnWithoutLeader prints a warning if no process holds the Lease, because a pause then has no immediate effect.
func warnWithoutLeader(cmd *cobra.Command, client kubernetes.Interface, namespace string) {
	if holder, known := installed.WarnWithoutLease(cmd, client, namespace); known && holder == "" {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"evenkeel: warning: no process holds the Lease evenkeel in namespace %s, so nothing evicts from there now; the pause applies to the next leader\n", namespace)
	}
}
