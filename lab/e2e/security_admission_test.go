package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// serveWebhook starts a validating webhook for the evictions of a namespace and waits until the API server calls it.
// decide receives each request that is not a dry run. A nil status admits the eviction; otherwise the webhook denies it
// with this status.
func serveWebhook(t *testing.T, ns string, decide func(r *admissionv1.AdmissionRequest) *metav1.Status) {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := &admissionv1.AdmissionResponse{UID: review.Request.UID}
		var eviction policyv1.Eviction // it says whether it is a dry run; the request does not
		if json.Unmarshal(review.Request.Object.Raw, &eviction) == nil && eviction.DeleteOptions != nil && len(eviction.DeleteOptions.DryRun) > 0 {
			answer.Result = &metav1.Status{Message: probeText, Code: http.StatusBadRequest}
		} else {
			answer.Result = decide(review.Request)
		}
		answer.Allowed = answer.Result == nil
		review.Request, review.Response = nil, answer
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	none, limit := admissionregistrationv1.SideEffectClassNone, int32(30)
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "evictions.example.com", SideEffects: &none, TimeoutSeconds: &limit,
			AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: selectNamespace(ns),
			Rules: []admissionregistrationv1.RuleWithOperations{{Rule: evictionRule,
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}}},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &srv.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}}}}
	api := lab.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := api.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), ns, metav1.DeleteOptions{}) })
	waitUntilDenied(t, ns, probeText)
}

const probeText = "answer to a dry run"

var evictionRule = admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}}

func selectNamespace(ns string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}}
}

// createPolicy creates a ValidatingAdmissionPolicy that denies the evictions of Deployment d, and waits until it does.
func createPolicy(t *testing.T, ns string, reason *metav1.StatusReason) {
	t.Helper()
	api := lab.Client.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{NamespaceSelector: selectNamespace(ns),
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Rule: evictionRule, Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}}}}},
			Validations: []admissionregistrationv1.Validation{{Expression: `!object.metadata.name.startsWith("d-")`, Reason: reason,
				Message: "no evictions of d"}}}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: ns,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}}}
	if _, err := api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.ValidatingAdmissionPolicies().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = api.ValidatingAdmissionPolicyBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
	})
	if _, err := api.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitUntilDenied(t, ns, "no evictions of d")
}

// dryRunUserAgent marks the requests of waitUntilDenied in the audit log.
const dryRunUserAgent = "dry-run"

// waitUntilDenied sends dry-run evictions of a pod of d until admission denies one with the given text.
func waitUntilDenied(t *testing.T, ns, text string) {
	t.Helper()
	conf := rest.CopyConfig(lab.Config)
	conf.UserAgent = dryRunUserAgent
	client := must.Get(kubernetes.NewForConfig(conf))(t)
	pod := seededPod(t, ns, "d", 0)
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		err := client.PolicyV1().Evictions(ns).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: pod},
			DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}})
		if err != nil && strings.Contains(err.Error(), text) {
			return true, nil
		}
		return false, fmt.Errorf("the last answer was %v", err)
	}); err != nil {
		t.Fatalf("waiting until admission denies evictions: %v", err)
	}
}

// TestSecurityAdmissionBlocksOnePod has the evictions of Deployment d denied by a real ValidatingAdmissionPolicy and by
// a real webhook, with each status code that they may set. The pass must go on and evict pods of Deployment e. The next
// pass must leave d alone.
func TestSecurityAdmissionBlocksOnePod(t *testing.T) {
	skipIfShort(t)
	forbidden, invalid := metav1.StatusReasonForbidden, metav1.StatusReasonInvalid
	webhook := func(code int32) func(*testing.T, string) {
		return func(t *testing.T, ns string) {
			serveWebhook(t, ns, func(r *admissionv1.AdmissionRequest) *metav1.Status {
				if !strings.HasPrefix(r.Name, "d-") {
					return nil
				}
				return &metav1.Status{Code: code, Message: "no evictions of d"}
			})
		}
	}
	for _, c := range []struct {
		name  string
		admit func(t *testing.T, ns string)
	}{
		{"policy 403", func(t *testing.T, ns string) { createPolicy(t, ns, &forbidden) }},
		{"policy 422", func(t *testing.T, ns string) { createPolicy(t, ns, &invalid) }},
		{"webhook 403", webhook(403)},
		{"webhook 400", webhook(400)},
		{"webhook 422", webhook(422)},
	} {
		t.Run(c.name, func(t *testing.T) {
			place := []string{"n1", "n2", "n3", "n3", "n3", "n3"}
			ns := seedApps(t, []seed.App{{Name: "d", MilliCPU: 100, MemoryMi: 100, Nodes: place, GraceSeconds: 1},
				{Name: "e", MilliCPU: 100, MemoryMi: 100, Nodes: place, GraceSeconds: 1}})
			before := podUIDs(t, ns)
			c.admit(t, ns)
			args := []string{"run", "--once", "-o", "json", "--lease-namespace", ns, "--config", testbed.ConfigFile(t, zonesConfig)}
			r := runEvenkeel(t, args...)
			codes := parseReport(t, r.stdout).OutcomeCodes()
			if r.code != 0 || !slices.Contains(codes, "blocked BlockedByAdmission") || !slices.Contains(codes, "evicted ZoneSkewed") {
				t.Errorf("exit %d, outcomes %v; want exit 0, a blocked and an evicted pod", r.code, codes)
			}
			checkZones(t, ns, "d", 1, 1, 4)
			if after := podUIDs(t, ns); len(after) != len(before) {
				t.Errorf("%d pods, want %d", len(after), len(before))
			}
			r = runEvenkeel(t, args...)
			second := parseReport(t, r.stdout)
			if r.code != 0 || slices.Contains(second.OutcomeCodes(), "blocked BlockedByAdmission") ||
				second.NotMoved()["BackedOff"] == 0 {
				t.Errorf("second pass: exit %d, outcomes %v, rejections %v; want pods of d rejected with BackedOff", r.code,
					second.OutcomeCodes(), second.NotMoved())
			}
		})
	}
}
