// Package trigger hands a person's request for a pass to the process that leads.
//
// A request is a ConfigMap in the namespace of the Lease. A user who may write ConfigMaps in that
// namespace can make the leader run a strategy; all limits, windows and pauses apply. The package
// never decides whether the strategy runs, and never runs it.
package trigger

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

const (
	// ConfigMapName is the ConfigMap of the request. There is at most one request at a time.
	ConfigMapName = "evenkeel-trigger"

	keyID       = "id"
	keyStrategy = "strategy"
	keyBy       = "by"
	keyAt       = "at"
	keyState    = "state"
	keyMessage  = "message"
	keyHolder   = "takenBy" // the process that took the request

	statePending   = "pending"
	stateTaken     = "taken"
	stateRejected  = "rejected"
	stateWithdrawn = "withdrawn"

	// callTimeout bounds each API call.
	callTimeout = 4 * time.Second
	// maxText bounds each text of a request, in bytes. Anybody who may write the ConfigMap chooses these texts.
	maxText = 200
	// maxMessage bounds the reason of a rejection, in bytes. It may name 20 strategies.
	maxMessage = 2000
)

// MaxAge is the age from which a request is not carried out any more: nobody expects its pass then.
const MaxAge = 10 * time.Minute

// Request asks for a pass of one strategy.
type Request struct {
	ID, Strategy, By string
	At               time.Time

	configMap *corev1.ConfigMap
}

// Store keeps one request and its answer in a ConfigMap.
type Store struct {
	configMaps corev1client.ConfigMapInterface
}

// New returns a Store in a namespace.
func New(client kubernetes.Interface, namespace string) *Store {
	return &Store{client.CoreV1().ConfigMaps(namespace)}
}

// Submit stores a request. It replaces an answered or outdated request, and returns an error if another request waits.
func (s *Store) Submit(ctx context.Context, r Request) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout) // for all calls together
	defer cancel()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigMapName,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "evenkeel"}},
		Data: map[string]string{keyState: statePending, keyID: r.ID, keyStrategy: r.Strategy, keyBy: r.By,
			keyAt: r.At.UTC().Format(time.RFC3339)}}
	_, err := s.configMaps.Create(ctx, o, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	before, err := s.configMaps.Get(ctx, ConfigMapName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if other := readRequest(before); before.Data[keyState] == statePending && !other.Outdated(r.At) {
		return fmt.Errorf("a trigger of strategy %s by %s, of %s, waits for the leader; wait until it is taken, or delete ConfigMap %s",
			other.Strategy, other.By, other.At.Format(time.RFC3339), ConfigMapName)
	}
	o.UID, o.ResourceVersion = before.UID, before.ResourceVersion
	_, err = s.configMaps.Update(ctx, o, metav1.UpdateOptions{})
	return err
}

// Outdated reports whether the request is too old to be carried out, or from a clock that differs as much.
func (r *Request) Outdated(now time.Time) bool {
	age := now.Sub(r.At)
	return age > MaxAge || age < -MaxAge
}

// Pending returns the request that waits, or nil.
func (s *Store) Pending(ctx context.Context) (*Request, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	o, err := s.configMaps.Get(ctx, ConfigMapName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for a trigger: %w", err)
	case o.Data[keyState] != statePending:
		return nil, nil
	}
	r := readRequest(o)
	return &r, nil
}

func readRequest(o *corev1.ConfigMap) Request {
	text := func(key string) string {
		v := o.Data[key]
		return terminal.Escape(v[:min(len(v), maxText)])
	}
	r := Request{ID: text(keyID), Strategy: text(keyStrategy), By: text(keyBy), configMap: o}
	r.At, _ = time.Parse(time.RFC3339, text(keyAt)) // zero, and so outdated, if it is invalid
	return r
}

// Take records that the process holder carries out the request. It returns an error if the request has changed since
// Pending, so each request is carried out at most once.
func (s *Store) Take(ctx context.Context, r *Request, holder string) error {
	return s.answer(ctx, r, map[string]string{keyState: stateTaken, keyHolder: holder})
}

// Reject records why the request is not carried out.
func (s *Store) Reject(ctx context.Context, r *Request, why string) error {
	return s.answer(ctx, r, map[string]string{keyState: stateRejected, keyMessage: why})
}

// answer stores an answer. If the result of the write is unknown, answer reads the request again, and returns nil if it
// has this answer.
func (s *Store) answer(ctx context.Context, r *Request, answer map[string]string) error {
	o := r.configMap.DeepCopy() // with its UID and resource version
	maps.Copy(o.Data, answer)
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.configMaps.Update(call, o, metav1.UpdateOptions{})
	if err == nil || !apierrors.IsConflict(err) && s.isAnswered(ctx, r, answer) {
		return nil
	}
	return fmt.Errorf("answering the trigger in ConfigMap %s: %w", ConfigMapName, err)
}

// isAnswered reports whether the stored request has this answer. A failed read says that it has not.
func (s *Store) isAnswered(ctx context.Context, r *Request, answer map[string]string) bool {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	o, err := s.configMaps.Get(call, ConfigMapName, metav1.GetOptions{})
	if err != nil || o.UID != r.configMap.UID || o.Data[keyID] != r.configMap.Data[keyID] {
		return false
	}
	for key, value := range answer {
		if o.Data[key] != value {
			return false
		}
	}
	return true
}

// Answer is the answer to a request.
type Answer struct {
	Taken bool
	// Rejected is the reason why the request was rejected; empty if it was not.
	Rejected string
}

// Answer returns the answer to a request, or nil while the request waits.
func (s *Store) Answer(ctx context.Context, id string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	o, err := s.configMaps.Get(ctx, ConfigMapName, metav1.GetOptions{})
	switch {
	case err != nil:
		return nil, err
	case o.Data[keyID] != id:
		return nil, fmt.Errorf("another trigger, of strategy %s by %s, replaced this one", readRequest(o).Strategy, readRequest(o).By)
	case o.Data[keyState] == stateTaken:
		return &Answer{Taken: true}, nil
	case o.Data[keyState] == stateRejected:
		return &Answer{Rejected: terminal.Line(o.Data[keyMessage], maxMessage)}, nil
	}
	return nil, nil
}

// Withdraw cancels a request that no process has taken. It returns false if the request was answered or replaced.
func (s *Store) Withdraw(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout) // for all calls together
	defer cancel()
	r, err := s.Pending(ctx)
	if err != nil || r == nil || r.ID != id {
		return false, err
	}
	if err = s.answer(ctx, r, map[string]string{keyState: stateWithdrawn}); apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}
