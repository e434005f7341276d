package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(testbed.Main(m, "test-lab", func(ctx context.Context, c *controlplane.Cluster) error {
		lab = c
		return seed.CreateNodes(ctx, c.Client, 3, 1)
	}))
}

// maxBinary is the size limit of the program in bytes. A larger binary probably links the server code of Kubernetes.
// The templates of HTML reports call methods by name, so the linker keeps every exported method, which is about 10
// MB.
const maxBinary = 72 << 20

func TestTheBinaryIsSmall(t *testing.T) {
	info := must.Get(os.Stat(testbed.Evenkeel))(t)
	t.Logf("%d bytes", info.Size())
	if info.Size() >= maxBinary {
		t.Errorf("%s has %d bytes, want fewer than %d", testbed.Evenkeel, info.Size(), maxBinary)
	}
}

var scenarioCount atomic.Int32

// seedApps creates apps in a new namespace. When the test ends, seedApps deletes the namespace.
func seedApps(t *testing.T, apps []seed.App) (ns string) {
	t.Helper()
	ns = strings.ToLower(strings.NewReplacer("/", "-", "_", "-", "#", "-").Replace(t.Name()))
	// The number distinguishes the audit events of repeated runs of a test.
	ns = fmt.Sprintf("%s-%d", ns[:min(len(ns), 55)], scenarioCount.Add(1))
	t.Cleanup(func() {
		if err := seed.DeleteNamespace(context.Background(), lab.Client, ns); err != nil {
			t.Errorf("deleting namespace %s: %v", ns, err)
		}
	})
	must.Succeed(t, seed.CreateApps(t.Context(), lab.Client, ns, apps))
	return ns
}

// seededPod returns the name of pod i of an app that seedApps created.
func seededPod(t *testing.T, ns, app string, i int) string {
	t.Helper()
	name := must.Get(seed.PodName(t.Context(), lab.Client, ns, app, i))(t)
	return name
}

const zonesConfig = `
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`

type commandResult struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// runEvenkeel runs the program as the cluster's administrator.
func runEvenkeel(t *testing.T, args ...string) commandResult {
	t.Helper()
	return runEvenkeelAs(t, lab.Kubeconfig, args...)
}

func runEvenkeelAs(t *testing.T, kubeconfig string, args ...string) commandResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, append(args, "--kubeconfig", kubeconfig)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := commandResult{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(start)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("evenkeel %s: exit %d\n%s\n%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
		}
	})
	return r
}

// checkZones checks the number of an app's pods per zone.
func checkZones(t *testing.T, ns, app string, want ...int) {
	t.Helper()
	got := must.Get(seed.PodsByZone(t.Context(), lab.Client, ns, app))(t)
	for i, n := range want {
		if zone := fmt.Sprintf("zone-%d", i+1); got[zone] != n {
			t.Errorf("pods of %s by zone: %v, want %v", app, got, want)
			return
		}
	}
}

// checkEvictions checks the number of accepted evictions in a namespace according to the audit log.
func checkEvictions(t *testing.T, ns string, want int) {
	t.Helper()
	if n := acceptedEvictions(t, ns); n != want {
		t.Errorf("%d evictions in the audit log, want %d", n, want)
	}
}

func podUIDs(t *testing.T, ns string) map[string]bool {
	t.Helper()
	pods := must.Get(lab.Client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{}))(t)
	out := map[string]bool{}
	for _, p := range pods.Items {
		out[string(p.UID)] = true
	}
	return out
}

// createPDB creates a budget for an app and waits until its status has the allowed disruptions.
func createPDB(t *testing.T, ns, app string, maxUnavailable int, allowed int32) {
	t.Helper()
	createNamedPDB(t, ns, app, app, maxUnavailable, allowed)
}

func createNamedPDB(t *testing.T, ns, name, app string, maxUnavailable int, allowed int32) {
	t.Helper()
	n := intstr.FromInt(maxUnavailable)
	api := lab.Client.PolicyV1().PodDisruptionBudgets(ns)
	spec := policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	must.Get(api.Create(t.Context(), pdb, metav1.CreateOptions{}))(t)
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		b, err := api.Get(t.Context(), name, metav1.GetOptions{})
		s := b.Status
		return err == nil && s.ObservedGeneration == b.Generation && s.DisruptionsAllowed == allowed && s.ExpectedPods > 0, err
	}); err != nil {
		t.Fatalf("waiting for the budget: %v", err)
	}
}
