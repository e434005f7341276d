package budgets

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// batch is a set of cases that share a snapshot.
type batch struct {
	name  string
	cases []*testCase
	now   time.Time // time of the snapshot
	// The objects of the snapshot, by namespace/name.
	pods    map[string]*corev1.Pod
	budgets map[string]*policyv1.PodDisruptionBudget
}

func (b *batch) namespaces() []string {
	var out []string
	for _, c := range b.cases {
		out = append(out, c.namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// countingTrackerName names the tracker that ignores the budgets' status and counts only pods.
func (b *batch) countingTrackerName() string { return b.name + "-counts" }

// snapshot lists all objects in the batch's namespaces.
func (b *batch) snapshot(ctx context.Context) ([]runtime.Object, error) {
	b.pods, b.budgets = map[string]*corev1.Pod{}, map[string]*policyv1.PodDisruptionBudget{}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	lists := []runtime.Object{nodes}
	errs := []error{err}
	add := func(l runtime.Object, err error) {
		lists, errs = append(lists, l), append(errs, err)
	}
	for _, ns := range b.namespaces() {
		o := metav1.ListOptions{}
		pods, err1 := client.CoreV1().Pods(ns).List(ctx, o)
		pdbs, err2 := client.PolicyV1().PodDisruptionBudgets(ns).List(ctx, o)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		for i := range pods.Items {
			b.pods[ns+"/"+pods.Items[i].Name] = &pods.Items[i]
		}
		for i := range pdbs.Items {
			b.budgets[ns+"/"+pdbs.Items[i].Name] = &pdbs.Items[i]
		}
		add(pods, nil)
		add(pdbs, nil)
		add(client.CoreV1().ReplicationControllers(ns).List(ctx, o))
		add(client.AppsV1().ReplicaSets(ns).List(ctx, o))
		add(client.AppsV1().Deployments(ns).List(ctx, o))
		add(client.AppsV1().StatefulSets(ns).List(ctx, o))
		add(client.AppsV1().DaemonSets(ns).List(ctx, o))
		add(client.BatchV1().Jobs(ns).List(ctx, o))
	}
	return lists, errors.Join(errs...)
}

// writeList writes the lists to a file in the format of kubectl get -o json.
func writeList(path string, lists []runtime.Object) error {
	all := struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Items      []runtime.Object  `json:"items"`
	}{"v1", "List", map[string]string{}, nil}
	for _, l := range lists {
		if err := meta.EachListItem(l, func(o runtime.Object) error {
			kinds, _, err := scheme.Scheme.ObjectKinds(o)
			if err != nil {
				return err
			}
			o.GetObjectKind().SetGroupVersionKind(kinds[0])
			all.Items = append(all.Items, o)
			return nil
		}); err != nil {
			return err
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
