package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxReasonLength bounds --reason: it stands in reports, events and messages.
const maxReasonLength = 200

type pauseFlags struct {
	namespace, reason string
	duration          time.Duration
}

func newPause(g *globalFlags) *cobra.Command {
	f := &pauseFlags{}
	c := &cobra.Command{
		Use: "pause", Short: "Have no pod evicted until resume, or for a time", Args: rejectArguments,
		Long:    "Writes the ConfigMap " + state.PauseName + " beside the Lease. It is read before every eviction: those under way\nare still watched, and no further one is made. Plans and reports go on.",
		Example: "  evenkeel pause --reason \"release 42\"\n  evenkeel pause --for 2h",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.pause(cmd, g) },
	}
	f.add(c.Flags())
	c.Flags().DurationVar(&f.duration, "for", 0, "let evictions be made again after this time (default: not before resume)")
	c.Flags().StringVar(&f.reason, "reason", "", "what people should know (default: what the pause says that holds already)")
	return c
}

func newResume(g *globalFlags) *cobra.Command {
	f := &pauseFlags{}
	c := &cobra.Command{
		Use: "resume", Short: "End a pause", Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.resume(cmd, g) },
	}
	f.add(c.Flags())
	return c
}

func (f *pauseFlags) add(fl *pflag.FlagSet) { addLeaseNamespaceFlag(fl, &f.namespace) }

func addLeaseNamespaceFlag(fl *pflag.FlagSet, into *string) {
	fl.StringVar(into, "lease-namespace", ownNamespace(), "namespace of the Lease, of the pause, and of what is remembered")
}

func checkNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("--lease-namespace: %q is not a namespace (want lower case letters, digits and dashes)", name)
	}
	return nil
}

func (f *pauseFlags) check(cmd *cobra.Command) error {
	if err := checkNamespace(f.namespace); err != nil {
		return err
	}
	if cmd.Flags().Changed("for") && f.duration < time.Second {
		return fmt.Errorf("--for: %s is no time to pause (want 1s or more; leave it out to pause until resume)", f.duration)
	}
	if n := utf8.RuneCountInString(f.reason); n > maxReasonLength {
		return fmt.Errorf("--reason: %d characters are too many (want at most %d)", n, maxReasonLength)
	}
	return nil
}

// connect connects, and finds out who asks.
func (f *pauseFlags) connect(cmd *cobra.Command, g *globalFlags) (kubernetes.Interface, state.PauseStore, string, error) {
	g.logger(cmd)
	if err := f.check(cmd); err != nil {
		return nil, state.PauseStore{}, "", err
	}
	client, _, err := g.client()
	if err != nil {
		return nil, state.PauseStore{}, "", err
	}
	return client, g.pauseStore(client, f.namespace), apiUser(cmd.Context(), client), nil
}

func (f *pauseFlags) pause(cmd *cobra.Command, g *globalFlags) error {
	client, pauses, who, err := f.connect(cmd, g)
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
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: this changes the pause of somebody else: %s\n", before.Block().Reason.Message)
	}
	warnWithoutLeader(cmd, client, f.namespace)
	held, err := pauses.Read(cmd.Context())
	if err != nil {
		return fmt.Errorf("the pause is written, but: %w", err)
	}
	if held == nil {
		return fmt.Errorf("the pause in namespace %s has ended already: somebody has resumed", f.namespace)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: %s.\n", f.namespace, held.Block().Reason.Message)
	if before != nil && f.reason == "" && held.Reason != "" {
		fmt.Fprintln(cmd.OutOrStdout(), "The reason is kept from the pause before; --reason gives another.")
	}
	return nil
}

func (f *pauseFlags) resume(cmd *cobra.Command, g *globalFlags) error {
	client, pauses, who, err := f.connect(cmd, g)
	if err != nil {
		return err
	}
	before, err := pauses.Resume(cmd.Context())
	if err != nil {
		return fmt.Errorf("whether evictions are paused has not changed: %w", err)
	}
	warnWithoutLease(cmd, client, f.namespace)
	switch {
	case before == nil:
		fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: evictions were not paused.\n", f.namespace)
		return nil
	case before.By != who:
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: this ended the pause of somebody else: %s\n", before.Block().Reason.Message)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: evictions are no longer paused.\n", f.namespace)
	return nil
}

// lookupTimeout bounds questions whose answer is good to have, and no more.
const lookupTimeout = 4 * time.Second

// warnWithoutLease: a pause in a namespace where nothing runs stops nothing, and a
// plan that is carried out there may meet the evictions of a leader elsewhere. A dry
// run that leads there is the one that was meant. It returns who holds the Lease, and
// whether that is known.
func warnWithoutLease(cmd *cobra.Command, client kubernetes.Interface, namespace string) (holder string, known bool) {
	ctx, cancel := context.WithTimeout(cmd.Context(), lookupTimeout)
	defer cancel()
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
	switch {
	case err == nil:
		return (&controller.Lease{}).HolderOf(lease), true
	case !apierrors.IsNotFound(err):
		return "", false
	}
	dry, err := (&controller.Lease{Client: client, Namespace: namespace, DryRun: true}).Leader(ctx)
	if err == nil && dry != "" {
		return "", true
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: there is no Lease evenkeel in namespace %s, so no `evenkeel run` has evicted from there; does it run in another? give --lease-namespace\n", namespace)
	return "", false
}

// warnWithoutLeader: where no process holds the Lease there is nothing to stop now.
func warnWithoutLeader(cmd *cobra.Command, client kubernetes.Interface, namespace string) {
	if holder, known := warnWithoutLease(cmd, client, namespace); known && holder == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: nobody holds the Lease evenkeel in namespace %s, so nothing evicts from there now; the pause holds for whoever takes it next\n", namespace)
	}
}

// apiUser is who the API server takes us for; where it does not say, the user of
// this machine, marked as such.
func apiUser(ctx context.Context, client kubernetes.Interface) string {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	r, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err == nil && r.Status.UserInfo.Username != "" {
		return r.Status.UserInfo.Username
	}
	name := "user " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return name + " (user of the machine; the API server did not say who)"
}

// stateWithOptionalPause is what is remembered, with the pause that holds.
type stateWithOptionalPause struct {
	stateLoader
	pauses state.PauseStore
	log    *slog.Logger
}

// Load leaves the pause out where it cannot be read, and says so: this is for plans,
// which evict nothing.
func (r stateWithOptionalPause) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := r.stateLoader.Load(ctx)
	if err != nil {
		return st, err
	}
	if st.Pause, err = r.pauses.Read(ctx); err != nil {
		r.log.Warn("whether evictions are paused is not known", "error", err)
	}
	return st, nil
}

func (g *globalFlags) pauseStore(client kubernetes.Interface, namespace string) state.PauseStore {
	return state.PauseStore{Client: client, Namespace: namespace, Clock: clock.RealClock{}}
}
