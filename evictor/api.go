package evictor

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/kubernetes"
)

// podAPI is the part of the Kubernetes API that the evictor uses.
type podAPI interface {
	get(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	evict(ctx context.Context, e *policyv1.Eviction) error
}

// restAPI calls a real API server. Each call sends exactly one request. The typed client would
// repeat each request up to ten times if the answer has a Retry-After header.
type restAPI struct{ client kubernetes.Interface }

func (r restAPI) get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := r.client.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").Name(name).MaxRetries(0).Do(ctx).Into(&pod)
	return &pod, err
}

func (r restAPI) evict(ctx context.Context, e *policyv1.Eviction) error {
	return r.client.PolicyV1().RESTClient().Post().AbsPath("/api/v1").Namespace(e.Namespace).Resource("pods").Name(e.Name).
		SubResource("eviction").MaxRetries(0).Body(e).Do(ctx).Error()
}
