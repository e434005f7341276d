package load

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// seedApps creates apps in a new namespace. When the test ends, seedApps deletes the namespace and removes hints from
// nodes.
func seedApps(t *testing.T, apps []seed.App) (ns string) {
	t.Helper()
	ns = namespaceName(t)
	ns = ns[:min(len(ns), 60)]
	t.Cleanup(func() {
		if err := seed.DeleteNamespace(context.Background(), stack.Client, ns); err != nil {
			t.Errorf("deleting namespace %s: %v", ns, err)
		}
		if err := removeHints(context.Background()); err != nil {
			t.Errorf("removing hints from nodes: %v", err)
		}
	})
	must.Succeed(t, seed.CreateApps(t.Context(), stack.Client, ns, apps))
	return ns
}

// removeHints removes all hints from all nodes.
func removeHints(ctx context.Context) error {
	patch := []byte(`{"metadata":{"labels":{"evenkeel.io/pressure":null,"status":null},` +
		`"annotations":{"evenkeel.io/pressure":null}},"spec":{"taints":null}}`)
	for i := 1; i <= nodeCount; i++ {
		_, err := stack.Client.CoreV1().Nodes().Patch(ctx, fmt.Sprintf("n%d", i), types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// addNode adds a node and removes it when the test ends.
func addNode(t *testing.T, n usagestack.Node) {
	t.Helper()
	t.Cleanup(func() {
		if err := stack.Client.CoreV1().Nodes().Delete(context.Background(), n.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	must.Succeed(t, stack.AddNode(t.Context(), n))
}

// repeatNode returns a list with the node's name once per pod.
func repeatNode(node string, pods int) []string { return slices.Repeat([]string{node}, pods) }

func setUsage(t *testing.T, ns, app string, milliCPU int64) {
	t.Helper()
	must.Succeed(t, stack.SetUsage(t.Context(), ns, app, milliCPU, 64))
}

func getNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := must.Get(stack.Client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{}))(t)
	return n
}

// hasHintTaint reports whether the node has a hint taint.
func hasHintTaint(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == "evenkeel.io/pressure" && taint.Effect == corev1.TaintEffectPreferNoSchedule
	})
}

// pollUntil calls ask every half second until it returns true without an error. After the timeout, pollUntil fails the
// test with the last error.
func pollUntil(t *testing.T, what string, ask func() (bool, error)) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 500*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		var ok bool
		ok, last = ask()
		return ok && last == nil, nil
	}); err != nil {
		t.Fatalf("waiting until %s: %v (%v)", what, err, last)
	}
}

// waitUntil waits until the condition is true.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	pollUntil(t, what, func() (bool, error) { return is(), nil })
}

// podsByNode counts an app's pods that are bound and not terminating.
func podsByNode(t *testing.T, ns, app string) map[string]int {
	t.Helper()
	pods := must.Get(stack.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app}))(t)
	out := map[string]int{}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Spec.NodeName != "" {
			out[p.Spec.NodeName]++
		}
	}
	return out
}

// auditedEvictions returns the names of the evicted pods in the audit log, and the number of refused evictions.
func auditedEvictions(t *testing.T, ns string) (granted []string, refused int) {
	t.Helper()
	events := must.Get(stack.Evictions(ns))(t)
	for _, e := range events {
		if e.ResponseStatus != nil && e.ResponseStatus.Code == 201 {
			granted = append(granted, e.ObjectRef.Name)
		} else {
			refused++
		}
	}
	return granted, refused
}

// auditedRequests counts the program's requests since a time. refused counts the requests that failed with a conflict.
func auditedRequests(t *testing.T, since time.Time, verb, group, resource string) (n, refused int) {
	t.Helper()
	events := must.Get(stack.Audit())(t)
	for _, e := range events {
		if e.User.Username != programUser.Name || e.Verb != verb || e.ObjectRef == nil ||
			e.ObjectRef.APIGroup != group || e.ObjectRef.Resource != resource || !e.StageTimestamp.After(since) {
			continue
		}
		if n++; e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusConflict {
			refused++
		}
	}
	return n, refused
}

// createBudget creates a PodDisruptionBudget that allows one disruption of an app.
func createBudget(t *testing.T, ns, app string) {
	t.Helper()
	one := intstr.FromInt32(1)
	api := stack.Client.PolicyV1().PodDisruptionBudgets(ns)
	spec := policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: app}, Spec: spec}
	if _, err := api.Create(t.Context(), pdb, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the budget allows one", func() bool {
		b, err := api.Get(t.Context(), app, metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && b.Status.DisruptionsAllowed == 1
	})
}

// scaleUp adds replicas to an app one by one, and returns the new pods in the order of their binding.
func scaleUp(t *testing.T, ns, app string, pods int) (added []string) {
	t.Helper()
	known := map[string]bool{}
	for i := range pods {
		pollUntil(t, "scaling up works", func() (bool, error) {
			s, err := stack.Client.AppsV1().Deployments(ns).GetScale(t.Context(), app, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			s.Spec.Replicas = int32(i + 1)
			_, err = stack.Client.AppsV1().Deployments(ns).UpdateScale(t.Context(), app, s, metav1.UpdateOptions{})
			if apierrors.IsConflict(err) {
				return false, nil
			}
			return err == nil, err
		})
		waitUntil(t, fmt.Sprintf("pod %d of %s is bound", i+1, app), func() bool {
			list, err := stack.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
			for _, p := range list.Items {
				if p.Spec.NodeName != "" && !known[p.Name] {
					known[p.Name] = true
					added = append(added, p.Name)
				}
			}
			return err == nil && len(added) == i+1
		})
	}
	return added
}
