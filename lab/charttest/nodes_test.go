package charttest

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// nodeMarks are the fields of a node that Evenkeel and the tests change.
type nodeMarks struct {
	Labels, Annotations map[string]string
	Taints              []corev1.Taint
}

func marksOf(n corev1.Node) string {
	text, err := json.Marshal(nodeMarks{n.Labels, n.Annotations, n.Spec.Taints})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// newNodes are the nodes before the first test, by name.
var newNodes = map[string]corev1.Node{}

func rememberNodes(ctx context.Context, client kubernetes.Interface) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, n := range list.Items {
		newNodes[n.Name] = n
	}
	return nil
}

// changedNodes returns the nodes whose labels, annotations or taints are not as before the first test, each with them.
func changedNodes(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	list := must.Get(lab.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}))(t)
	out := map[string]string{}
	for _, n := range list.Items {
		if marks := marksOf(n); marks != marksOf(newNodes[n.Name]) {
			out[n.Name] = marks
		}
	}
	return out
}

// resetNodes gives all nodes the labels, annotations and taints that they had before the first test.
func resetNodes(ctx context.Context, t *testing.T) {
	t.Helper()
	for name := range changedNodes(ctx, t) {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			n, err := lab.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			n.Labels, n.Annotations, n.Spec.Taints = newNodes[name].Labels, newNodes[name].Annotations, newNodes[name].Spec.Taints
			_, err = lab.Client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Errorf("resetting node %s: %v", name, err)
		}
	}
}
