// Package leader uses a Lease to ensure that at most one process at a time evicts.
//
// The package decides when this process may start to lead, when it must stop, and which errors only
// a person can fix. The package never runs passes and never evicts.
package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/internal/retry"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A leader that cannot renew the Lease stops leading renewDeadline after the last renewal. Another
// process can start to lead leaseDuration after that renewal at the earliest. Eviction calls of the
// old leader must end in the 5 s between these times.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// callTimeout bounds each request. A request without an answer leaves time for another one before renewDeadline.
	callTimeout = renewDeadline / 2
)

// Lease elects the leader among the processes of one installation.
type Lease struct {
	Client    kubernetes.Interface
	Namespace string
	// DryRun selects a separate Lease for processes that never evict, so that they do not block the
	// process that evicts.
	DryRun bool
	// Identity distinguishes this process from others.
	Identity string
	// Version is the version of this process, which the label release.VersionLabel of the Lease shows; "" is not shown.
	Version string
	// OnLeadingChange is called with true when this process starts to lead and with false when it stops: after work has
	// returned, or when the Lease is lost, perhaps while work still runs.
	OnLeadingChange func(bool)
	// StopWaiting makes Lead return nil without leading if it delivers a value while Lead waits; nil is allowed.
	StopWaiting <-chan struct{}
	// OnWaiting is called with the holder when Lead finds that another process holds the Lease; nil is allowed.
	OnWaiting func(holder string)

	// Clock is the real clock if it is nil.
	Clock clock.PassiveClock

	config        atomic.Pointer[map[string]string]            // ApprovalsLabel and ConfigLabel; nil: not set
	deschedulers  atomic.Pointer[string]                       // value of DeschedulersLabel; nil: not set
	lastRenewal   atomic.Pointer[time.Time]                    // when the last successful renewal began; nil: not leading
	elector       atomic.Pointer[leaderelection.LeaderElector] // nil: Lead does not run
	lostAt        atomic.Pointer[time.Time]                    // when the Lease was lost while work runs; nil: not lost
	accessFailure atomic.Pointer[accessFailure]                // from the last attempt; nil: nothing was missing
}

// CheckLeading returns the reason why this process must not act as leader now, or nil. CheckLeading compares the last
// renewal with the clock, because a suspended process may learn late that it lost the Lease.
func (l *Lease) CheckLeading() *plan.Reason {
	now := l.clock().Now()
	switch at := l.lastRenewal.Load(); {
	case at == nil:
		return &plan.Reason{Code: plan.NotLeading, Message: fmt.Sprintf("this process does not hold the Lease %s/%s", l.Namespace, l.leaseName())}
	case now.Sub(*at) > renewDeadline, // by the monotonic clock, or by the wall clock
		now.Round(0).Sub(at.Round(0)).Abs() > renewDeadline:
		return &plan.Reason{Code: plan.NotLeading, Message: fmt.Sprintf("the last renewal of the Lease %s/%s is more than %s old", l.Namespace,
			l.leaseName(), renewDeadline)}
	}
	return nil
}

// ShutdownTolerance is how long a process that lost its Lease stays healthy. In this time it ends its pass, which may
// wait for evictions in progress and remove hints.
const ShutdownTolerance = 2 * time.Minute

// CheckHealth returns an error if this process still acts as leader although it lost the Lease or
// could not renew it for too long. Then only a restart helps. A process that waits for the Lease is
// healthy.
func (l *Lease) CheckHealth() error {
	if at := l.lostAt.Load(); at != nil && l.clock().Since(*at) > ShutdownTolerance {
		return fmt.Errorf("this process lost the Lease %s/%s %s ago, and its pass has not ended", l.Namespace, l.leaseName(),
			l.clock().Since(*at).Round(time.Second))
	}
	if e := l.elector.Load(); e != nil {
		return e.Check(ShutdownTolerance)
	}
	return nil
}

// CheckOtherReleases returns the reason why this process must not evict although it leads, or nil:
// the leader of an older release in another namespace may evict. That leader may also have no
// strategies: its Lease does not tell. Each release knows only its own evictions, so two would use
// every limit twice.
func (l *Lease) CheckOtherReleases(ctx context.Context) *plan.Reason {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var older *release.Leader
	err := retry.Read(call, func() (err error) {
		older, err = release.OlderLeader(call, l.Client, l.Namespace, l.clock().Now(), leaseDuration)
		return err
	})
	const unknown = "it is unknown whether another release of Evenkeel evicts: "
	switch {
	case err != nil && ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop"}
	case apierrors.IsForbidden(err):
		return &plan.Reason{Code: plan.PermissionMissing, Message: unknown + err.Error() +
			"; grant list on leases named evenkeel in all namespaces to this account, unless this release is about to become a dry run"}
	case err != nil:
		return &plan.Reason{Code: plan.APIError, Message: unknown + err.Error()}
	case older != nil:
		return &plan.Reason{Code: plan.OtherReleaseActive, Message: fmt.Sprintf(
			"the older release in namespace %s may evict in this cluster (%s holds its Lease evenkeel); "+
				"uninstall one of the releases, or set dryRun: true in one", older.Namespace, older.Holder)}
	}
	return nil
}

// These labels of the Lease tell a person who approves or applies a plan, and may read the Lease but not the
// configuration, how its holder executes plans.
const (
	// ConfigLabel has the hash of the holder's configuration; it is empty if the holder executes no plan that is
	// submitted now. Labels of a Lease are only replaced, so a program without this label must write an empty one.
	ConfigLabel = "evenkeel.io/config-hash"
	// ApprovalsLabel says whether the holder executes approved plans: on or off.
	ApprovalsLabel = "evenkeel.io/approvals"
	approvalsOn    = "on"
	approvalsOff   = "off"
)

// SetConfig sets whether this process executes approved plans, and the hash of its configuration, which is that of the
// plans. The next renewal of the Lease announces both.
func (l *Lease) SetConfig(approvals bool, hash string) {
	value := approvalsOff
	if approvals {
		value = approvalsOn
	}
	l.config.Store(&map[string]string{ApprovalsLabel: value, ConfigLabel: hash})
}

// labels returns the labels of the Lease, or nil if there is nothing to say.
func (l *Lease) labels() map[string]string {
	out := map[string]string{}
	if of := l.config.Load(); of != nil {
		maps.Copy(out, *of)
	}
	if value := l.deschedulers.Load(); value != nil {
		out[DeschedulersLabel] = *value
	}
	if l.Version != "" {
		out[release.VersionLabel] = release.VersionLabelValue(l.Version)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Status is what a Lease says about its holder.
type Status struct {
	// Holder is the process that holds the Lease, or "".
	Holder string
	// ApprovalsOff reports that the holder executes no approved plans. Without a holder, it is about the last one.
	ApprovalsOff bool
	// ConfigHash identifies the configuration of the holder, or of the last one; "" if it is unknown.
	ConfigHash string
	// OtherDeschedulers names the other programs that evict pods, as the holder saw them, or is "". Without a holder,
	// it is about the last one.
	OtherDeschedulers string
}

// HasOtherConfig reports whether a process leads with another configuration than that of the hash, so it refuses plans
// of that.
func (s Status) HasOtherConfig(hash string) bool {
	return s.Holder != "" && s.ConfigHash != "" && s.ConfigHash != hash
}

// Status reads the Lease. It returns the zero value if there is no Lease.
func (l *Lease) Status(ctx context.Context) (Status, error) {
	lease, err := l.Client.CoordinationV1().Leases(l.Namespace).Get(ctx, l.leaseName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return Status{}, nil
	case err != nil:
		return Status{}, fmt.Errorf("reading the Lease %s/%s: %w", l.Namespace, l.leaseName(), cmp.Or(l.accessError("get", err), err))
	}
	return Status{Holder: l.HolderOf(lease), ApprovalsOff: lease.Labels[ApprovalsLabel] == approvalsOff, ConfigHash: lease.Labels[ConfigLabel],
		OtherDeschedulers: deschedulersText(lease.Labels[DeschedulersLabel])}, nil
}

// Leader reads the Lease and returns its holder, or "" if it has none.
func (l *Lease) Leader(ctx context.Context) (string, error) {
	s, err := l.Status(ctx)
	return s.Holder, err
}

// maxHolder bounds the name of a holder, in bytes.
const maxHolder = 300

// HolderOf returns the holder of a Lease that was just read, or "" if the Lease was released or has
// expired. The name is safe for a terminal.
func (l *Lease) HolderOf(lease *coordinationv1.Lease) string {
	return terminal.Line(release.HolderAt(lease, l.clock().Now()), maxHolder)
}

func (l *Lease) leaseName() string {
	if l.DryRun {
		return release.DryRunLeaseName
	}
	return release.LeaseName
}

func (l *Lease) clock() clock.PassiveClock {
	if l.Clock == nil {
		return clock.RealClock{}
	}
	return l.Clock
}

// accessFailure is a missing permission or namespace. since is the first of the consecutive failed attempts.
type accessFailure struct {
	since time.Time
	err   error
}

// accessError returns an error with a remedy if a permission or the namespace is missing, so that
// another attempt cannot succeed. Otherwise accessError returns nil.
func (l *Lease) accessError(verb string, err error) error {
	status := apierrors.APIStatus(nil)
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission to %s leases.coordination.k8s.io is missing in namespace %s; grant it to this account: %w", verb,
			l.Namespace, err)
	case apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Kind == "namespaces":
		return fmt.Errorf("namespace %s does not exist; create it, or give the namespace of Evenkeel with --lease-namespace: %w", l.Namespace,
			err)
	}
	return nil
}
