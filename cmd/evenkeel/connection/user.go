package connection

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LookupTimeout bounds requests for information that a command can do without.
const LookupTimeout = 4 * time.Second

// User returns the user name under which the API server knows this client. If the API server returns no name, User
// returns the operating system user, with a note.
func User(ctx context.Context, client kubernetes.Interface) string {
	name, _ := KnownUser(ctx, client)
	return name
}

// KnownUser returns the same name as User, and whether it is that of the API server.
func KnownUser(ctx context.Context, client kubernetes.Interface) (name string, known bool) {
	ctx, cancel := context.WithTimeout(ctx, LookupTimeout)
	defer cancel()
	r, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err == nil && r.Status.UserInfo.Username != "" {
		return r.Status.UserInfo.Username, true
	}
	name = "user " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return name + " (user of this machine; the API server returned no user name)", false
}
