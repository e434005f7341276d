package charttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// dryRun sends objects to the API server, which validates them but keeps nothing.
type dryRun struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	home   string // the namespace of objects without one
}

func newDryRun(t *testing.T, r release) dryRun {
	t.Helper()
	config := must.Get(clientcmd.BuildConfigFromFlags("", r.kubeconfig))(t)
	config.QPS = -1
	client := must.Get(dynamic.NewForConfig(config))(t)
	cached := memory.NewMemCacheClient(r.client.Discovery())
	return dryRun{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached), home: r.namespace}
}

// create asks the API server whether it would accept an object: unknown and repeated fields are errors.
func (d dryRun) create(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		_, err = d.client.Resource(mapping.Resource).Create(ctx, o, options)
		return err
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = d.home
	}
	_, err = d.client.Resource(mapping.Resource).Namespace(namespace).Create(ctx, o, options)
	return err
}

// parse returns the objects of manifests.
func parse(t *testing.T, manifests string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, doc := range strings.Split(manifests, "\n---\n") {
		var o map[string]any
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if o != nil {
			objects = append(objects, &unstructured.Unstructured{Object: o})
		}
	}
	return objects
}

// podOf returns the pod that a workload would create, or nil if the object is no workload. Its ServiceAccount is
// default, because the API server does not keep the release's in a dry run.
func podOf(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	path, known := map[string][]string{
		"Deployment": {"spec", "template"},
		"CronJob":    {"spec", "jobTemplate", "spec", "template"},
		"Job":        {"spec", "template"},
	}[o.GetKind()]
	if o.GetKind() == "Pod" {
		path, known = []string{}, true
	}
	if !known {
		return nil
	}
	template, found, err := unstructured.NestedMap(o.Object, path...)
	if len(path) == 0 {
		template, found, err = o.DeepCopy().Object, true, nil
	}
	if err != nil || !found {
		t.Fatalf("%s %s has no pod template: %v", o.GetKind(), o.GetName(), err)
	}
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName("pairwise")
	pod.SetNamespace(o.GetNamespace())
	must.Succeed(t, unstructured.SetNestedField(pod.Object, "default", "spec", "serviceAccountName"))
	return pod
}

// pairwiseRows returns the sets of values of the table of lab/helm, each with its title.
func pairwiseRows(t *testing.T) (rows, titles []string) {
	t.Helper()
	text := must.Get(os.ReadFile("../helm/testdata/pairwise.yaml"))(t)
	rows = strings.Split(string(text), "\n---\n")[1:]
	for _, row := range rows {
		title, _, _ := strings.Cut(strings.TrimPrefix(row, "# "), "\n")
		titles = append(titles, title)
	}
	return rows, titles
}

// TestPairwiseValuesAreAdmitted checks that the API server accepts every object of the chart for every row of the
// table, and every pod under the restricted Pod Security level.
func TestPairwiseValuesAreAdmitted(t *testing.T) {
	ctx := t.Context()
	r := newRelease("ek", "pairwise")
	for _, name := range []string{r.namespace, "pairwise-other"} { // the second is that of namespaceOverride
		r.createRestrictedNamespace(ctx, t, name)
	}
	server := newDryRun(t, r)
	rows, titles := pairwiseRows(t)
	objects, pods := 0, 0
	for i, row := range rows {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("row-%d.yaml", i+1))
		must.Succeed(t, os.WriteFile(file, []byte(row), 0o600))
		for _, o := range parse(t, r.runHelm(t, "template", r.name, chart, "--values", file)) {
			objects++
			pod := podOf(t, o)
			if o.GetKind() != "Pod" { // podOf has a pod with an account that exists
				if err := server.create(ctx, o); err != nil {
					t.Errorf("row %d %s: %s %s: %v", i+1, titles[i], o.GetKind(), o.GetName(), err)
				}
			}
			if pod != nil {
				pods++
				if err := server.create(ctx, pod); err != nil {
					t.Errorf("row %d %s: a pod of %s %s: %v", i+1, titles[i], o.GetKind(), o.GetName(), err)
				}
			}
		}
	}
	if objects < 10*len(rows) || pods < len(rows) {
		t.Errorf("%d rows have only %d objects and %d pods", len(rows), objects, pods)
	}
	t.Logf("%d rows: %d objects, %d pods", len(rows), objects, pods)
}

// createRestrictedNamespace creates a namespace that enforces the restricted Pod Security level.
func (r release) createRestrictedNamespace(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if _, err := r.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
