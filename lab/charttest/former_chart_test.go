package charttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// formerChart is the chart before its pods and permissions had values of their own, as `helm package` wrote it.
//
// Real in its tests are the former chart with its permissions and configuration, Helm, the API server, and the new
// program. There is no former program: the lab executes no container of formerImage, but reports its pods as Ready. So
// the tests write the state, the pause and the Lease as the former program wrote them, and no test shows what the
// former program does after a rollback.
const formerChart, formerImage = "testdata/evenkeel-0.1.0.tgz", "image.repository=registry.example.org/team/former"

// formerValues are values for the former chart: strategies are a list, and the new program does not know steerTTL.
const formerValues = `
config:
  dryRun: false
  guards: {minPodAge: 0s}
  evictor: {steer: taint, steerTTL: 20m}
  limits: {perHour: {cluster: 2}}
  strategies:
  - name: zones
    type: ZoneSpread
    schedule: "0 0 29 2 *"
    args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}
`

// TestUpgradeFromTheFormerChart upgrades a release of the former chart, which has evicted two pods and is paused.
//
//   - Helm refuses the former values, names the command that converts them, and changes nothing.
//   - After the conversion, the upgrade succeeds. The new program waits until the Lease of the former one expires.
//   - The pause continues. After it, the former evictions count toward the hourly limit, so no pod is evicted.
func TestUpgradeFromTheFormerChart(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-former")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	r.installFormer(ctx, t)
	before := r.storedObjects(ctx, t)

	out, err := r.helm(t, "upgrade", r.name, chart, "--reset-then-reuse-values", "--set", image+",crds.keep=false").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "`evenkeel config convert` makes of a list") {
		t.Errorf("with the former values: %v, want the command that converts them:\n%s", err, out)
	}
	if history := r.runHelm(t, "history", r.name); strings.Count(history, "\n") != 2 {
		t.Errorf("the refused upgrade made a revision:\n%s", history)
	}
	r.upgradeFormer(ctx, t, "--set", "crds.keep=false")
	r.waitForPause(ctx, t, "upgrade")
	if holder := r.holderOf(ctx, "evenkeel"); holder == formerHolder || holder == "" {
		t.Errorf("after the upgrade, %q holds the Lease", holder)
	}
	r.checkKept(ctx, t, before)

	r.upgrade(t, "--set", "kind=CronJob", "--set", "cronJob.suspend=true")
	r.checkPauseAndLimit(ctx, t, "upgrade")
	r.checkKept(ctx, t, before)
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
	upgrade := []string{"upgrade", r.name, chart, "--set", "crds.keep=false,cleanup.enabled=false"}
	out, err := r.helm(t, append(upgrade, "--reuse-values")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "use --reset-then-reuse-values instead") {
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

// TestRollback upgrades a release of the former chart, pauses it, rolls it back, and upgrades it again. The
// CustomResourceDefinitions stay, as with crds.keep.
//
//   - The state, the pause and all objects of evenkeel.io outlive the rollback, and the former program can read the
//     state: it has the former evictions in the former format.
//   - The ConfigMap of the former pause stays, so the former program is paused, although the new one was resumed.
//   - The new program refuses the former configuration. With its own one, it evicts nothing with the permissions of the
//     former chart, because it cannot read the pause.
//   - After the second upgrade, the new program finds the pause, a request from between, and the former evictions,
//     although the former program dropped what it does not know from the state.
func TestRollback(t *testing.T) {
	ctx := t.Context()
	r := newRunningRelease("keel", "ek-rollback")
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	applyCRDs(t, r)
	r.installFormer(ctx, t)
	r.upgradeFormer(ctx, t, "--set", "crds.install=false")
	r.waitForPause(ctx, t, "upgrade")
	r.runAsAdministrator(ctx, t, "resume")
	r.runAsAdministrator(ctx, t, "trigger", "zones") // the pass writes the state
	r.runAsAdministrator(ctx, t, "pause", "--reason", "rollback")
	config := r.writeConfig(ctx, t)
	before := r.storedObjects(ctx, t)

	r.runHelm(t, r.waiting([]string{"rollback", r.name, "1"})...)
	eventually(ctx, t, "the new program to end", func() (bool, string) {
		holder := r.holderOf(ctx, "evenkeel")
		return holder == "", holder + " leads"
	})
	r.checkKept(ctx, t, before)
	if n := r.formerEvictions(ctx, t); n != 2 {
		t.Errorf("after the rollback, the former program finds %d evictions, want 2", n)
	}
	r.checkRefused(ctx, t, r.writeConfig(ctx, t), "`evenkeel config convert FILE` makes one of the list")
	r.checkRefused(ctx, t, config, "permission to get Rebalancer evenkeel in namespace "+r.namespace+" is missing")
	r.dropUnknownFields(ctx, t)
	run := r.requestRun(ctx, t)

	r.upgradeFormer(ctx, t, "--set", "crds.install=false,kind=CronJob,cronJob.suspend=true")
	r.upgraded = time.Now() // until then, the program asked for more than the former chart grants
	r.checkKept(ctx, t, before)
	r.checkPauseAndLimit(ctx, t, "rollback")
	if phase := r.phaseOfRun(ctx, t, run); phase != "Completed" {
		t.Errorf("after the jobs, the phase of the request is %q, want Completed", phase)
	}
	r.checkKept(ctx, t, before)
	r.checkRequests(ctx, t, 0)
	r.uninstall(ctx, t)
}

// installFormer installs the former chart in a new namespace, and writes what its program left there.
func (r release) installFormer(ctx context.Context, t *testing.T) {
	t.Helper()
	createNamespace(ctx, t, r.namespace)
	values := filepath.Join(t.TempDir(), "former.yaml")
	must.Succeed(t, os.WriteFile(values, []byte(formerValues), 0o600))
	r.installChart(t, formerChart, "--values", values, "--set", formerImage)
	r.writeFormerState(ctx, t)
}

// upgradeFormer upgrades the release from the former chart as docs/upgrade.md describes: with its values, whose list
// of strategies `evenkeel config convert` makes a map, and without the key that `evenkeel config check` refuses.
func (r release) upgradeFormer(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	must.Succeed(t, os.WriteFile(file, []byte(r.runHelm(t, "get", "values", r.name, "--output", "yaml")), 0o600))
	text := must.Get(exec.CommandContext(ctx, testbed.Evenkeel, "config", "convert", file).Output())(t)
	var values object
	must.Succeed(t, yaml.Unmarshal(text, &values))
	config := values["config"].(object)
	must.Succeed(t, os.WriteFile(file, must.Get(yaml.Marshal(config))(t), 0o600))
	const refused = "evictor.steerTTL: unknown key (it is always 10m)"
	if _, errs, err := r.runEvenkeel(ctx, t, "config", "check", file); err == nil || !strings.Contains(errs, refused) || strings.Contains(errs, "strategies") {
		t.Errorf("config check of the converted values: %v, want only %q:\n%s", err, refused, errs)
	}
	delete(config["evictor"].(object), "steerTTL")
	must.Succeed(t, os.WriteFile(file, must.Get(yaml.Marshal(values))(t), 0o600))
	r.runHelm(t, r.waiting(append([]string{"upgrade", r.name, chart, "--reset-values", "--values", file, "--set", image}, args...))...)
}

// checkPauseAndLimit checks that a job is paused for the reason, and that the former evictions use up the hourly limit
// of the job after it.
func (r release) checkPauseAndLimit(ctx context.Context, t *testing.T, reason string) {
	t.Helper()
	if out := r.runFailingJob(ctx, t, "zones"); !strings.Contains(out, "Paused") || !strings.Contains(out, reason) {
		t.Errorf("the report does not name the pause:\n%s", out)
	}
	r.runAsAdministrator(ctx, t, "resume")
	if out := r.runJob(ctx, t, "zones"); !strings.Contains(out, "LimitPerHour") {
		t.Errorf("the report does not name the hourly limit:\n%s", out)
	}
}

// checkRefused runs a pass of strategy zones with the permissions of the release. The pass must fail with an error.
func (r release) checkRefused(ctx context.Context, t *testing.T, config, want string) {
	t.Helper()
	out, errs, err := r.runEvenkeel(ctx, t, "run", "--once", "--strategy", "zones", "--config", config, "--kubeconfig", r.writePodKubeconfig(ctx, t))
	if err == nil || !strings.Contains(out+errs, want) {
		t.Errorf("a pass with the former permissions and %s: %v, want %q:\n%s%s", config, err, want, out, errs)
	}
}
