package observe

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	ktesting "k8s.io/client-go/testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestListsArePaged checks that lists are paged if the server does not stream them to a
// watch. Only the stripped objects of each page may stay in memory.
func TestListsArePaged(t *testing.T) {
	o := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 60, 1200)
	simulation.Realistic(rand.New(rand.NewPCG(1, 1)), o)
	client := newClient(kubeSystem())
	var asked []metav1.ListOptions
	client.PrependReactor("list", "pods", func(a ktesting.Action) (bool, k8sruntime.Object, error) {
		opts := a.(ktesting.ListActionImpl).ListOptions
		asked = append(asked, opts)
		begin, _ := strconv.Atoi(opts.Continue) // 0 without a token: the first page
		end := len(o.Pods)
		if opts.ResourceVersion != "0" && opts.Limit > 0 { // as API servers do
			end = min(end, begin+int(opts.Limit))
		}
		runtime.GC() // frees earlier pages while later ones arrive
		out := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
		if end < len(o.Pods) {
			out.Continue = strconv.Itoa(end)
		}
		for _, p := range o.Pods[begin:end] {
			out.Items = append(out.Items, *p.DeepCopy())
		}
		return true, out, nil
	})
	watch, ctx := startObserver(t, client)
	must.Succeed(t, watch.WaitForSync(ctx))
	if len(asked) != 3 || slices.ContainsFunc(asked, func(o metav1.ListOptions) bool { return o.Limit != 500 || o.ResourceVersion != "" }) {
		t.Errorf("requested %+v, want three pages of 500 objects at the latest version", asked)
	}
	objects := watch.Objects(ctx)
	if len(objects.Pods) != len(o.Pods) {
		t.Fatalf("%d pods, want %d", len(objects.Pods), len(o.Pods))
	}
	heavy, shared := 0, map[*corev1.Container]bool{}
	for _, p := range objects.Pods {
		if len(p.ManagedFields) > 0 || p.Status.PodIP != "" || p.Spec.Containers[0].LivenessProbe != nil {
			heavy++
		}
		shared[&p.Spec.Containers[0]] = true
	}
	if heavy > 0 || len(shared) > 70 {
		t.Errorf("%d pods are stored unstripped; there are %d container lists for 60 Deployments", heavy, len(shared))
	}
}

// TestPageErrorFailsList checks that the error of a page is the error of the list.
// It also checks that a resource version that was seen is requested.
func TestPageErrorFailsList(t *testing.T) {
	_, err := listPage(metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "NotOlderThan"}, keepUnchanged,
		func(o metav1.ListOptions) (*corev1.PodList, error) {
			if o != (metav1.ListOptions{}) {
				t.Errorf("asked for %+v", o)
			}
			return nil, errors.New("no")
		})
	if err == nil {
		t.Error("no error")
	}
	if _, err := listPage(metav1.ListOptions{ResourceVersion: "7"}, keepUnchanged, func(o metav1.ListOptions) (*corev1.PodList, error) {
		if o.ResourceVersion != "7" {
			t.Errorf("asked for %+v", o)
		}
		return &corev1.PodList{}, nil
	}); err != nil {
		t.Error(err)
	}
}
