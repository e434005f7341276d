package evictor

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/kubernetes"
)

// podAPI is the part of the API that is used.
type podAPI interface {
	get(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	evict(ctx context.Context, e *policyv1.Eviction) error
}

// restAPI calls a real API server.
type restAPI struct{ client kubernetes.Interface }

// Each call is one request: the client would otherwise repeat it up to ten times
// when the answer carries Retry-After, each move for itself.
func (r restAPI) get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := r.client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").Name(name).MaxRetries(0).Do(ctx).Into(&pod)
	return &pod, err
}

func (r restAPI) evict(ctx context.Context, e *policyv1.Eviction) error {
	return r.client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(e.Namespace).Resource("pods").Name(e.Name).
		SubResource("eviction").MaxRetries(0).Body(e).Do(ctx).Error()
}
