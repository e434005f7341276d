package charttest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// createMonitoringKinds creates the kinds of the Prometheus Operator, and waits until the API server serves them.
func createMonitoringKinds(ctx context.Context, c *controlplane.Cluster) error {
	text, err := os.ReadFile("testdata/monitoring-crds.yaml")
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	docs := strings.Split(string(text), "\n---\n")
	for _, doc := range docs {
		var o map[string]any
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			return err
		}
		strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
		if _, err := client.Resource(definitions).Create(ctx, &unstructured.Unstructured{Object: o}, strict); err != nil {
			return err
		}
	}
	return seed.WaitUntil(ctx, time.Minute, func() (bool, error) {
		kinds, err := c.Client.Discovery().ServerResourcesForGroupVersion("monitoring.coreos.com/v1")
		if apierrors.IsNotFound(err) {
			return false, fmt.Errorf("the API server does not serve monitoring.coreos.com/v1")
		}
		return err == nil && len(kinds.APIResources) == len(docs), err
	})
}
