// Package approval hands an approved plan to the process that may evict, and returns its report.
//
// A request is a ConfigMap in the namespace of the Lease. A user who may write ConfigMaps in that namespace can have
// plans executed; all limits apply. The package never decides whether a plan is still valid, and never evicts.
package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// ConfigMapName is the ConfigMap of the request. There is at most one request at a time.
	ConfigMapName = "evenkeel-approval"

	keyPlan   = "plan.json.gz"
	keyReport = "report.json.gz"
	keyID     = "plan"
	keyBy     = "approvedBy"
	keyAt     = "approvedAt"
	keyState  = "state"
	// Only of a request for steps of a waiting plan: the ID of that plan, and when it expires.
	keyWaiting = "waitingPlan"
	keyExpires = "expires"
	// The process that claimed the request last, and how many did.
	keyHolder   = "takenBy"
	keyAttempts = "attempts"

	statePending  = "pending"
	stateClaimed  = "taken" // a leader executes it, or has ended while it did
	stateAnswered = "answered"
	// stateWithdrawn: no process leads, so the client that submitted the plan executes the plan itself.
	stateWithdrawn = "withdrawn"

	// callTimeout bounds each API call.
	callTimeout = 4 * time.Second
	// maxPackedBytes bounds one compressed document, so that plan and report together stay below
	// the API server's limit of 1 MiB.
	maxPackedBytes = 450 << 10
	// claimTimeout is the age at which an unfinished request may be replaced.
	claimTimeout = time.Hour
)

// Request is an approved plan to be executed.
type Request struct {
	Plan       plan.Plan
	ApprovedBy string
	ApprovedAt time.Time
	// WaitingPlan is the ID of the waiting plan to which the steps of Plan belong, or "" for a saved plan.
	WaitingPlan string
	// Attempts is the number of processes that claimed the request, and Holder is the last one of them.
	Attempts int
	Holder   string

	configMap *corev1.ConfigMap
}

// Store keeps an approval request and its report in a ConfigMap.
type Store struct {
	configMaps corev1client.ConfigMapInterface
}

// New returns a Store in a namespace.
func New(client kubernetes.Interface, namespace string) *Store {
	return &Store{client.CoreV1().ConfigMaps(namespace)}
}

// Submit stores a request. Submit replaces a finished request, and returns an error if another
// request is unfinished and younger than claimTimeout.
func (b *Store) Submit(ctx context.Context, r Request) error {
	packed, err := compress(r.Plan)
	if err != nil {
		return err
	}
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigMapName,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "evenkeel"}},
		Data: map[string]string{keyState: statePending, keyID: r.Plan.ID, keyBy: r.ApprovedBy,
			keyAt: r.ApprovedAt.UTC().Format(time.RFC3339)},
		BinaryData: map[string][]byte{keyPlan: packed}}
	if r.WaitingPlan != "" {
		o.Data[keyWaiting], o.Data[keyExpires] = r.WaitingPlan, r.Plan.Expires.UTC().Format(time.RFC3339)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout) // for all calls together
	defer cancel()
	if _, err = b.configMaps.Create(ctx, o, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	before, err := b.get(ctx)
	if err != nil {
		return err
	}
	if unfinished := describeUnfinished(before, r.ApprovedAt); unfinished != "" {
		return fmt.Errorf("%s; wait until it ends, or delete ConfigMap %s", unfinished, ConfigMapName)
	}
	o.ResourceVersion = before.ResourceVersion
	_, err = b.update(ctx, o)
	return err
}

// describeUnfinished describes a request that another one must not replace yet. It returns "" if
// there is none. Steps of a waiting plan may wait until the plan expires, because the next job of a
// CronJob executes them.
func describeUnfinished(o *corev1.ConfigMap, now time.Time) string {
	doing := "waiting for the leader"
	switch o.Data[keyState] {
	case stateClaimed:
		doing = "being executed"
	case stateAnswered, stateWithdrawn:
		return ""
	}
	at, _ := time.Parse(time.RFC3339, o.Data[keyAt])
	expires, _ := time.Parse(time.RFC3339, o.Data[keyExpires])
	if now.Sub(at) >= claimTimeout && !now.Before(expires) {
		return ""
	}
	what := "plan " + shownText(o, keyID)
	if of := shownText(o, keyWaiting); of != "" {
		what = "a part of plan " + of
	}
	return fmt.Sprintf("%s, approved by %s at %s, is %s", what, shownText(o, keyBy), shownText(o, keyAt), doing)
}

// maxShownText bounds each text of a request in a message, in bytes.
const maxShownText = 200

// shownText returns a text of a request for a message. Anybody who may write the ConfigMap chooses the text.
func shownText(o *corev1.ConfigMap, key string) string {
	return terminal.Line(o.Data[key], maxShownText)
}

// Unfinished returns the ID of the waiting plan whose steps are approved, but not executed yet, or "".
func (b *Store) Unfinished(ctx context.Context) (string, error) {
	o, err := b.get(ctx)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("looking for an approved plan: %w", err)
	}
	switch o.Data[keyState] {
	case statePending, stateClaimed:
		return o.Data[keyWaiting], nil
	}
	return "", nil
}

// Pending returns the open request, or nil if there is none. Only a leader that executes no plan may call Pending. If
// Attempts is not 0, an earlier process claimed the request but did not complete it. If the plan of the request cannot
// be parsed, Pending completes the request with the outcome PlanRefused and returns an error.
func (b *Store) Pending(ctx context.Context) (*Request, error) {
	o, err := b.get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for an approved plan: %w", err)
	case o.Data[keyState] != statePending && o.Data[keyState] != stateClaimed:
		return nil, nil
	}
	r := &Request{ApprovedBy: o.Data[keyBy], WaitingPlan: o.Data[keyWaiting], configMap: o}
	if o.Data[keyState] == stateClaimed {
		r.Holder = o.Data[keyHolder]
		n, _ := strconv.Atoi(o.Data[keyAttempts]) // an unknown number is 0
		r.Attempts = max(n, 1)
	}
	r.ApprovedAt, _ = time.Parse(time.RFC3339, o.Data[keyAt]) // for display only
	if err := decompress(o.BinaryData[keyPlan], &r.Plan); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the plan in ConfigMap %s: %w", ConfigMapName, err),
			b.Complete(ctx, *r, stoppedReport(plan.Plan{}, plan.PlanRefused, "the plan cannot be read: "+err.Error())))
	}
	return r, nil
}

// Interrupt completes a request that no further process may execute.
func (b *Store) Interrupt(ctx context.Context, r Request, why string) error {
	return b.Complete(ctx, r, stoppedReport(r.Plan, plan.Interrupted, why))
}

func stoppedReport(p plan.Plan, code plan.Code, message string) plan.RunReport {
	return plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", Plan: p, Stopped: &plan.Reason{Code: code, Message: message}}
}

// Claim records that the process holder executes the request, so that no other process executes it at the same time.
// Claim increments r.Attempts.
func (b *Store) Claim(ctx context.Context, r *Request, holder string) error {
	o := r.configMap.DeepCopy()
	o.Data[keyState], o.Data[keyHolder], o.Data[keyAttempts] = stateClaimed, holder, strconv.Itoa(r.Attempts+1)
	o, err := b.update(ctx, o)
	if err != nil {
		return fmt.Errorf("claiming ConfigMap %s: %w", ConfigMapName, err)
	}
	r.configMap, r.Holder, r.Attempts = o, holder, r.Attempts+1
	return nil
}

// ErrReplaced means that the request of a report was deleted or replaced. No client can read the report any more.
var ErrReplaced = errors.New("the request was deleted or replaced")

// Complete stores the report of a request. If the report is too large, Complete omits the plan from
// the report, because the client already has the plan. If the outcome of an earlier call is unknown, the caller may
// call Complete again: it finds the report that it stored. It returns ErrReplaced if the request is not there any more.
func (b *Store) Complete(ctx context.Context, r Request, report plan.RunReport) error {
	packed, err := compress(report)
	if err != nil {
		report.Plan = plan.Plan{ID: report.Plan.ID}
		if packed, err = compress(report); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx)
	o := r.configMap
	if err = b.storeReport(ctx, o, packed); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	now, err := b.get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return ErrReplaced
	case err != nil:
		return err
	case !isSameRequest(now, o) ||
		now.Data[keyHolder] != o.Data[keyHolder] || now.Data[keyAttempts] != o.Data[keyAttempts]: // another process took it
		return ErrReplaced
	case now.Data[keyState] == stateAnswered:
		return nil // an earlier call stored the report, although its answer was lost
	}
	return b.storeReport(ctx, now, packed)
}

func (b *Store) storeReport(ctx context.Context, o *corev1.ConfigMap, packed []byte) error {
	o = o.DeepCopy()
	o.Data[keyState] = stateAnswered
	if o.BinaryData == nil {
		o.BinaryData = map[string][]byte{}
	}
	o.BinaryData[keyReport] = packed
	_, err := b.update(ctx, o)
	return err
}

// Withdraw cancels a request that no process has claimed. Withdraw returns false if the request has been claimed,
// completed or replaced. If the result of the write is unknown, Withdraw reads the request again.
func (b *Store) Withdraw(ctx context.Context, id string) (bool, error) {
	ctx = context.WithoutCancel(ctx)
	o, err := b.get(ctx)
	if err != nil || o.Data[keyID] != id || o.Data[keyState] != statePending {
		return false, err
	}
	o.Data[keyState] = stateWithdrawn
	switch _, err = b.update(ctx, o); {
	case err == nil:
		return true, nil
	case apierrors.IsConflict(err):
		return false, nil
	}
	if now, readErr := b.get(ctx); readErr == nil && isSameRequest(now, o) && now.Data[keyState] == stateWithdrawn {
		return true, nil // the answer to the write was lost
	}
	return false, err
}

// isSameRequest reports whether two versions of the ConfigMap contain the same request.
func isSameRequest(a, b *corev1.ConfigMap) bool {
	return a.UID == b.UID && a.Data[keyID] == b.Data[keyID] && a.Data[keyAt] == b.Data[keyAt]
}

// Report returns the report of a submitted plan, or nil while the plan is not finished.
func (b *Store) Report(ctx context.Context, id string) (*plan.RunReport, error) {
	o, err := b.get(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.Data[keyID] != id:
		return nil, fmt.Errorf("the request was replaced by plan %s, approved by %s, in ConfigMap %s", shownText(o, keyID),
			shownText(o, keyBy), ConfigMapName)
	case o.Data[keyState] != stateAnswered:
		return nil, nil
	}
	var r plan.RunReport
	if err := decompress(o.BinaryData[keyReport], &r); err != nil {
		return nil, fmt.Errorf("reading the report in ConfigMap %s: %w", ConfigMapName, err)
	}
	return &r, nil
}

func (b *Store) get(ctx context.Context) (*corev1.ConfigMap, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return b.configMaps.Get(call, ConfigMapName, metav1.GetOptions{})
}

func (b *Store) update(ctx context.Context, o *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return b.configMaps.Update(call, o, metav1.UpdateOptions{})
}

func compress(doc any) ([]byte, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	packed, err := state.Compress(text)
	if err == nil && len(packed) > maxPackedBytes {
		err = fmt.Errorf("the document is too large (%d KiB compressed, at most %d); make a plan with fewer moves (limits.perPass)",
			len(packed)>>10, maxPackedBytes>>10)
	}
	return packed, err
}

func decompress(packed []byte, doc any) error {
	text, err := state.Decompress(packed)
	if err != nil {
		return err
	}
	return plan.Decode(text, doc)
}
