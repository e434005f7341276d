package observe

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ktesting "k8s.io/client-go/testing"
)

func TestWhatIsAskedAgain(t *testing.T) {
	kind := schema.GroupResource{Resource: "namespaces"}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"too many requests":  {apierrors.NewTooManyRequestsError("later"), 4},
		"an internal error":  {apierrors.NewInternalError(errors.New("etcd")), 4},
		"a reset connection": {&url.Error{Op: "Get", Err: syscall.ECONNRESET}, 4},
		"half an answer":     {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), 4},
		"forbidden":          {apierrors.NewForbidden(kind, "kube-system", nil), 1},
		"not found":          {apierrors.NewNotFound(kind, "kube-system"), 1},
		"nobody listens":     {&url.Error{Op: "Get", Err: syscall.ECONNREFUSED}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				err := insist(func() error { asked++; return c.err })
				if !errors.Is(err, c.err) || asked != c.want {
					t.Errorf("asked %d times, got %v; want %d times and the error itself", asked, err, c.want)
				}
			})
		})
	}
}

func TestAMomentsTroubleAtTheStartIsSurvived(t *testing.T) {
	client := newClient(system())
	refusals := 2
	client.PrependReactor("get", "namespaces", func(ktesting.Action) (bool, k8sruntime.Object, error) {
		refusals--
		return refusals >= 0, nil, apierrors.NewTooManyRequestsError("later")
	})
	o, ctx := started(t, client)
	if err := o.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}
}
