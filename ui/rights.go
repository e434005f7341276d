package ui

import (
	"context"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// rightLifetime is the age up to which an answer about a right is used.
const rightLifetime = 20 * time.Second

// rightTimeout bounds a question about a right.
const rightTimeout = 4 * time.Second

// right is something that a person may do. Namespace is empty for all namespaces.
type right struct{ verb, group, resource, namespace string }

// String names the right as a page does.
func (r right) String() string {
	text := r.verb + " " + r.resource
	if strings.Contains(r.group, "metrics") {
		text += "." + r.group
	}
	if r.namespace != "" {
		text += " in namespace " + r.namespace
	}
	return text
}

// ofEvenkeel returns a right about the objects of a release.
func ofEvenkeel(verb, resource, namespace string) right {
	return right{verb, v1alpha1.GroupVersion.Group, resource, namespace}
}

// rights asks what the person may do. It is safe for concurrent use.
type rights struct {
	client kubernetes.Interface
	clock  clock.PassiveClock

	mu    sync.Mutex
	known map[right]answered
}

type answered struct {
	may bool
	at  time.Time
}

func newRights(client kubernetes.Interface, c clock.PassiveClock) *rights {
	return &rights{client: client, clock: c, known: map[right]answered{}}
}

// may reports whether the person has a right. If the API server does not say, the page offers the action, and the
// answer to the action itself counts.
func (a *rights) may(ctx context.Context, r right) bool {
	a.mu.Lock()
	k, found := a.known[r]
	a.mu.Unlock()
	if found && a.clock.Since(k.at) < rightLifetime {
		return k.may
	}
	ctx, cancel := context.WithTimeout(ctx, rightTimeout)
	defer cancel()
	answer, err := a.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: r.group, Resource: r.resource, Namespace: r.namespace}}}, metav1.CreateOptions{})
	if err != nil {
		return !found || k.may
	}
	k = answered{may: answer.Status.Allowed && !answer.Status.Denied, at: a.clock.Now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[r] = k
	return k.may
}
