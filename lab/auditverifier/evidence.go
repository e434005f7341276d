// Package auditverifier checks what a rebalancer did. The verifier compares three sources: the audit log of the API
// server, a recording of every state of pods, budgets, workloads, nodes and the Lease, and the reports of the
// rebalancer.
//
// The verifier counts evictions itself. Its only input from the program under test is the reports, which it checks. The
// package never connects to a cluster.
package auditverifier

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// Kind is the kind of a violation.
type Kind string

// The kinds of violation.
const (
	BudgetExceeded      Kind = "budget"     // an eviction left fewer healthy pods than a budget requires
	LimitExceeded       Kind = "limit"      // more evictions than a limit, the pace or an in-flight limit allows
	EvictedTwice        Kind = "twice"      // one pod was evicted twice
	ProtectedEvicted    Kind = "protected"  // a protected pod was evicted
	ForeignWrite        Kind = "foreign"    // a write to an object that the program must not change
	EvictedWithoutLease Kind = "leader"     // an eviction by a process that did not hold the Lease
	UnreportedEviction  Kind = "unreported" // no report contains an eviction that happened
	FalseClaim          Kind = "false"      // a report contains an eviction that did not happen
	ProcessFailure      Kind = "conduct"    // a process crashed, hung or ended with an unexpected exit code
	IncompleteRecording Kind = "unseen"     // the recording is incomplete, or the drill did not inject enough failures
)

// Kinds lists all kinds in the order of the columns in tables.
var Kinds = []Kind{BudgetExceeded, LimitExceeded, EvictedTwice, ProtectedEvicted, ForeignWrite, EvictedWithoutLease,
	UnreportedEviction, FalseClaim, ProcessFailure, IncompleteRecording}

// Violation is one broken rule.
type Violation struct {
	Kind Kind
	At   time.Time
	User string
	What string
}

func newViolation(k Kind, at time.Time, user, format string, args ...any) Violation {
	return Violation{Kind: k, At: at, User: user, What: fmt.Sprintf(format, args...)}
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s %s: %s", v.Kind, v.At.UTC().Format("15:04:05.000"), v.User, v.What)
}

// Rules are the configured limits. Zero means no limit.
type Rules struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone int
	HourOwner, HourNamespace, HourCluster             int
	FlightTotal, FlightNode, FlightOwner              int
	// PerMinute limits the pace: evictions are evenly spaced, and unused slots do not accumulate.
	PerMinute int
	// Slack is the allowed delay of a request. The client spaces its requests evenly, but the verifier sees their
	// arrival at the API server.
	Slack time.Duration
	// FlightTimeout is the time after which an eviction without a visible replacement no longer counts as in flight:
	// the verification timeout plus the grace period.
	FlightTimeout time.Duration
	// MaxUnavailable applies to workloads without a budget.
	MaxUnavailable int
	// OnePass is set if every process makes exactly one pass. If OnePass is false, each report ends one pass of its
	// process.
	OnePass bool
	// DeletesFailedPods is set if the program may delete pods with the phase Failed. These
	// deletions count as evictions.
	DeletesFailedPods bool
}

// Evidence holds the recording, the audit events, the reports and the rules of a drill.
type Evidence struct {
	Changes []Change
	Events  []auditv1.Event
	Reports []Report
	Rules   Rules
	// Ours reports whether a user belongs to the program under test.
	Ours func(user string) bool
	// Namespace is the only namespace in which the program may write Leases and ConfigMaps.
	Namespace string
}

// Report holds what the verifier checks of a report.
type Report struct {
	// User is the user of the process that wrote the report.
	User              string
	RunID             string
	Started, Finished time.Time
	Outcomes          []testbed.Outcome
	// Recovered is the process that made the run, if another one reports it.
	Recovered string
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Report) UnmarshalJSON(text []byte) error {
	var printed testbed.Report
	err := json.Unmarshal(text, &printed)
	st := &printed.Status
	*r = Report{RunID: st.RunID, Started: st.Started, Finished: st.Finished, Outcomes: printed.Outcomes(), Recovered: st.Holder}
	return err
}

// ReadReports reads the reports in the log of a process, whose lines are JSON. whole is false if the last line is
// incomplete because the process was killed.
func ReadReports(user, log string) (reports []Report, whole bool, err error) {
	d := json.NewDecoder(strings.NewReader(log))
	for {
		var line struct{ Report *Report }
		err := d.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return reports, true, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return reports, false, nil
		case err != nil:
			return reports, false, err
		}
		if line.Report != nil {
			line.Report.User = user
			reports = append(reports, *line.Report)
		}
	}
}
