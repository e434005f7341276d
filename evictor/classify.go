package evictor

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Verdict is what an answer of the Eviction API means.
type Verdict struct {
	// Accepted: the pod is on its way out. Presumed: no answer said so, and
	// somebody else may have taken it.
	Accepted, Presumed bool
	// Ambiguous: whether the pod was evicted must be found out by looking.
	Ambiguous bool
	// Outcome and Reason hold when it was neither accepted nor unsure; with
	// Unsure, the reason says what came instead of an answer.
	Outcome plan.OutcomeKind
	Reason  plan.Reason
	// Throttled: nothing was done, and the server asks to come back after
	// RetryAfter; 0 when it does not say.
	Throttled  bool
	RetryAfter time.Duration
	// Stop: nothing more may be evicted in this pass.
	Stop bool
	// BudgetSpent: the budget may have been taken although the pod stays.
	BudgetSpent bool
}

// Classify reads the answer to an eviction. The cases were measured on a real
// API server; docs/reference/eviction-api.md lists them.
func Classify(err error) Verdict {
	if err == nil {
		return Verdict{Accepted: true}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return Verdict{Ambiguous: true, Reason: plan.Reason{Code: plan.OutcomeUnknown, Message: "no answer: " + err.Error()}}
	}
	s := status.Status()
	byBudget := apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
	switch {
	case byBudget && (s.Code == http.StatusTooManyRequests || s.Code == http.StatusForbidden):
		return blockedVerdict(plan.BlockedByPDB, s.Message)
	case s.Code == http.StatusTooManyRequests:
		v := blockedVerdict(plan.APIThrottled, "the API server asks to slow down: "+s.Message)
		v.Throttled, v.RetryAfter = true, retryAfter(err)
		return v
	case s.Code == http.StatusForbidden || s.Code == http.StatusUnauthorized:
		return stopVerdict(plan.PermissionMissing, permissionMessage("create pods/eviction", err))
	case s.Code == http.StatusNotFound:
		return Verdict{Outcome: plan.AlreadyGone, Reason: plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}}
	case s.Code == http.StatusConflict:
		return Verdict{Outcome: plan.Dropped, BudgetSpent: true, Reason: plan.Reason{Code: plan.UIDChanged, Message: "another pod of the same name stands there now"}}
	case s.Code == http.StatusInternalServerError && s.Reason == metav1.StatusReasonUnknown && strings.Contains(s.Message, "more than one PodDisruptionBudget"):
		return blockedVerdict(plan.MultiplePDBs, s.Message)
	case s.Code >= 500:
		return Verdict{Ambiguous: true, Reason: plan.Reason{Code: plan.APIError, Message: fmt.Sprintf("the API server answered %d: %s", s.Code, s.Message)}}
	}
	return Verdict{Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.APIError, Message: fmt.Sprintf("the API server answered %d: %s", s.Code, s.Message)}}
}

func retryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}

// permissionMessage tells a right that is missing from an account that is not
// known.
func permissionMessage(to string, err error) string {
	if apierrors.IsUnauthorized(err) {
		return "the API server does not accept the credentials (" + to + "): " + err.Error() + "; is the token still valid?"
	}
	return "permission to " + to + " is missing; grant it to this account: " + err.Error()
}

func blockedVerdict(code plan.Code, msg string) Verdict {
	return Verdict{Outcome: plan.Blocked, Reason: plan.Reason{Code: code, Message: msg}}
}

func stopVerdict(code plan.Code, msg string) Verdict {
	return Verdict{Outcome: plan.Blocked, Stop: true, Reason: plan.Reason{Code: code, Message: msg}}
}
