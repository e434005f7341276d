package retry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReadRetriesTemporaryErrors(t *testing.T) {
	kind := schema.GroupResource{Resource: "namespaces"}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"too many requests":  {apierrors.NewTooManyRequestsError("later"), 4},
		"an internal error":  {apierrors.NewInternalError(errors.New("etcd")), 4},
		"a reset connection": {&url.Error{Op: "Get", Err: syscall.ECONNRESET}, 4},
		"truncated response": {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), 4},
		"forbidden":          {apierrors.NewForbidden(kind, "kube-system", nil), 1},
		"not found":          {apierrors.NewNotFound(kind, "kube-system"), 1},
		"connection refused": {&url.Error{Op: "Get", Err: syscall.ECONNREFUSED}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				err := Read(t.Context(), func() error { attempts++; return c.err })
				if !errors.Is(err, c.err) || attempts != c.want {
					t.Errorf("got %d attempts and error %v; want %d attempts and the same error", attempts, err, c.want)
				}
			})
		})
	}
}

func TestReadStopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), minBackoff/2)
		defer cancel()
		attempts := 0
		if err := Read(ctx, func() error { attempts++; return io.EOF }); err != io.EOF || attempts != 1 {
			t.Errorf("got %d attempts and error %v; want one attempt and EOF", attempts, err)
		}
	})
}
