package budgets

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// serverAnswer is the server's answer to an eviction.
type serverAnswer struct {
	allowed bool
	said    string
}

// sendEviction sends one eviction. Every answer is an error, except success and a refusal because of a budget.
func sendEviction(ctx context.Context, pod *corev1.Pod, dryRun bool) (serverAnswer, error) {
	err := postEviction(ctx, pod.Namespace, pod.Name, pod.UID, dryRun)
	if err == nil {
		return serverAnswer{allowed: true}, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return serverAnswer{}, err
	}
	s := status.Status()
	switch {
	case apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) &&
		(s.Code == http.StatusTooManyRequests || s.Code == http.StatusForbidden):
		return serverAnswer{said: fmt.Sprintf("%d %s", s.Code, causeMessages(s))}, nil
	case s.Code == http.StatusInternalServerError && strings.Contains(s.Message, "more than one PodDisruptionBudget"):
		return serverAnswer{said: "500 " + s.Message}, nil
	}
	return serverAnswer{}, fmt.Errorf("evicting %s: code %d: %w", pod.Name, s.Code, err)
}

func causeMessages(s metav1.Status) string {
	var out []string
	for _, c := range s.Details.Causes {
		out = append(out, c.Message)
	}
	return strings.Join(out, "; ")
}

// postEviction sends an eviction, and does not retry a refused request even if the answer has a Retry-After header.
func postEviction(ctx context.Context, ns, name string, uid types.UID, dryRun bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	e := &policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"},
		ObjectMeta:    metav1.ObjectMeta{Namespace: ns, Name: name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}}
	if dryRun {
		e.DeleteOptions.DryRun = []string{metav1.DryRunAll}
	}
	return client.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name(name).SubResource("eviction").
		MaxRetries(0).Body(e).Do(ctx).Error()
}

// chargeByConflict requests an eviction with a wrong UID. The API server rejects it with a conflict, but the budget
// has already been decremented. The server refuses the eviction but charges the budget. The result is the charged
// budget; empty if no pod of the case qualifies.
func (c *testCase) chargeByConflict(ctx context.Context) (spent string, err error) {
	for _, plan := range c.budgets {
		b, err := client.PolicyV1().PodDisruptionBudgets(c.namespace).Get(ctx, plan.name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if b.Status.DisruptionsAllowed == 0 {
			continue
		}
		for _, p := range c.pods {
			if p.state != ready || c.countBudgetsOf(p) != 1 || !budgetSelects(b, p) {
				continue
			}
			err := postEviction(ctx, c.namespace, p.name, noUID, false)
			if !apierrors.IsConflict(err) {
				return "", fmt.Errorf("evicting %s with a wrong UID: want a conflict, got %w", p.name, err)
			}
			return c.namespace + "/" + plan.name, nil
		}
	}
	return "", nil
}

func budgetSelects(b *policyv1.PodDisruptionBudget, p podPlan) bool {
	return selectorMatches(b.Spec.Selector, p)
}
