package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/internal/retry"
	"github.com/evenkeel-project/evenkeel/plan"
)

// ErrConflict means that another process wrote the state after this process loaded it. Only one
// process may write. The caller must stop, and must hold the Lease before it loads the state again.
var ErrConflict = errors.New("another process has written the state since this process loaded it")

// readPart reads the ConfigMap of a part, and counts it in total. A missing ConfigMap is not an error.
func (s *Store) readPart(ctx context.Context, name string, total *unpacked) (*storedPart, plan.PlannerState, error) {
	var cm *corev1.ConfigMap
	err := retry.Read(ctx, func() (err error) { cm, err = s.get(ctx, name); return err })
	switch {
	case err != nil:
		return nil, plan.PlannerState{}, fmt.Errorf("reading ConfigMap %s/%s: %w%s", s.namespace, name, err, permissionRemedy(err))
	case cm == nil:
		return &storedPart{name: name}, plan.PlannerState{}, nil
	}
	st, text, err := unpackConfigMap(cm, total)
	if err != nil {
		return nil, plan.PlannerState{}, unreadableError(s.namespace, name, err)
	}
	return &storedPart{name: name, resourceVersion: cm.ResourceVersion, content: text}, st, nil
}

// get returns nil if the API server answers that the ConfigMap does not exist.
func (s *Store) get(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return getConfigMap(call, s.client, s.namespace, name)
}

// writePart writes the content of one ConfigMap. If the outcome of an earlier write is unknown, it reads the ConfigMap
// before it writes again. The content shows which process wrote it, because no two processes write the same content.
func (s *Store) writePart(ctx context.Context, c partChange) error {
	to := c.target
	for try := 1; ; try++ {
		if to.unconfirmed != nil {
			if err := s.resolveUnconfirmed(ctx, to); err != nil {
				return err
			}
			if bytes.Equal(to.content, c.content) {
				return nil
			}
		}
		err := s.writeOnce(ctx, to, c.content)
		switch {
		case err == nil:
			return nil
		case (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && to.resourceVersion != "") && try == 1:
			if found, _, err := s.readPart(ctx, to.name, new(unpacked)); err == nil && len(c.content) > 0 && bytes.Equal(found.content, c.content) {
				*to = *found // the client repeated the request, and the first request had succeeded
				return nil
			}
			return s.conflictError(to.name)
		case retry.IsFinal(err):
			return fmt.Errorf("writing ConfigMap %s/%s: %w%s", s.namespace, to.name, err, permissionRemedy(err))
		}
		to.unconfirmed = c.content
		if to.unconfirmed == nil {
			to.unconfirmed = []byte{}
		}
		if try == retry.MaxAttempts || !retry.Sleep(ctx, try) {
			return fmt.Errorf("writing ConfigMap %s/%s: %w", s.namespace, to.name, err)
		}
	}
}

// writeOnce sends one write and records the new version if it succeeds.
func (s *Store) writeOnce(ctx context.Context, to *storedPart, text []byte) error {
	cm, err := packConfigMap(s.namespace, to.name, text)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if to.resourceVersion == "" {
		cm, err = s.client.CoreV1().ConfigMaps(s.namespace).Create(call, cm, metav1.CreateOptions{})
	} else {
		cm.ResourceVersion = to.resourceVersion
		cm, err = s.client.CoreV1().ConfigMaps(s.namespace).Update(call, cm, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	to.resourceVersion, to.content, to.unconfirmed = cm.ResourceVersion, text, nil
	return nil
}

// resolveUnconfirmed finds out whether a write without an answer took effect.
func (s *Store) resolveUnconfirmed(ctx context.Context, to *storedPart) error {
	found, _, err := s.readPart(ctx, to.name, new(unpacked))
	switch {
	case err != nil:
		return err
	case found.resourceVersion != to.resourceVersion && !bytes.Equal(found.content, to.unconfirmed):
		return s.conflictError(to.name)
	case found.resourceVersion != to.resourceVersion:
		*to = *found
	}
	return nil
}

func (s *Store) conflictError(name string) error {
	return fmt.Errorf("writing ConfigMap %s/%s: %w; is a second evenkeel running with another Lease namespace or without one?", s.namespace,
		name, ErrConflict)
}

func permissionRemedy(err error) string {
	if apierrors.IsForbidden(err) {
		return "; the chart's Role grants get, create and update"
	}
	return ""
}
