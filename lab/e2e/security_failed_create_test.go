package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestSecurityFailedCreateKeepsPods: a ValidatingAdmissionPolicy refuses new pods, so StatefulSet db could not scale
// up, and it scales down again. It has all its pods then, and no condition tells of the refusal; only an event does.
// Its pods must stay until a pod could be created.
func TestSecurityFailedCreateKeepsPods(t *testing.T) {
	skipIfShort(t)
	ns := seedApps(t, nil)
	createStatefulSetOnFirstNode(t, ns, 3)
	config := testbed.ConfigFile(t, zonesConfig+`
guards: {minPodAge: 0s}
limits: {perOwner: unlimited, perNamespace: unlimited, perNode: unlimited}
evictor: {verifyTimeout: 10s}
`)
	waitForNextSecond(t) // the event must be newer than the pods
	allowPods := refusePods(t, ns)
	scaleStatefulSet(t, ns, 4)
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		opts := metav1.ListOptions{FieldSelector: "reason=FailedCreate"}
		events, err := lab.Client.CoreV1().Events(ns).List(t.Context(), opts)
		return err == nil && len(events.Items) > 0, err
	}); err != nil {
		t.Fatalf("waiting for an event about the refused pod: %v", err)
	}
	scaleStatefulSet(t, ns, 3)
	waitForStatefulSet(t, ns, 3)

	args := []string{"run", "--once", "-o", "json", "--config", config, "--lease-namespace", ns}
	r := parseReport(t, runEvenkeel(t, args...).stdout)
	if r.NotMoved()["ReplacementRefused"] == 0 || len(r.Spec.Moves) != 0 {
		t.Errorf("%d moves, rejections %v, outcomes %v", len(r.Spec.Moves), r.NotMoved(), r.OutcomeCodes())
	}
	checkEvictions(t, ns, 0)
	if t.Failed() {
		return
	}

	allowPods()
	waitForNextSecond(t) // the pod must be newer than the event
	scaleStatefulSet(t, ns, 4)
	waitForStatefulSet(t, ns, 4)
	if r := runEvenkeel(t, args...); r.code != 0 {
		t.Errorf("exit %d", r.code)
	}
	checkEvictions(t, ns, 1)
}

// waitForNextSecond waits until new timestamps of objects, which have a precision of one second,
// are later than those of existing objects.
func waitForNextSecond(t *testing.T) {
	t.Helper()
	last := time.Now().Unix()
	later := func() (bool, error) { return time.Now().Unix() > last, nil }
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, later))
}

// createStatefulSetOnFirstNode creates StatefulSet db, whose first pods run on node n1.
func createStatefulSetOnFirstNode(t *testing.T, ns string, replicas int32) {
	t.Helper()
	cordon := func(on bool) {
		for _, name := range []string{"n2", "n3"} {
			patchNode(t, name, map[string]any{"spec": map[string]any{"unschedulable": on}})
		}
	}
	cordon(true)
	t.Cleanup(func() { setCordoned(t, false) })
	labels := map[string]string{"app": "db"}
	grace := int64(0)
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{
					Name: "db", Image: "registry.k8s.io/pause:3.10",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}}}}}}}}
	if _, err := lab.Client.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitForStatefulSet(t, ns, replicas)
	cordon(false)
	setCordoned(t, false)
}

func scaleStatefulSet(t *testing.T, ns string, replicas int32) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas)
	api := lab.Client.AppsV1().StatefulSets(ns)
	if _, err := api.Patch(t.Context(), "db", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// waitForStatefulSet waits until the StatefulSet has this many pods, all Ready, and its controller has seen its spec.
func waitForStatefulSet(t *testing.T, ns string, replicas int32) {
	t.Helper()
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		s, err := lab.Client.AppsV1().StatefulSets(ns).Get(t.Context(), "db", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if s.Status.ObservedGeneration != s.Generation || s.Status.Replicas != replicas || s.Status.AvailableReplicas != replicas {
			return false, fmt.Errorf("the status is %+v", s.Status)
		}
		return true, nil
	}); err != nil {
		t.Fatalf("waiting for the StatefulSet: %v", err)
	}
}

// refusePods creates a ValidatingAdmissionPolicy that refuses new pods of a namespace, and waits until it does. The
// returned function deletes the policy and waits until new pods are admitted.
func refusePods(t *testing.T, ns string) (allow func()) {
	t.Helper()
	api := lab.Client.AdmissionregistrationV1()
	newPods := admissionregistrationv1.RuleWithOperations{
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{NamespaceSelector: selectNamespace(ns),
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: newPods}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no new pods"}}}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: ns,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}}}
	if _, err := api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	remove := func() {
		_ = api.ValidatingAdmissionPolicyBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
		_ = api.ValidatingAdmissionPolicies().Delete(context.Background(), ns, metav1.DeleteOptions{})
	}
	t.Cleanup(remove)
	if _, err := api.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitUntilRefused := func(want bool) {
		t.Helper()
		probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10"}}}}
		if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
			dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
			_, err := lab.Client.CoreV1().Pods(ns).Create(t.Context(), probe, dryRun)
			return want == (err != nil && strings.Contains(err.Error(), "no new pods")), nil
		}); err != nil {
			t.Fatalf("waiting until new pods are refused (%v): %v", want, err)
		}
	}
	waitUntilRefused(true)
	return func() { remove(); waitUntilRefused(false) }
}
