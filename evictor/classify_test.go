package evictor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel-project/evenkeel/plan"
)

var pods = schema.GroupResource{Resource: "pods"}

func withBudgetCause(err *apierrors.StatusError) error {
	err.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause,
		Message: "needs 3 healthy pods"}}}
	return err
}

func apiStatusError(code int32, reason metav1.StatusReason, msg string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: msg}}
}

// The texts of a real API server.
const (
	evacuation = `admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request: ` +
		`Eviction triggered evacuation of VMI "shop/vm1"`
	deniedByWebhook = `admission webhook "evictions.example.com" denied the request: no evictions on Fridays`
	deniedByPolicy  = `pods "d1" is forbidden: ValidatingAdmissionPolicy 'quiet' with binding 'quiet' denied request: no evictions now`
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		accepted bool
		unsure   bool
		stop     bool
		access   bool
		spent    bool
		outcome  plan.OutcomeKind
		code     plan.Code

		throttled  bool
		retryAfter time.Duration
	}{
		{name: "201", accepted: true},
		{name: "budget at 0", err: withBudgetCause(apierrors.NewTooManyRequests("no", 0)), outcome: plan.Blocked, code: plan.BlockedByPDB},
		{name: "budget not observed", err: withBudgetCause(apierrors.NewTooManyRequests("wait", 10)), outcome: plan.Blocked,
			code: plan.BlockedByPDB},
		{name: "throttled", err: apierrors.NewTooManyRequestsError("slow down"), throttled: true, outcome: plan.Blocked, code: plan.APIThrottled},
		{name: "throttled for a while", err: apierrors.NewTooManyRequests("slow down", 7), throttled: true, retryAfter: 7 * time.Second,
			outcome: plan.Blocked, code: plan.APIThrottled},
		{name: "negative budget", err: withBudgetCause(apierrors.NewForbidden(pods, "a", errors.New("pdb"))), outcome: plan.Blocked,
			code: plan.BlockedByPDB},
		{name: "policy, 422", err: apiStatusError(422, metav1.StatusReasonInvalid, deniedByPolicy), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "policy, 401", err: apiStatusError(401, metav1.StatusReasonUnauthorized, deniedByPolicy), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "webhook, 400", err: apiStatusError(400, "", deniedByWebhook), outcome: plan.Blocked, code: plan.BlockedByAdmission},
		{name: "webhook, 404", err: apiStatusError(404, metav1.StatusReasonNotFound, deniedByWebhook), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "webhook, 409", err: apiStatusError(409, metav1.StatusReasonConflict, deniedByWebhook), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "webhook, 422", err: apiStatusError(422, metav1.StatusReasonInvalid, deniedByWebhook), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "webhook, 429", err: apiStatusError(429, metav1.StatusReasonTooManyRequests, deniedByWebhook), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "evacuation", err: apiStatusError(429, "", evacuation), outcome: plan.InProgress, code: plan.EvictionInBackground},
		{name: "webhook, 500", err: apiStatusError(500, metav1.StatusReasonInternalError, deniedByWebhook), outcome: plan.Blocked,
			code: plan.BlockedByAdmission},
		{name: "webhook that fails", err: apierrors.NewInternalError(errors.New(`failed calling webhook "x": connection refused`)),
			unsure: true, code: plan.APIError},
		{name: "webhook, 403", err: apiStatusError(403, metav1.StatusReasonForbidden, deniedByWebhook), stop: true, access: true,
			outcome: plan.Blocked, code: plan.PermissionMissing},
		{name: "no permission", err: apierrors.NewForbidden(pods, "a", errors.New("rbac")), stop: true, access: true, outcome: plan.Blocked,
			code: plan.PermissionMissing},
		{name: "no credentials", err: apierrors.NewUnauthorized("token"), stop: true, outcome: plan.Blocked, code: plan.PermissionMissing},
		{name: "two budgets", err: apiStatusError(500, "",
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."), outcome: plan.Blocked,
			code: plan.MultiplePDBs},
		{name: "wrong UID", err: apierrors.NewConflict(pods, "a", errors.New("uid")), spent: true, outcome: plan.Dropped, code: plan.UIDChanged},
		{name: "gone", err: apierrors.NewNotFound(pods, "a"), outcome: plan.AlreadyGone, code: plan.PodGoneAlready},
		{name: "a 404 about another pod", err: apierrors.NewNotFound(pods, "b"), unsure: true, code: plan.APIError},
		{name: "a 404 of a proxy", err: apierrors.NewGenericServerResponse(404, "create", pods, "a", "<h1>Not Found</h1>", 0, true),
			unsure: true, code: plan.APIError},
		{name: "server error", err: apierrors.NewInternalError(errors.New("etcd")), unsure: true, code: plan.APIError},
		{name: "server timeout", err: apierrors.NewServerTimeout(pods, "create", 1), unsure: true, code: plan.APIError},
		{name: "unavailable", err: apiStatusError(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "x"), unsure: true,
			code: plan.APIError},
		{name: "deadline", err: context.DeadlineExceeded, unsure: true, code: plan.OutcomeUnknown},
		{name: "reset", err: fmt.Errorf("post: %w", errors.New("connection reset by peer")), unsure: true, code: plan.OutcomeUnknown},
		{name: "bad request", err: apierrors.NewBadRequest("x"), outcome: plan.UnknownOutcome, code: plan.APIError},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Classify(c.err, "a")
			if v.Accepted != c.accepted || v.Ambiguous != c.unsure || v.Stop != c.stop || v.CheckAccess != c.access || v.BudgetSpent != c.spent || v.Throttled != c.throttled ||
				v.RetryAfter != c.retryAfter || v.Outcome != c.outcome || v.Reason.Code != c.code {
				t.Errorf("got %+v", v)
			}
		})
	}
}

// TestRequestsThatAnOperatorCarriesOut: a refusal by the budget does not say whether the operator moves the pod, and so
// does a webhook in its own words if only an annotation announces the operator.
func TestRequestsThatAnOperatorCarriesOut(t *testing.T) {
	byBudget := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 429, Message: "Cannot evict pod as it would violate the pod's disruption budget.",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}}}}
	webhook := func(text string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 429, Message: `admission webhook "w" denied the request: ` + text}}
	}
	migrates, refuses := webhook(`Eviction triggered evacuation of VMI "shop/vm"`), webhook("VMI vm is configured with an eviction strategy but is not live-migratable")
	for _, c := range []struct {
		err  error
		only plan.RequestOnly
		want plan.OutcomeKind
		code plan.Code
	}{
		{byBudget, "", plan.Blocked, plan.BlockedByPDB},
		{byBudget, plan.ByOwner, plan.InProgress, plan.EvictionInBackground},
		{byBudget, plan.ByAnnotation, plan.InProgress, plan.EvictionInBackground},
		{migrates, plan.ByOwner, plan.InProgress, plan.EvictionInBackground},
		{refuses, "", plan.Blocked, plan.BlockedByAdmission},
		{refuses, plan.ByOwner, plan.Blocked, plan.BlockedByAdmission},
		{refuses, plan.ByAnnotation, plan.InProgress, plan.EvictionInBackground},
		{apierrors.NewTooManyRequests("slow down", 1), plan.ByAnnotation, plan.Blocked, plan.APIThrottled},
	} {
		if v := Classify(c.err, "d1").withOperator(plan.Move{RequestOnly: c.only}); v.Outcome != c.want || v.Reason.Code != c.code {
			t.Errorf("%v, request only by %q: %s %s, want %s %s", c.err, c.only, v.Outcome, v.Reason.Code, c.want, c.code)
		}
	}
}

// Webhooks, and programs that write conditions, choose the text of an answer.
func TestAnswersAndEventsAreBoundedAndPrintable(t *testing.T) {
	text := "no\x1b[2Jmore\u202eright\x00\n\tthan " + strings.Repeat("ä", 5000)
	budget := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 429, Message: text,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}}}}
	for _, err := range []error{
		budget, errors.New(text), &apierrors.StatusError{ErrStatus: metav1.Status{Code: 429, Message: text}},
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Message: text}},
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: 418, Message: text}},
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: 503, Message: text}},
	} {
		msg := Classify(err, "d").Reason.Message
		if len(msg) > 700 || strings.ContainsFunc(msg, func(r rune) bool { return !unicode.IsPrint(r) }) ||
			!strings.Contains(msg, "no[2Jmoreright than ") {
			t.Errorf("%d bytes: %.80q", len(msg), msg)
		}
	}
	if note := truncateNote(text); len(note) > maxNoteBytes || !strings.HasPrefix(note, "no[2Jmorerightthan ") {
		t.Errorf("note %.40q", note)
	}
}
