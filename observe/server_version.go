package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
)

const (
	// maxVersionAge is the age at which Snapshot reads the version of the server again: a control plane can be upgraded
	// while the process runs.
	maxVersionAge = time.Minute
	// versionTimeout limits one read of the server version.
	versionTimeout = 10 * time.Second
)

// serverVersion is the version of the server, such as 1.37. It is safe for concurrent use.
type serverVersion struct {
	client kubernetes.Interface
	clock  clock.PassiveClock

	mu   sync.Mutex
	text string // empty before the first read
	at   time.Time
}

// read reads the version from the server.
func (v *serverVersion) read(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	body, err := v.client.Discovery().ServerVersionWithContext(call)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return plainAccessError("get", "/version", err)
	case err != nil:
		return fmt.Errorf("reading the server version: %w", PlainError(err))
	case body.Major == "" || body.Minor == "":
		return errors.New("reading the server version: major or minor is missing in the answer" + addressHint)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text, v.at = body.Major+"."+body.Minor, v.clock.Now()
	return nil
}

// refresh reads the version again if the last answer is old.
func (v *serverVersion) refresh(ctx context.Context) error {
	v.mu.Lock()
	old := v.text != "" && v.clock.Since(v.at) >= maxVersionAge
	v.mu.Unlock()
	if !old {
		return nil
	}
	return v.read(ctx)
}

// last returns the last answer, or "".
func (v *serverVersion) last() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text
}
