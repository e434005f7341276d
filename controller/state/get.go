package state

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// errOtherObject means that the answer to a read is about another object, so it is not from an API server.
var errOtherObject = errors.New("the answer is about another object")

// getConfigMap reads a ConfigMap. It returns nil without an error only if the API server says that this ConfigMap does
// not exist. A 404 from another server, such as a proxy, is an error: the ConfigMap may exist.
func getConfigMap(ctx context.Context, client kubernetes.Interface, namespace, name string) (*corev1.ConfigMap, error) {
	m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case saysNotFound(err, name):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Name != name:
		return nil, fmt.Errorf("%w (%q)", errOtherObject, m.Name)
	}
	return m, nil
}

// saysNotFound reports whether an API server answered that the ConfigMap does not exist. An API server names the
// object in the details of its answer. client-go makes such details for other answers as well, and marks them as
// unexpected.
func saysNotFound(err error, name string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && d.Kind == "configmaps" && d.Name == name
}
