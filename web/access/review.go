package access

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// review asks the API server. It returns 200, 401 or 403, or an error if the API server does not say.
func (a *Reviewer) review(ctx context.Context, token, path string) (int, error) {
	user, err := a.authenticate(ctx, token)
	if err != nil {
		return 0, err
	}
	if user == nil {
		return http.StatusUnauthorized, nil
	}
	allowed, err := a.authorize(ctx, user, path)
	switch {
	case err != nil:
		return 0, err
	case !allowed:
		a.log.Debug("a client may not read this path", "path", path, "user", user.Username)
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

// authenticate returns the owner of a token, or nil if the API server does not accept the token.
func (a *Reviewer) authenticate(ctx context.Context, token string) (*authenticationv1.UserInfo, error) {
	request := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: a.audiences}}
	r, err := a.client.AuthenticationV1().TokenReviews().Create(ctx, request, metav1.CreateOptions{})
	if err != nil {
		return nil, describe("tokenreviews.authentication.k8s.io", err)
	}
	if !r.Status.Authenticated || r.Status.User.Username == "" {
		a.log.Debug("a token was refused", "reason", r.Status.Error)
		return nil, nil
	}
	// An authenticator that does not know audiences accepts tokens for all of them.
	if len(a.audiences) > 0 && !slices.ContainsFunc(r.Status.Audiences, func(s string) bool { return slices.Contains(a.audiences, s) }) {
		a.log.Debug("a token was refused: it is for another audience", "audiences", r.Status.Audiences)
		return nil, nil
	}
	return &r.Status.User, nil
}

// authorize reports whether a user may get a path.
func (a *Reviewer) authorize(ctx context.Context, user *authenticationv1.UserInfo, path string) (bool, error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for k, v := range user.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	request := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	r, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, request, metav1.CreateOptions{})
	if err != nil {
		return false, describe("subjectaccessreviews.authorization.k8s.io", err)
	}
	// An authorizer that failed has no opinion. Another one may still have allowed or denied.
	if problem := r.Status.EvaluationError; problem != "" && !r.Status.Allowed && !r.Status.Denied {
		return false, fmt.Errorf("the API server could not decide whether %s may get %s: %s", user.Username, path, problem)
	}
	return r.Status.Allowed && !r.Status.Denied, nil
}

// describe names the permission if it is missing. It never contains the token, which the API server does not repeat.
func describe(what string, err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("permission to create %s is missing; grant it to this account, in the chart with metrics.authorize: %w", what, err)
	}
	return fmt.Errorf("creating %s: %w", what, err)
}
