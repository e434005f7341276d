package budgets

import (
	"context"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const (
	nodeName = "n1"
	// frozenLabel marks budgets whose status the disruption controller must not write.
	frozenLabel = "budgets.lab.evenkeel.io/frozen"
	group       = "lab.evenkeel.io"
)

var (
	widgets = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	gadgets = schema.GroupVersionResource{Group: group, Version: "v1", Resource: "gadgets"}
)

// createSharedObjects creates the node, the custom kinds and the policy that all cases share.
func createSharedObjects(ctx context.Context, controllers *rest.Config) error {
	has := corev1.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("1000Gi"),
		"pods": resource.MustParse("100000")}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Status: corev1.NodeStatus{Capacity: has, Allocatable: has,
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	if _, err := client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a node: %w", err)
	}
	if err := createCustomKinds(ctx); err != nil {
		return fmt.Errorf("creating custom kinds: %w", err)
	}
	if err := freezeBudgets(ctx, controllers); err != nil {
		return fmt.Errorf("creating the policy for frozen budgets: %w", err)
	}
	return nil
}

// createCustomKinds defines the kinds Widget, which has a scale subresource, and Gadget, which has none.
func createCustomKinds(ctx context.Context) error {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	for plural, kind := range map[string]string{"widgets": "Widget", "gadgets": "Gadget"} {
		version := map[string]any{"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
		if kind == "Widget" {
			version["subresources"] = map[string]any{"scale": map[string]any{
				"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
			version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec":   map[string]any{"type": "object", "properties": map[string]any{"replicas": map[string]any{"type": "integer"}}},
				"status": map[string]any{"type": "object", "properties": map[string]any{"replicas": map[string]any{"type": "integer"}}}}}}
		}
		crd := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": plural + "." + group},
			"spec": map[string]any{"group": group, "scope": "Namespaced", "versions": []any{version},
				"names": map[string]any{"plural": plural, "kind": kind}}}}
		if _, err := objects.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		_, err1 := objects.Resource(widgets).Namespace("default").List(ctx, metav1.ListOptions{})
		_, err2 := objects.Resource(gadgets).Namespace("default").List(ctx, metav1.ListOptions{})
		return err1 == nil && err2 == nil, nil
	})
}

// freezeBudgets creates an admission policy that denies the controllers' writes to the status of frozen budgets, and
// waits until it works. The policy does not match the eviction handler, which writes as another user.
func freezeBudgets(ctx context.Context, controllers *rest.Config) error {
	const name, isFrozen = "frozen-budgets", "this budget is frozen"
	updates := admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{admissionv1.Update},
		Rule: admissionv1.Rule{APIGroups: []string{"policy"}, APIVersions: []string{"v1"},
			Resources: []string{"poddisruptionbudgets/status"}}}
	expression := fmt.Sprintf("request.userInfo.username != 'admin' || !has(object.metadata.labels)"+
		" || !('%s' in object.metadata.labels)", frozenLabel)
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: updates}}},
			Validations: []admissionv1.Validation{{Expression: expression, Message: isFrozen}}}}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding,
		metav1.CreateOptions{}); err != nil {
		return err
	}
	const probe = "probe"
	if _, err := client.PolicyV1().PodDisruptionBudgets("default").Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: probe, Labels: map[string]string{frozenLabel: ""}}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	asControllers, err := kubernetes.NewForConfig(controllers)
	if err != nil {
		return err
	}
	return seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		api := asControllers.PolicyV1().PodDisruptionBudgets("default")
		b, err := api.Get(ctx, probe, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		_, err = api.UpdateStatus(ctx, b, metav1.UpdateOptions{})
		return err != nil && strings.Contains(err.Error(), isFrozen), nil
	})
}

// The clients of the shared control plane, and a running budgetcheck.
var (
	client      kubernetes.Interface
	objects     dynamic.Interface
	budgetcheck *budgetcheckProcess
)
