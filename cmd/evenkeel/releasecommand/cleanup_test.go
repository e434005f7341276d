package releasecommand

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// runCleanup removes what is left in namespace ops of the cluster.
func runCleanup(t *testing.T, client *fake.Clientset, f cleanupFlags) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetOut(&out)
	f.namespace, f.wait, f.hintsTimeout = "ops", 20*time.Millisecond, time.Minute
	h := &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: testNoon, conf: hintedConfig("status"), configGiven: true}
	err := f.cleanUp(cmd, client, h, time.Minute)
	return out.String(), err
}

func leftCluster(t *testing.T, holder string) *fake.Clientset {
	t.Helper()
	client := clusterAfterKilledReconciler(t)
	for _, o := range []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "evenkeel-pause"}}} {
		must.Succeed(t, client.Tracker().Add(o))
	}
	must.Succeed(t, client.Tracker().Add(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "evenkeel"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: time.Now()}}}))
	return client
}

// TestCleanup checks that hints, ConfigMaps and Leases are removed, and taints and labels of others stay.
func TestCleanup(t *testing.T) {
	client := leftCluster(t, "")
	out, err := runCleanup(t, client, cleanupFlags{})
	if want := "Removed hints from n1, n2.\nNamespace ops: deleted Lease evenkeel, ConfigMap evenkeel-pause.\n"; err != nil || out != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	if got, want := listNodeHints(t, client), "n1 other, n3 status=presure"; got != want {
		t.Errorf("left on the nodes: %s, want %s", got, want)
	}
	if out, err = runCleanup(t, client, cleanupFlags{}); err != nil || !strings.HasSuffix(out, "Namespace ops: deleted nothing.\n") {
		t.Errorf("the second time: %v, %q", err, out)
	}
}

// TestCleanupSkipsHints checks that --skip-hints sends no request about nodes.
func TestCleanupSkipsHints(t *testing.T) {
	client := leftCluster(t, "")
	client.ClearActions()
	if _, err := runCleanup(t, client, cleanupFlags{skipHints: true}); err != nil {
		t.Error(err)
	}
	for _, a := range client.Actions() {
		if a.GetResource().Resource == "nodes" {
			t.Errorf("%s nodes", a.GetVerb())
		}
	}
}

// TestCleanupLeavesARunningRelease checks that nothing is removed while a process holds the Lease.
func TestCleanupLeavesARunningRelease(t *testing.T) {
	client := leftCluster(t, "node-7")
	before := listNodeHints(t, client)
	_, err := runCleanup(t, client, cleanupFlags{})
	if err == nil || !strings.Contains(err.Error(), "nothing was removed: node-7 still holds the Lease evenkeel in namespace ops") {
		t.Errorf("error %v", err)
	}
	if got := listNodeHints(t, client); got != before {
		t.Errorf("on the nodes: %s, want %s", got, before)
	}
	if _, err := client.CoreV1().ConfigMaps("ops").Get(t.Context(), "evenkeel-pause", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// TestCleanupNeedsTheNamespace checks that the command does not search for a release by itself: the one that it finds
// may be installed.
func TestCleanupNeedsTheNamespace(t *testing.T) {
	for args, want := range map[string]string{"": "--lease-namespace is required", "--lease-namespace=Ops!": "--lease-namespace"} {
		c := newCleanup(&Access{Logger: func(*cobra.Command) *slog.Logger { return nil }, Client: func() (kubernetes.Interface, *rest.Config, error) {
			t.Error("the command connects to the cluster")
			return nil, nil, errors.New("no cluster")
		}})
		c.SetArgs(strings.Fields(args))
		c.SetContext(t.Context())
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("cleanup %s: error %v, want %q", args, err, want)
		}
	}
}
