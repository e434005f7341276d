package state

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/internal/notfound"
)

// errOtherObject means that the answer to a read is about another object, so it is not from an API server.
var errOtherObject = errors.New("the answer is about another object")

// getConfigMap reads a ConfigMap. It returns nil without an error only if the API server says that this ConfigMap does
// not exist. A 404 from another server, such as a proxy, is an error: the ConfigMap may exist.
func getConfigMap(ctx context.Context, client kubernetes.Interface, namespace, name string) (*corev1.ConfigMap, error) {
	m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case notfound.Object(err, "configmaps", name):
		return nil, nil
	case err != nil:
		return nil, err
	case m.Name != name:
		return nil, fmt.Errorf("%w (%q)", errOtherObject, m.Name)
	}
	return m, nil
}
