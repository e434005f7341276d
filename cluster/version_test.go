package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
)

// TestAMissingServerVersionIsUnknown: old dumps, and the output of kubectl get, do not contain the version.
func TestAMissingServerVersionIsUnknown(t *testing.T) {
	for text, want := range map[string]struct {
		shown string
		known bool
		minor int // of the model
	}{"": {"", false, kubeversion.Newest}, "1.36": {"1.36", true, 36}, "1.99": {"1.99", false, kubeversion.Newest}} {
		o := &Objects{ServerVersion: text, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}}}
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Version() != want.shown || s.KnownVersion() != want.known || s.Scheduler != kubeversion.Of(want.minor) {
			t.Errorf("version %q: shown %q, known %v, model %+v", text, s.Version(), s.KnownVersion(), s.Scheduler)
		}
	}
}
