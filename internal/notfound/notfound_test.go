package notfound

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestObject(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no error":                 {nil, false},
		"no answer":                {errors.New("connection reset by peer"), false},
		"the object":               {apierrors.NewNotFound(pods, "a"), true},
		"the object, wrapped":      {fmt.Errorf("reading it: %w", apierrors.NewNotFound(pods, "a")), true},
		"another object":           {apierrors.NewNotFound(pods, "b"), false},
		"another kind":             {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "a"), false},
		"another code":             {apierrors.NewForbidden(pods, "a", nil), false},
		"a proxy":                  {apierrors.NewGenericServerResponse(404, "get", pods, "a", "<h1>Not Found</h1>", 0, true), false},
		"a Status without details": {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}}, false},
	} {
		if got := Object(c.err, "pods", "a"); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
