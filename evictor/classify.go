package evictor

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/internal/notfound"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Verdict is the meaning of an answer of the Eviction API.
type Verdict struct {
	// Accepted: the pod is terminating or gone. Presumed: no answer confirmed the eviction, and
	// another client may have deleted the pod.
	Accepted, Presumed bool
	// Ambiguous: the answer does not say whether the pod was evicted. The caller must read the pod.
	Ambiguous bool
	// Outcome and Reason are valid if the eviction is neither accepted nor ambiguous. If it is
	// ambiguous, Reason says what was received instead of an answer.
	Outcome plan.OutcomeKind
	Reason  plan.Reason
	// Throttled: the API server did nothing and asks the client to wait for RetryAfter, which is 0
	// if the server gives no time.
	Throttled  bool
	RetryAfter time.Duration
	// Stop: the pass must not evict any more pods.
	Stop bool
	// CheckAccess: a missing permission and admission give the same answer. The caller must ask the API server whether
	// this account may evict. Until then, the verdict is that of a missing permission.
	CheckAccess bool
	refusal     string // the message of the answer; set if CheckAccess is set
	// BudgetSpent: the API server may have reduced the budget although the pod remains.
	BudgetSpent bool
}

// Classify returns the meaning of an answer to the eviction of a pod. The cases were observed on a
// real API server; docs/reference/eviction-api.md lists them.
func Classify(err error, pod string) Verdict {
	if err == nil {
		return Verdict{Accepted: true}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return Verdict{Ambiguous: true, Reason: plan.Reason{Code: plan.OutcomeUnknown, Message: "no answer: " + singleLine(err.Error())}}
	}
	s := status.Status()
	byBudget := apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
	switch {
	case byBudget && (s.Code == http.StatusTooManyRequests || s.Code == http.StatusForbidden):
		return blockedVerdict(plan.BlockedByPDB, singleLine(s.Message))
	case s.Code == http.StatusTooManyRequests && strings.Contains(s.Message, evacuationText):
		return Verdict{Outcome: plan.InProgress, Reason: plan.Reason{Code: plan.EvictionInBackground,
			Message: "the eviction continues in the background: " + singleLine(s.Message)}}
	case deniedByAdmission(s.Message) && s.Code != http.StatusForbidden:
		return admissionVerdict(s.Message)
	case s.Code == http.StatusTooManyRequests:
		v := blockedVerdict(plan.APIThrottled, "the API server asks to slow down: "+singleLine(s.Message))
		seconds, _ := apierrors.SuggestsClientDelay(err)
		v.Throttled, v.RetryAfter = true, time.Duration(seconds)*time.Second
		return v
	case s.Code == http.StatusForbidden || s.Code == http.StatusUnauthorized:
		v := blockedVerdict(plan.PermissionMissing, permissionMessage("create pods/eviction", err))
		v.Stop, v.CheckAccess = true, s.Code == http.StatusForbidden
		v.refusal = singleLine(s.Message)
		return v
	case notfound.Object(err, "pods", pod):
		return Verdict{Outcome: plan.AlreadyGone, Reason: plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}}
	case s.Code == http.StatusConflict:
		return Verdict{Outcome: plan.Dropped, BudgetSpent: true,
			Reason: plan.Reason{Code: plan.UIDChanged, Message: "another pod now has the same name"}}
	case s.Code == http.StatusInternalServerError && s.Reason == metav1.StatusReasonUnknown &&
		strings.Contains(s.Message, "more than one PodDisruptionBudget"):
		return blockedVerdict(plan.MultiplePDBs, singleLine(s.Message))
	case s.Code >= 500, s.Code == http.StatusNotFound: // a 404 may come from a proxy, or be about another object
		return Verdict{Ambiguous: true, Reason: plan.Reason{Code: plan.APIError,
			Message: fmt.Sprintf("the API server answered %d: %s", s.Code, singleLine(s.Message))}}
	}
	return Verdict{Outcome: plan.UnknownOutcome, Reason: plan.Reason{Code: plan.APIError,
		Message: fmt.Sprintf("the API server answered %d: %s", s.Code, singleLine(s.Message))}}
}

// evacuationText is in the answer of a webhook that accepts an eviction and executes it later. KubeVirt's webhook
// answers so when it begins or continues the live migration of a virtual machine; the descheduler reads the same text.
const evacuationText = "Eviction triggered evacuation"

// deniedByAdmission reports whether a webhook or a ValidatingAdmissionPolicy denied the request. Both may answer with
// any status code from 400 on. The API server puts these words before the text of the webhook or of the policy.
func deniedByAdmission(msg string) bool {
	return strings.HasPrefix(msg, `admission webhook "`) && strings.Contains(msg, `" denied the request`) ||
		strings.Contains(msg, "ValidatingAdmissionPolicy '") && strings.Contains(msg, "' denied request: ")
}

// admissionVerdict is the verdict on an eviction that admission refused. Only this pod is affected. The workload backs
// off, so the next pass does not try the same eviction again.
func admissionVerdict(msg string) Verdict {
	return blockedVerdict(plan.BlockedByAdmission, "admission refused the eviction: "+singleLine(msg))
}

// withOperator returns the verdict on the request of a move. If the operator of the pod moves it upon a request, the
// refusal by its budget does not say whether it does, so the move counts as in the background. Webhooks of operators
// that only an annotation announces answer in their own words; those of known owners say when they begin
// (evacuationText).
func (v Verdict) withOperator(m plan.Move) Verdict {
	if v.Reason.Code == plan.BlockedByPDB && m.RequestOnly != "" || v.Reason.Code == plan.BlockedByAdmission && m.RequestOnly == plan.ByAnnotation {
		v.Outcome = plan.InProgress
		v.Reason = plan.Reason{Code: plan.EvictionInBackground, Message: "the operator of the pod was asked to move it: " + v.Reason.Message}
	}
	return v
}

// maxMessageBytes bounds a text of a webhook or policy in reports and in the stored state.
const maxMessageBytes = 512

// singleLine returns the beginning of a text in one line, without characters that control a
// terminal or change the direction of text.
func singleLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return printable(s[:min(len(s), maxMessageBytes)])
}

// printable drops invalid and invisible characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// permissionMessage returns a message with a remedy: for a missing permission, or for credentials
// that the API server does not accept.
func permissionMessage(to string, err error) string {
	if apierrors.IsUnauthorized(err) {
		return "the API server does not accept the credentials (" + to + "): " + singleLine(err.Error()) + "; is the token still valid?"
	}
	return "permission to " + to + " is missing; grant it to this account: " + singleLine(err.Error())
}

func blockedVerdict(code plan.Code, msg string) Verdict {
	return Verdict{Outcome: plan.Blocked, Reason: plan.Reason{Code: code, Message: msg}}
}
