package waiting

import (
	"bytes"
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
	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// ConfigMapName is the ConfigMap of the waiting plans, in the namespace of the Lease.
	ConfigMapName = "evenkeel-waiting-plan"

	keyPlans = "plans.json.gz"

	// callTimeout bounds each API call.
	callTimeout = 4 * time.Second
	// attempts bounds how often Update tries again after another client has changed the ConfigMap.
	attempts = 4
	// maxPackedBytes bounds the compressed plans. The API server rejects objects above 1 MiB.
	maxPackedBytes = 900 << 10
	// maxMoves bounds the moves of a plan, and maxPlans the number of plans.
	maxMoves = 50_000
	maxPlans = 100
)

// ErrTooLarge means that a proposal does not fit into a ConfigMap.
var ErrTooLarge = errors.New("the plan is too large to wait for approval")

// Store keeps the waiting plans in a ConfigMap. It never deletes the ConfigMap.
type Store struct {
	configMaps corev1client.ConfigMapInterface
}

// New returns a Store in a namespace.
func New(client kubernetes.Interface, namespace string) *Store {
	return &Store{client.CoreV1().ConfigMaps(namespace)}
}

// Load reads the plans. If the ConfigMap does not exist, no plan waits.
func (s *Store) Load(ctx context.Context) (Plans, error) {
	p, _, err := s.load(ctx)
	return p, err
}

func (s *Store) load(ctx context.Context) (Plans, *corev1.ConfigMap, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	o, err := s.configMaps.Get(call, ConfigMapName, metav1.GetOptions{})
	switch {
	case notfound.Object(err, "configmaps", ConfigMapName):
		return Plans{}, nil, nil
	case err != nil:
		return Plans{}, nil, fmt.Errorf("reading ConfigMap %s: %w", ConfigMapName, err)
	}
	p, err := decode(o.BinaryData[keyPlans])
	if err != nil {
		return Plans{}, o, unreadableError{err}
	}
	return p, o, nil
}

// unreadableError means that the ConfigMap does not contain plans that this program wrote.
type unreadableError struct{ error }

// Error implements error.
func (e unreadableError) Error() string {
	return fmt.Sprintf("ConfigMap %s cannot be understood, so no plan waits: %v", ConfigMapName, e.error)
}

func decode(packed []byte) (p Plans, err error) {
	if len(packed) == 0 {
		return Plans{}, nil
	}
	text, err := state.Decompress(packed)
	if err != nil {
		return p, err
	}
	if err := plan.Decode(text, &p); err != nil {
		return Plans{}, err
	}
	if p.APIVersion != plan.APIVersion || p.Kind != kind {
		return Plans{}, fmt.Errorf("the document is a %s %s (want %s %s)", shorten(p.APIVersion), shorten(p.Kind), plan.APIVersion, kind)
	}
	if len(p.Waiting) > maxPlans {
		return Plans{}, fmt.Errorf("more than %d plans", maxPlans)
	}
	for _, w := range p.Waiting {
		if len(w.Moves) > maxMoves || len(w.Decisions) > maxMoves {
			return Plans{}, fmt.Errorf("a plan has more than %d moves", maxMoves)
		}
		for i, m := range w.Moves {
			if m.Step != i+1 || m.Pod.UID == "" {
				return Plans{}, fmt.Errorf("move %d has the step number %d, or its pod has no UID", i+1, m.Step)
			}
		}
	}
	return p, nil
}

// Update changes the plans. It calls change again if another client has changed them meanwhile, and writes nothing if
// change changes nothing. If the stored plans cannot be read, change gets none.
func (s *Store) Update(ctx context.Context, change func(Plans) (Plans, error)) (err error) {
	for range attempts {
		if err = s.updateOnce(ctx, change); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return fmt.Errorf("other clients changed ConfigMap %s during each of %d attempts; try again: %w", ConfigMapName, attempts, err)
}

func (s *Store) updateOnce(ctx context.Context, change func(Plans) (Plans, error)) error {
	before, o, err := s.load(ctx)
	if unreadable := (unreadableError{}); err != nil && !errors.As(err, &unreadable) {
		return err
	}
	after, err := change(before)
	if err != nil {
		return err
	}
	old, text, err := encode(before, after)
	if err != nil || bytes.Equal(old, text) {
		return err
	}
	packed, err := state.Compress(text)
	if err != nil {
		return err
	}
	if len(packed) > maxPackedBytes {
		return fmt.Errorf("%w: ConfigMap %s would have %d KiB compressed, more than %d; lower the limits of the strategies in mode approve "+
			"(limits.perPass)", ErrTooLarge, ConfigMapName, len(packed)>>10, maxPackedBytes>>10)
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if o == nil {
		_, err = s.configMaps.Create(call, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigMapName,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "evenkeel"}},
			BinaryData: map[string][]byte{keyPlans: packed}}, metav1.CreateOptions{})
		return err
	}
	o = o.DeepCopy()
	o.Data, o.BinaryData = nil, map[string][]byte{keyPlans: packed}
	_, err = s.configMaps.Update(call, o, metav1.UpdateOptions{})
	return err
}

// encode returns both plans as JSON.
func encode(before, after Plans) (old, text []byte, err error) {
	after.APIVersion, after.Kind = plan.APIVersion, kind
	before.APIVersion, before.Kind = plan.APIVersion, kind
	if old, err = json.Marshal(before); err != nil {
		return nil, nil, err
	}
	text, err = json.Marshal(after)
	return old, text, err
}
