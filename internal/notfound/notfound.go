// Package notfound decides whether an API server has said that an object does not exist. A 404 alone
// does not say so: a proxy or a load balancer answers 404 if it has no backend, and an API server
// answers 404 about a namespace or another object that the request needs.
package notfound

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Object reports whether an API server answered that the object does not exist. resource is the
// plural name, such as "pods". An API server names the object in the details of its answer.
// client-go makes such details for other answers as well, and marks them as unexpected.
func Object(err error, resource, name string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && d.Kind == resource && d.Name == name
}
