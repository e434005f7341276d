package main

import (
	"net/http"
	"strings"
	"testing"
)

const deploymentsOfDefault = "/apis/apps/v1/namespaces/default/deployments"

// releaseObjects returns the answers of a server with a release in the namespace default, whose ConfigMap has the text.
func releaseObjects(text string) map[string]http.HandlerFunc {
	const deployment = `{"metadata":{"name":"a","namespace":"default","labels":{"app.kubernetes.io/name":"evenkeel"}},"spec":{"template":{"spec":{` +
		`"containers":[{"name":"evenkeel","args":["run","--config","/etc/evenkeel/config.yaml"],"volumeMounts":[{"name":"config","mountPath":"/etc/evenkeel"}]}],` +
		`"volumes":[{"name":"config","configMap":{"name":"ek"}}]}}}}`
	return map[string]http.HandlerFunc{
		allLeases:            releasesIn(map[string]string{"default": "node-7"}),
		deploymentsOfDefault: respondText(200, "application/json", `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[`+deployment+`]}`),
		"/apis/batch/v1/namespaces/default/cronjobs": respondText(200, "application/json", `{"kind":"CronJobList","apiVersion":"batch/v1","items":[]}`),
		"/api/v1/namespaces/default/configmaps/ek": func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"kind": "ConfigMap", "apiVersion": "v1",
				"metadata": map[string]any{"name": "ek", "namespace": "default"}, "data": map[string]any{"config.yaml": text}})
		},
	}
}

// runOnServer runs a command against a server with these answers.
func runOnServer(t *testing.T, answers map[string]http.HandlerFunc, args string) programResult {
	t.Helper()
	isolateFromCluster(t)
	r := badInput{server: &serverFault{paths: answers}}
	dir := r.prepare(t)
	r.serve(t, dir)
	return invoke(t, connectTimeout, argsInDir(dir, args+" --kubeconfig kubeconfig.yaml"), "")
}

const ofRelease = "evenkeel: configuration of the release in namespace default (ConfigMap default/ek)"

// TestCommandsUseTheConfigurationOfTheRelease checks that plan and explain make the plan that the release would make.
func TestCommandsUseTheConfigurationOfTheRelease(t *testing.T) {
	const ours = configHead + "dryRun: false\nstrategies:\n  ours: {type: ZoneSpread, schedule: \"@hourly\"}\n"
	for _, command := range []string{"plan", "explain node n3", "capture -o -", "hints list"} {
		got := runOnServer(t, releaseObjects(ours), command)
		if got.exit != 0 || got.stderr != ofRelease+"\n" {
			t.Errorf("%s: exit %d, stderr %q", command, got.exit, got.stderr)
		}
	}
	if got := runOnServer(t, releaseObjects(ours), "plan"); !strings.Contains(got.stdout, "ours") || strings.Contains(got.stdout, "dry run") {
		t.Errorf("the plan is not that of the release:\n%s", got.stdout)
	}
	if got := runOnServer(t, releaseObjects(ours), "plan --config builtin"); got.stderr != "" || strings.Contains(got.stdout, "ours") {
		t.Errorf("the plan is not that of the built-in configuration: %s\n%s", got.stderr, got.stdout)
	}
	got := runOnServer(t, releaseObjects(ours), "plan --strategy hot-nodes")
	if want := "the configuration has no strategy of that name (it has: ours)"; got.exit != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("an unknown strategy: exit %d, stderr %q, want %q", got.exit, got.stderr, want)
	}
}

func TestConfigurationOfTheReleaseIsUnusable(t *testing.T) {
	denied := releaseObjects("")
	denied[deploymentsOfDefault] = respondStatus(403, "Forbidden", "deployments is forbidden")
	several := releaseObjects("")
	several[allLeases] = releasesIn(map[string]string{"ek": "node-7", "trial": "node-8"})
	for name, c := range map[string]struct {
		answers map[string]http.HandlerFunc
		exit    int
		want    []string
	}{
		"no permission": {denied, 0, []string{"evenkeel: warning: the built-in configuration is used, not that of a release: " +
			"listing the Deployments of namespace default: deployments is forbidden; set --config to a file, or to builtin"}},
		"a mistake": {releaseObjects(configHead + "dryrun: true\n"), 1, []string{"evenkeel: the configuration of the release in namespace default cannot be used: " +
			"ConfigMap default/ek: /etc/evenkeel/config.yaml:3: dryrun: unknown key", "set --config to a file, or to builtin"}},
		"several releases": {several, 1, []string{"evenkeel: 2 releases of Evenkeel were found: in namespace ek (led by node-7), in namespace trial", "set --lease-namespace"}},
		"files of the pods": {releaseObjects(configHead + "load: {source: prometheus, prometheus: {url: \"https://prometheus:9090\", caFile: /nowhere/ca.crt}}\n"), 0,
			[]string{ofRelease + "; no usage is measured, because only the pods of the release have load.prometheus.caFile /nowhere/ca.crt; to measure it, set --config to a local copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := runOnServer(t, c.answers, "plan")
			if got.exit != c.exit {
				t.Errorf("exit %d, want %d", got.exit, c.exit)
			}
			for _, want := range c.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("stderr %q, want %q", got.stderr, want)
				}
			}
		})
	}
}

// TestApplyNeedsTheConfigurationOfTheRelease checks that apply evicts nothing itself if it cannot read the windows and
// limits of the release.
func TestApplyNeedsTheConfigurationOfTheRelease(t *testing.T) {
	for name, deployments := range map[string]http.HandlerFunc{
		"forbidden":  respondStatus(403, "Forbidden", "deployments is forbidden"),
		"not ready":  respondStatus(503, "ServiceUnavailable", "no server is available"),
		"not a file": respondText(200, "application/json", `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[]}`),
	} {
		answers := releaseObjects("")
		answers[allLeases] = releasesIn(map[string]string{"default": ""})
		answers[deploymentsOfDefault] = deployments
		isolateFromCluster(t)
		r := badInput{server: &serverFault{paths: answers}}
		dir := r.prepare(t)
		s := r.serve(t, dir)
		got := invoke(t, connectTimeout, argsInDir(dir, "apply - --kubeconfig kubeconfig.yaml --lease-namespace default"), somePlan)
		if want := "evenkeel: nothing was evicted: the configuration of the release is not known"; got.exit != 1 || !strings.Contains(got.stderr, want) ||
			!strings.Contains(got.stderr, "set --config to a file") {
			t.Errorf("%s: exit %d, stderr %q, want %q", name, got.exit, got.stderr, want)
		}
		if len(s.evictions()) > 0 || len(s.leaders()) > 0 {
			t.Errorf("%s: evictions %v, Leases %v", name, s.evictions(), s.leaders())
		}
	}
}

// TestPauseInANamespaceWithoutARelease checks that `pause -n shop` writes nothing and names the release elsewhere.
func TestPauseInANamespaceWithoutARelease(t *testing.T) {
	answers := releaseObjects("")
	for _, kind := range []string{"/apis/apps/v1/namespaces/shop/deployments", "/apis/batch/v1/namespaces/shop/cronjobs"} {
		answers[kind] = respondText(200, "application/json", `{"items":[]}`)
	}
	isolateFromCluster(t)
	r := badInput{server: &serverFault{paths: answers}}
	dir := r.prepare(t)
	s := r.serve(t, dir)
	got := invoke(t, connectTimeout, argsInDir(dir, "pause -n shop --kubeconfig kubeconfig.yaml"), "")
	const want = "evenkeel: evictions are not paused: namespace shop (--namespace) has no release of Evenkeel"
	if got.exit != 1 || !strings.HasPrefix(got.stderr, want) || !strings.Contains(got.stderr, "a release was found in namespace default") {
		t.Errorf("exit %d, stderr %q, want %q", got.exit, got.stderr, want)
	}
	if len(s.posts) > 0 {
		t.Errorf("the command wrote %v", s.posts)
	}
}

// TestOneLogger checks that a command has one logger: client-go logs there too, and must not see another one.
func TestOneLogger(t *testing.T) {
	g := &globalFlags{}
	root := newRoot(g)
	if first := g.logger(root); first != g.logger(root) {
		t.Error("the command has two loggers")
	}
}
