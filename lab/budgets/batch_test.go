package budgets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// batch is a set of cases that share a snapshot.
type batch struct {
	name  string
	cases []*testCase
	now   time.Time // time of the snapshot
	// State in the snapshot, by namespace/name.
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

// run creates the cases, opens a book on the snapshot, and compares each case.
func (b *batch) run(ctx context.Context, workers int, into *counts) error {
	for _, ns := range b.namespaces() {
		if err := createNamespace(ctx, ns); err != nil {
			return err
		}
	}
	each := func(f func(*testCase) error) error { return parallel(workers, b.cases, f) }
	if err := each(func(c *testCase) error {
		if err := c.createObjects(ctx); err != nil {
			return err
		}
		if err := c.waitUntilSettled(ctx); err != nil {
			return err
		}
		if err := c.applyFlavour(ctx); err != nil {
			return err
		}
		if c.flavour == marked || c.flavour == conflictBefore {
			return c.waitUntilSettled(ctx)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := b.openBooks(ctx, each); err != nil {
		return err
	}
	defer func() {
		_, _ = budgetcheck.request(request{Op: "close", Book: b.name})
		_, _ = budgetcheck.request(request{Op: "close", Book: b.countBookName()})
	}()
	return each(func(c *testCase) error { return c.compareEvictions(ctx, b, into) })
}

// openBooks takes the snapshot, causes the conflicts that come after it, and opens the book.
func (b *batch) openBooks(ctx context.Context, each func(func(*testCase) error) error) error {
	path, countPath := filepath.Join(budgetcheck.dir, b.name+".json"), filepath.Join(budgetcheck.dir, b.countBookName()+".json")
	b.now = time.Now()
	lists, err := b.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("taking a snapshot: %w", err)
	}
	if err := errors.Join(writeList(path, lists), writeList(countPath, allowEverything(lists))); err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	defer os.Remove(path)
	defer os.Remove(countPath)
	var mu sync.Mutex
	spent := map[string]time.Time{}
	if err := each(func(c *testCase) error {
		if c.flavour != conflictAfter {
			return nil
		}
		name, err := c.spendByConflict(ctx)
		mu.Lock()
		defer mu.Unlock()
		if name != "" {
			spent[name] = b.now.Add(confirmWithin)
		}
		return err
	}); err != nil {
		return err
	}
	_, err1 := budgetcheck.request(request{Op: "open", Book: b.name, Snapshot: path, Now: b.now, Spent: spent})
	_, err2 := budgetcheck.request(request{Op: "open", Book: b.countBookName(), Snapshot: countPath, Now: b.now})
	return errors.Join(err1, err2)
}

// countBookName names the book that ignores the budgets' status and counts pods only.
func (b *batch) countBookName() string { return b.name + "-counts" }

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

// parallel calls f for every item, n at a time, and joins the errors.
func parallel[T any](n int, items []T, f func(T) error) error {
	next := make(chan T)
	var errs []error
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for x := range next {
				if err := f(x); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, x := range items {
		next <- x
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

func selectorMatches(s *metav1.LabelSelector, p podPlan) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(p.labels))
}

// budgetsOf counts the budgets that select a pod.
func (c *testCase) budgetsOf(p podPlan) int {
	n := 0
	for _, b := range c.budgets {
		if selectorMatches(b.spec.Selector, p) {
			n++
		}
	}
	return n
}
