package installed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/leader"
)

// podSelector selects the pods of a release that make passes. The chart sets these labels.
const podSelector = selector + ",app.kubernetes.io/component in (controller, job)"

// LogPods returns the pods whose logs tell what a release does, in the order of their creation, and why these. It
// returns the pod that leads. If none leads, it returns the pods of the newest job, or else the newest pod.
func LogPods(ctx context.Context, client kubernetes.Interface, namespace string) (pods []corev1.Pod, why string, err error) {
	for _, dryRun := range []bool{false, true} {
		holder, err := (&leader.Lease{Client: client, Namespace: namespace, DryRun: dryRun}).Leader(ctx)
		if err != nil {
			return nil, "", err
		}
		name, _, isPod := strings.Cut(holder, "_")
		if !isPod {
			continue
		}
		p, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return []corev1.Pod{*p}, "it leads", nil
		}
		if !apierrors.IsNotFound(err) { // a process outside of the cluster leads, or the pod has ended
			return nil, "", connection.ExplainForbidden("get pods in namespace "+namespace, err)
		}
	}
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: podSelector})
	if err != nil {
		return nil, "", connection.ExplainForbidden("list pods in namespace "+namespace, err)
	}
	if len(list.Items) == 0 {
		return nil, "", fmt.Errorf("namespace %s has no pod with the labels %s", namespace, podSelector)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	newest := list.Items[len(list.Items)-1]
	job := metav1.GetControllerOf(&newest)
	if job == nil || job.Kind != "Job" {
		return []corev1.Pod{newest}, "no pod leads; it is the newest", nil
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !metav1.IsControlledBy(&p, &metav1.ObjectMeta{UID: job.UID}) }),
		"the newest job is " + job.Name, nil
}
