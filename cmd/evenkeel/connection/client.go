package connection

import (
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Connect returns a client, and its configuration.
func Connect(c *rest.Config) (kubernetes.Interface, *rest.Config, error) {
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to %s: %w; check the kubeconfig", ServerHost(c), err)
	}
	return client, c, nil
}

// ServerHost returns the URL of the API server, with any password redacted.
func ServerHost(c *rest.Config) string {
	u, err := url.Parse(c.Host)
	if err != nil {
		return "the API server"
	}
	return u.Redacted()
}

// ExplainForbidden names the missing permission if err says that the API server denied the request.
func ExplainForbidden(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("permission to %s is missing; grant it to this account: %w", what, err)
	}
	return err
}
