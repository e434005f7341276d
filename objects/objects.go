// Package objects is the client for the objects of the API group evenkeel.io.
//
// It decides nothing about their content. A call ends within callTimeout, because a leader that has lost its Lease must
// not have a write in progress when the next leader starts (package leader). The package repeats no write.
package objects

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/notfound"
)

// ReleaseName is the name of the Rebalancer and of the RebalanceHistory in the namespace of a release.
const ReleaseName = "evenkeel"

// callTimeout bounds each call but watches.
const callTimeout = 4 * time.Second

// Kind reads and writes the objects of one kind in a namespace. T is a pointer to the object, and L to its list.
type Kind[T, L any] interface {
	Create(ctx context.Context, o T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, o T, opts metav1.UpdateOptions) (T, error)
	UpdateStatus(ctx context.Context, o T, opts metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
}

// Client reads and writes the objects of a release.
type Client struct {
	Namespace   string
	Plans       Kind[*v1alpha1.RebalancePlan, *v1alpha1.RebalancePlanList]
	Rebalancers Kind[*v1alpha1.Rebalancer, *v1alpha1.RebalancerList]
	Runs        Kind[*v1alpha1.RebalanceRun, *v1alpha1.RebalanceRunList]
	Histories   Kind[*v1alpha1.RebalanceHistory, *v1alpha1.RebalanceHistoryList]
	// Definitions returns the OpenAPI document with the schemas of these kinds, as the API server publishes it.
	Definitions func(ctx context.Context) ([]byte, error)
	// PlanVersions lists the metadata of plans without their content.
	PlanVersions func(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error)
	// Watch reports changes of the objects of a resource, such as rebalanceplans, without their content.
	Watch func(ctx context.Context, resource string) (watch.Interface, error)

	checked time.Time // the last success of CheckDefinitions, or zero
}

// New returns a client for the objects in a namespace. It copies the configuration of the connection.
func New(config *rest.Config, namespace string) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion, c.Timeout = "/apis", &v1alpha1.GroupVersion, callTimeout
	c.NegotiatedSerializer, c.ContentType = serializer.NewCodecFactory(scheme).WithoutConversion(), runtime.ContentTypeJSON
	c.AcceptContentTypes = runtime.ContentTypeJSON
	names, err := metadata.NewForConfig(metadata.ConfigFor(c))
	if err != nil {
		return nil, fmt.Errorf("connecting to the objects of evenkeel.io: %w", err)
	}
	lasting := metadata.ConfigFor(c)
	lasting.Timeout = 0 // a watch lasts until its context ends
	changes, err := metadata.NewForConfig(lasting)
	if err != nil {
		return nil, fmt.Errorf("connecting to the objects of evenkeel.io: %w", err)
	}
	r, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to the objects of evenkeel.io: %w", err)
	}
	codec := runtime.NewParameterCodec(scheme)
	return &Client{
		Namespace:   namespace,
		Plans:       gentype.NewClientWithList("rebalanceplans", r, codec, namespace, newOf[v1alpha1.RebalancePlan], newOf[v1alpha1.RebalancePlanList]),
		Rebalancers: gentype.NewClientWithList("rebalancers", r, codec, namespace, newOf[v1alpha1.Rebalancer], newOf[v1alpha1.RebalancerList]),
		Runs:        gentype.NewClientWithList("rebalanceruns", r, codec, namespace, newOf[v1alpha1.RebalanceRun], newOf[v1alpha1.RebalanceRunList]),
		Histories: gentype.NewClientWithList("rebalancehistories", r, codec, namespace, newOf[v1alpha1.RebalanceHistory],
			newOf[v1alpha1.RebalanceHistoryList]),
		Definitions:  readDefinitions(r),
		PlanVersions: names.Resource(v1alpha1.GroupVersion.WithResource("rebalanceplans")).Namespace(namespace).List,
		Watch: func(ctx context.Context, resource string) (watch.Interface, error) {
			return changes.Resource(v1alpha1.GroupVersion.WithResource(resource)).Namespace(namespace).Watch(ctx, metav1.ListOptions{})
		},
	}, nil
}

func newOf[T any]() *T { return new(T) }

// IsMissing reports whether the API server said that the object does not exist, which says that its kind exists.
func IsMissing(err error, resource, name string) bool { return notfound.Object(err, resource, name) }

// IsKindMissing reports whether the API server does not know a kind: its CustomResourceDefinition is not installed.
func IsKindMissing(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err)
}

// Explain adds to the error of a call what to do about it.
func Explain(err error) error {
	switch {
	case IsKindMissing(err):
		return fmt.Errorf("the cluster does not know this kind: %w; %s", err, installDefinitions)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; the chart's Role of this version grants the permission", err)
	}
	return err
}
