package charttest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestUpgradeBetweenKinds upgrades a running Deployment to CronJobs and back. Each kind evicts, and the objects of the
// other kind go.
func TestUpgradeBetweenKinds(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-kinds")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	// Each kind knows the evictions of the one before. So new pods may be evicted at once only without a back-off.
	r.install(ctx, t, append(slices.Clone(automatic), "--set", "config.evictor.backoff=1ms")...)
	evict(ctx, t, r)
	r.checkKinds(ctx, t, 1, 0)

	r.upgrade(t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	r.checkKinds(ctx, t, 0, 1)
	seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "mode=live") {
		t.Errorf("the job did not make a live pass:\n%s", out)
	}
	waitForZones(ctx, t, "2/2/2")
	r.checkRequests(ctx, t, 4)

	r.upgrade(t, "--set", "kind=Deployment")
	r.checkKinds(ctx, t, 1, 0)
	seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	r.evictTriggered(ctx, t)
	r.checkRequests(ctx, t, 6)
	r.uninstall(ctx, t)
}

// checkKinds waits until the release has the numbers of Deployments and CronJobs, and no pods but those of Deployments.
func (r release) checkKinds(ctx context.Context, t *testing.T, deployments, cronJobs int) {
	t.Helper()
	eventually(ctx, t, "the objects of one kind", func() (bool, string) {
		d, err := r.client.AppsV1().Deployments(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		c, err := r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		p, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(d.Items) == deployments && len(c.Items) == cronJobs && len(p.Items) == deployments, ""
	})
}

// formerChart is the chart before its pods and permissions had values of their own, as `helm package` wrote it.
const formerChart = "testdata/evenkeel-0.1.0.tgz"

// needsFormerProgram is why tests with the former chart are left out.
const needsFormerProgram = "the lab runs this program for the former chart, too, and this program refuses that chart's configuration"

// formerAutomatic are the arguments of automatic for the former chart, whose strategies are a list.
var formerAutomatic = append(slices.Clone(automatic[:len(automatic)-1]), `config.strategies=[{"name":"zones","type":"ZoneSpread",`+
	`"schedule":"0 0 29 2 *","args":{"topologyKey":"topology.kubernetes.io/zone","maxSkew":1,"by":"owner"}}]`)

// TestUpgradeFromTheFormerChart upgrades a release of the former chart with the state and the pause that a former
// program left. The new program knows the pause, and counts the former evictions toward its hourly limit.
func TestUpgradeFromTheFormerChart(t *testing.T) {
	t.Skip(needsFormerProgram)
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-former")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	createNamespace(ctx, t, r.namespace)
	r.installChart(t, formerChart, append(formerAutomatic, "--set", "config.limits.perHour.cluster=2")...)
	r.createFormerState(ctx, t)
	before := r.stateObjects(ctx, t)

	r.upgrade(t, append(automatic, "--set", "crds.keep=false")...)
	r.waitForLog(ctx, t, "leads=true")
	r.upgraded = time.Now()
	after := r.stateObjects(ctx, t)
	for name, uid := range before { // the new program may have written more
		if after[name] != uid {
			t.Errorf("the upgrade changed the state from %v to %v", before, after)
		}
	}
	if len(before) < 2 {
		t.Errorf("the former release wrote only %v", before)
	}
	seedAgain(ctx, t, r.client, [3]int{1, 1, 4})
	r.upgrade(t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	if out := r.runFailingJob(ctx, t, "zones"); !strings.Contains(out, "Paused") || !strings.Contains(out, "upgrade") {
		t.Errorf("the report does not name the pause:\n%s", out)
	}
	r.runAsAdministrator(ctx, t, "resume")
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "LimitPerHour") {
		t.Errorf("the report does not name the hourly limit:\n%s", out)
	}
	r.checkRequests(ctx, t, 0)
	r.uninstall(ctx, t)
}

// TestUpgradeKeepsFormerValues upgrades a release of the former chart, whose strategies are a list. --reuse-values
// keeps the list, so Helm refuses it with the remedy; --reset-then-reuse-values takes the presets, and keeps the values
// of the user.
func TestUpgradeKeepsFormerValues(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-values")
	createNamespace(ctx, t, r.namespace)
	t.Cleanup(func() { r.abandon(t, func() { r.runHelm(t, "uninstall", r.name, "--no-hooks", "--ignore-not-found") }) })
	r.runHelm(t, "install", r.name, formerChart, "--set", image+",kind=CronJob,cronJob.suspend=true,config.guards.minReplicas=3")
	upgrade := []string{"upgrade", r.name, chart, "--set", "crds.keep=false,cleanup.enabled=false", "--namespace", r.namespace}
	cmd := exec.Command(helmBinary(t), append(upgrade, "--reuse-values")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "use --reset-then-reuse-values instead") {
		t.Errorf("--reuse-values: %v, want the remedy:\n%s", err, out)
	}
	r.runHelm(t, append(upgrade, "--reset-then-reuse-values")...)
	config := string(must.Get(os.ReadFile(r.writeConfig(ctx, t)))(t))
	for _, want := range []string{"- zones\n", "strategies: {}\n", "minReplicas: 3\n"} {
		if !strings.Contains(config, want) {
			t.Errorf("after --reset-then-reuse-values, the configuration does not contain %q:\n%s", want, config)
		}
	}
	r.uninstall(ctx, t)
}

// TestRollback upgrades a release of the former chart, rolls it back, and upgrades it again. The
// CustomResourceDefinitions stay, as with crds.keep. The state stays, and so does a pause that was made after the first
// upgrade. While the permissions are those of the former chart, the program cannot read the pause, so it evicts
// nothing.
func TestRollback(t *testing.T) {
	t.Skip(needsFormerProgram)
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-rollback")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	createNamespace(ctx, t, r.namespace)
	applyCRDs(t, r)
	r.installChart(t, formerChart, append(formerAutomatic, "--set", "config.limits.perHour.cluster=2")...)
	r.createFormerState(ctx, t)
	r.upgrade(t, append(automatic, "--set", "crds.install=false")...)
	r.waitForLog(ctx, t, "leads=true")
	r.runAsAdministrator(ctx, t, "resume")
	r.runAsAdministrator(ctx, t, "pause", "--reason", "rollback")
	before := r.stateObjects(ctx, t)

	r.runHelm(t, r.waiting([]string{"rollback", r.name, "1"})...)
	r.waitForLog(ctx, t, "leads=true")
	r.upgrade(t, "--set", "crds.install=false,kind=CronJob,cronJob.suspend=true")
	for name, uid := range before {
		if got := r.stateObjects(ctx, t)[name]; got != uid {
			t.Errorf("after the rollback, %s of the state has the UID %q, want %s", name, got, uid)
		}
	}
	if out := r.runFailingJob(ctx, t, "zones"); !strings.Contains(out, "Paused") || !strings.Contains(out, "rollback") {
		t.Errorf("the report does not name the pause:\n%s", out)
	}
	r.upgraded = time.Now() // until then, the program asks for more than the former chart grants
	r.runAsAdministrator(ctx, t, "resume")
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "LimitPerHour") {
		t.Errorf("the report does not name the hourly limit:\n%s", out)
	}
	r.checkRequests(ctx, t, 0)
	r.uninstall(ctx, t)
}

// createFormerState creates the ConfigMaps of a program before the kind Rebalancer, which evicted two pods and was
// paused.
func (r release) createFormerState(ctx context.Context, t *testing.T) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, `{"apiVersion":"evenkeel.io/v1alpha1","kind":"PlannerState","evictions":[{"workload":{"apiVersion":"apps/v1","kind":"Deployment",`+
		`"namespace":"shop","name":"former"},"minute":%q,"count":2}]}`, time.Now().UTC().Truncate(time.Minute).Format(time.RFC3339))
	must.Succeed(t, z.Close())
	for _, cm := range []*corev1.ConfigMap{
		{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-state-00"}, BinaryData: map[string][]byte{"state.json.gz": packed.Bytes()}},
		{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-pause"}, Data: map[string]string{"by": "jo", "reason": "upgrade"}},
	} {
		must.Get(r.client.CoreV1().ConfigMaps(r.namespace).Create(ctx, cm, metav1.CreateOptions{}))(t)
	}
}

// stateObjects returns the ConfigMaps of the release's state with their identity.
func (r release) stateObjects(ctx context.Context, t *testing.T) map[string]types.UID {
	t.Helper()
	list := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	out := map[string]types.UID{}
	for _, cm := range list.Items {
		if strings.HasPrefix(cm.Name, "evenkeel-state-") || cm.Name == "evenkeel-pause" {
			out[cm.Name] = cm.UID
		}
	}
	return out
}
