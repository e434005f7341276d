package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/internal/retry"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PauseName is the name of the ConfigMap that pauses evictions while it exists. All keys of the
// ConfigMap are optional, so that `kubectl create configmap` can pause evictions too.
const PauseName = "evenkeel-pause"

// The keys of the ConfigMap. Times are in RFC 3339.
const (
	keySince  = "since"
	keyUntil  = "until"
	keyBy     = "by"
	keyReason = "reason"
)

// pauseCallTimeout bounds every call. A call must end before another process can become leader.
const pauseCallTimeout = 4 * time.Second

// maxTextRunes is the maximum displayed length of a text that any user may have written.
const maxTextRunes = 300

// PauseStore reads and writes the pause of an installation. Namespace is the namespace of the Lease.
type PauseStore struct {
	Client    kubernetes.Interface
	Namespace string
	Clock     clock.PassiveClock
}

// NewPauseStore returns the store of the pause of the installation in the namespace.
func NewPauseStore(client kubernetes.Interface, namespace string) PauseStore {
	return PauseStore{Client: client, Namespace: namespace, Clock: clock.RealClock{}}
}

// Read returns the active pause, or nil. A value that cannot be parsed counts as a pause without an
// end, and the reason says so: in doubt, no pod is evicted.
func (p PauseStore) Read(ctx context.Context) (*plan.Pause, error) {
	var m *corev1.ConfigMap
	err := retry.Read(ctx, func() (err error) { m, err = p.get(ctx); return err }) // a failed read says nothing about pauses
	if m == nil || err != nil {
		return nil, err
	}
	return p.activePause(m), nil
}

func (p PauseStore) activePause(m *corev1.ConfigMap) *plan.Pause {
	if pause := parsePause(m); pause.ActiveAt(p.Clock.Now()) {
		return pause
	}
	return nil
}

// CheckPause returns the reason why evictions must not be requested now, or nil. CheckPause always
// asks the API server and never uses a cache, because an interrupted watch would not show a new
// pause. If the API server gives no answer, no eviction may be requested.
func (p PauseStore) CheckPause(ctx context.Context) *plan.Reason {
	all, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pause, err := p.Read(all)
	switch {
	case err != nil && ctx.Err() != nil:
		return &plan.Reason{Code: plan.Interrupted, Message: "the process was told to stop"}
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return &plan.Reason{Code: plan.PermissionMissing, Message: "it is unknown whether evictions are paused: " + err.Error()}
	case err != nil:
		return &plan.Reason{Code: plan.APIError, Message: "it is unknown whether evictions are paused: " + err.Error()}
	case pause != nil:
		r := pause.Block().Reason
		return &r
	}
	return nil
}

// Pause pauses evictions from now on. Pause returns the pause that was active before, or nil. If evictions are already
// paused, Pause keeps the start time, and keeps the reason unless want has one.
func (p PauseStore) Pause(ctx context.Context, want plan.Pause) (before *plan.Pause, err error) {
	err = p.retryConflicts(func() error {
		m, err := p.get(ctx)
		if err != nil {
			return err
		}
		if before = nil; m != nil {
			before = p.activePause(m)
		}
		if before != nil && !before.Since.IsZero() {
			want.Since = before.Since
		}
		change := want
		if change.Reason == "" && before != nil {
			change.Reason = sanitize(m.Data[keyReason])
		}
		call, cancel := context.WithTimeout(ctx, pauseCallTimeout)
		defer cancel()
		configMaps := p.Client.CoreV1().ConfigMaps(p.Namespace)
		if m == nil {
			_, err = configMaps.Create(call, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: PauseName,
				Labels: map[string]string{"app.kubernetes.io/managed-by": "evenkeel"}}, Data: pauseData(change)}, metav1.CreateOptions{})
			return p.callError("create", err)
		}
		m = m.DeepCopy()
		m.Data, m.BinaryData = pauseData(change), nil
		_, err = configMaps.Update(call, m, metav1.UpdateOptions{})
		return p.callError("update", err)
	})
	return before, err
}

// Resume ends the pause. Resume returns the pause that was active before, or nil.
func (p PauseStore) Resume(ctx context.Context) (before *plan.Pause, err error) {
	err = p.retryConflicts(func() error {
		before = nil
		m, err := p.get(ctx)
		if m == nil || err != nil {
			return err
		}
		before = p.activePause(m)
		call, cancel := context.WithTimeout(ctx, pauseCallTimeout)
		defer cancel()
		// With these preconditions, the API server does not delete a pause that another person has just renewed.
		err = p.Client.CoreV1().ConfigMaps(p.Namespace).Delete(call, PauseName, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &m.UID, ResourceVersion: &m.ResourceVersion}})
		if notfound.Object(err, "configmaps", PauseName) {
			return nil
		}
		return p.callError("delete", err)
	})
	return before, err
}

// pauseAttempts is the maximum number of attempts to change the pause if other clients change it too.
const pauseAttempts = 5

// retryConflicts calls change until it does not fail with a conflict, at most pauseAttempts times.
func (p PauseStore) retryConflicts(change func() error) (err error) {
	for range pauseAttempts {
		if err = change(); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return fmt.Errorf("other clients changed the pause during each of %d attempts; try again: %w", pauseAttempts, err)
}

// get reads the ConfigMap. If the API server answers that the ConfigMap does not exist, get returns nil.
func (p PauseStore) get(ctx context.Context) (*corev1.ConfigMap, error) {
	call, cancel := context.WithTimeout(ctx, pauseCallTimeout)
	defer cancel()
	m, err := getConfigMap(call, p.Client, p.Namespace, PauseName)
	return m, p.callError("get", err)
}

// callError adds the object, and the missing permission if any, to the error of a call.
func (p PauseStore) callError(verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission to %s ConfigMap %s in namespace %s is missing; grant %s on configmaps there to this account: %w", verb,
			PauseName, p.Namespace, verb, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not accept the credentials (%s ConfigMap %s/%s); is the token still valid?: %w", verb,
			p.Namespace, PauseName, err)
	}
	doing := map[string]string{"get": "reading", "create": "creating", "update": "changing", "delete": "deleting"}[verb]
	return fmt.Errorf("%s ConfigMap %s/%s: %w", doing, p.Namespace, PauseName, err)
}

func pauseData(p plan.Pause) map[string]string {
	d := map[string]string{keySince: p.Since.UTC().Format(time.RFC3339), keyBy: p.By}
	if !p.Until.IsZero() {
		d[keyUntil] = p.Until.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		d[keyReason] = p.Reason
	}
	return d
}

// parsePause never fails. A value that it cannot parse counts as a pause without an end, and is named in the reason.
func parsePause(m *corev1.ConfigMap) *plan.Pause {
	p := &plan.Pause{Since: m.CreationTimestamp.UTC(), By: sanitize(m.Data[keyBy]), Reason: sanitize(m.Data[keyReason])}
	if p.By == "" {
		p.By = "an unknown user"
	}
	var odd []string
	if text, ok := m.Data[keySince]; ok {
		if t, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil {
			p.Since = t.UTC()
		} else {
			odd = append(odd, fmt.Sprintf("%s %q is not a time", keySince, sanitize(text)))
		}
	}
	if text, ok := m.Data[keyUntil]; ok {
		if t, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil && !t.IsZero() {
			p.Until = t.UTC()
		} else {
			odd = append(odd, fmt.Sprintf("%s %q is not a time, so the pause has no end", keyUntil, sanitize(text)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		if !slices.Contains([]string{keySince, keyUntil, keyBy, keyReason}, key) {
			odd = append(odd, fmt.Sprintf("key %q is not known", sanitize(key)))
			break // one unknown key is enough
		}
	}
	if len(odd) > 0 {
		text := fmt.Sprintf("(ConfigMap %s: %s)", PauseName, strings.Join(odd, "; "))
		p.Reason = strings.TrimSpace(p.Reason + " " + text)
	}
	return p
}

// sanitize makes text that any user may have written safe to print: on one line, short, and without control characters.
func sanitize(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxTextRunes {
		s = string(r[:maxTextRunes]) + "..."
	}
	return s
}
