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
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/evenkeel-project/evenkeel/controller/state"
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
	ctx, cancel := context.WithTimeout(ctx, callTimeout) // for all calls together
	defer cancel()
	if _, err = b.configMaps.Create(ctx, o, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	before, err := b.get(ctx)
	if err != nil {
		return err
	}
	unfinished := "waiting for the leader"
	switch before.Data[keyState] {
	case stateClaimed:
		unfinished = "being executed"
	case stateAnswered, stateWithdrawn:
		unfinished = ""
	}
	if at, _ := time.Parse(time.RFC3339, before.Data[keyAt]); unfinished != "" && r.ApprovedAt.Sub(at) < claimTimeout {
		return fmt.Errorf("plan %s, approved by %s at %s, is %s; wait until it ends, or delete ConfigMap %s", before.Data[keyID],
			before.Data[keyBy], before.Data[keyAt], unfinished, ConfigMapName)
	}
	o.ResourceVersion = before.ResourceVersion
	_, err = b.update(ctx, o)
	return err
}

// Pending returns the request that waits for execution, or nil. Only a leader that executes no plan may call Pending.
// Pending completes a request that cannot be read, and a request that an earlier leader claimed but did not complete.
func (b *Store) Pending(ctx context.Context) (*Request, error) {
	o, err := b.get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for an approved plan: %w", err)
	case o.Data[keyState] == stateClaimed: // an earlier leader claimed it, since this one executes no plan now
		return nil, b.Complete(ctx, Request{configMap: o}, stoppedReport(plan.Plan{ID: o.Data[keyID]}, plan.Interrupted,
			"the process that took the plan has ended, or could not store its report; the reports of the current leader contain its evictions"))
	case o.Data[keyState] != statePending:
		return nil, nil
	}
	r := &Request{ApprovedBy: o.Data[keyBy], configMap: o}
	r.ApprovedAt, _ = time.Parse(time.RFC3339, o.Data[keyAt]) // for display only
	if err := decompress(o.BinaryData[keyPlan], &r.Plan); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the plan in ConfigMap %s: %w", ConfigMapName, err),
			b.Complete(ctx, *r, stoppedReport(plan.Plan{}, plan.PlanRefused, "the plan cannot be read: "+err.Error())))
	}
	return r, nil
}

func stoppedReport(p plan.Plan, code plan.Code, message string) plan.RunReport {
	return plan.RunReport{APIVersion: plan.APIVersion, Kind: "RunReport", Plan: p, Stopped: &plan.Reason{Code: code, Message: message}}
}

// Claim records that this process executes the request, so that the plan is executed at most once,
// even if this process ends.
func (b *Store) Claim(ctx context.Context, r *Request) error {
	o := r.configMap.DeepCopy()
	o.Data[keyState] = stateClaimed
	o, err := b.update(ctx, o)
	if err != nil {
		return fmt.Errorf("claiming ConfigMap %s: %w", ConfigMapName, err)
	}
	r.configMap = o
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
	case now.UID != o.UID || now.Data[keyID] != o.Data[keyID] || now.Data[keyAt] != o.Data[keyAt]:
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

// Withdraw cancels a request that no process has claimed. Withdraw returns false if the request has
// been claimed, completed or replaced.
func (b *Store) Withdraw(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout) // for all calls together
	defer cancel()
	o, err := b.get(ctx)
	if err != nil || o.Data[keyID] != id || o.Data[keyState] != statePending {
		return false, err
	}
	o.Data[keyState] = stateWithdrawn
	if _, err = b.update(ctx, o); apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// Report returns the report of a submitted plan, or nil while the plan is not finished.
func (b *Store) Report(ctx context.Context, id string) (*plan.RunReport, error) {
	o, err := b.get(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.Data[keyID] != id:
		return nil, fmt.Errorf("the request was replaced by plan %s, approved by %s, in ConfigMap %s", o.Data[keyID], o.Data[keyBy],
			ConfigMapName)
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
