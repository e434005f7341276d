package helm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestLint(t *testing.T) {
	for _, kind := range []string{"Deployment", "CronJob"} {
		if out, errs, err := runHelm(t, "lint", "--strict", chart, "--set", "kind="+kind); err != nil {
			t.Errorf("%s: %v\n%s%s", kind, err, out, errs)
		}
	}
}

func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"deployment":       {},
		"deployment-evict": {"--set", "config.dryRun=false", "--set", "service.enabled=true", "--set", "replicas=2"},
		// Every permission that the chart can grant.
		"deployment-steer": {"--set", "config.dryRun=false,config.evictor.steer=taint,config.load.source=metricsServer",
			"--set", "config.evictor.gracePeriodSeconds=20,flowSchema.enabled=true,metrics.authorize=true,tls.secretName=cert",
			"--set-json", `config.namespaces.include=["shop","web"]`,
			"--set-json", `config.preset=[],config.strategies={"failed": {"type":"FailedPods","schedule":"@hourly","args":{"remove":"deletion"}}}`},
		"cronjob":       {"--set", "kind=CronJob"},
		"cronjob-evict": {"--set", "kind=CronJob", "--set", "config.dryRun=false", "--set", "config.timeZone=Europe/Berlin"},
	} {
		got := renderChart(t, args...)
		path := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; run `go test . -update` to rewrite it\n%s", path, got)
		}
	}
}

// cronJobArgs returns helm arguments for jobs with one strategy.
func cronJobArgs(strategy string) []string {
	return []string{"--set", "kind=CronJob", "--set-json", "config.preset=[],config.strategies={" + strategy + "}"}
}

// hintArgs returns helm arguments with a hint rule, and optionally with the required number of samples.
func hintArgs(values string, samples int) []string {
	more := ""
	if samples > 0 {
		more = fmt.Sprintf(`,"for":%d`, samples)
	}
	return []string{"--set", "config.hints.enabled=true," + values,
		"--set-json", `config.hints.rules=[{"name":"cpu","resource":"cpu","above":0.8` + more + `}]`}
}

// loadStrategy returns a helm argument with a strategy that balances by measured usage and requires a number of
// samples.
func loadStrategy(samples int) string {
	return fmt.Sprintf(`config.preset=[],config.strategies={"hot": {"type":"NodeLoad","schedule":"@hourly",`+
		`"args":{"basis":"load","target":{"cpu":0.8},"for":%d}}}`, samples)
}

func TestRefusals(t *testing.T) {
	strategy := func(schedule string) []string {
		return []string{"--set-json", fmt.Sprintf(`config.preset=[],config.strategies={"a": {"type":"ZoneSpread","schedule":%q}}`, schedule)}
	}
	for _, c := range []struct {
		names string // text that the error must contain
		args  []string
	}{
		{"/kind", []string{"--set", "kind=DaemonSet"}},
		{"config.strategies.a.schedule is", strategy("not a cron")},
		{"config.strategies.a.schedule is", strategy("a b c d e")},
		{"config.strategies.a.schedule is", strategy("* * * *")},
		{"config.strategies.a.schedule is", strategy("0 0 * * 8")},
		{"/config/dryRun", []string{"--set-string", "config.dryRun=no"}},
		{"replicaCount", []string{"--set", "replicaCount=2"}},
		{"/replicas", []string{"--set", "replicas=-1"}},
		{"/image/pullPolicy", []string{"--set", "image.pullPolicy=Sometimes"}},
		{"zones has onNodeReady, but a job does not wait for nodes", cronJobArgs(`"zones":{"type":"ZoneSpread","schedule":"@hourly","onNodeReady":"5m"}`)},
		{"config.strategies.a has no schedule", []string{"--set-json", `config.preset=[],config.strategies={"a": {"type":"ZoneSpread"}}`}},
		{"has no schedule", cronJobArgs(`"a":{"type":"ZoneSpread"}`)},
		{"value must be one of 'ZoneSpread'", []string{"--set-json", `config.preset=[],config.strategies={"a": {"type":"ZoneSpred","schedule":"@hourly"}}`}},
		{"'minRestart' not allowed", []string{"--set-json", `config.preset=[],config.strategies={"a": {"type":"Restarts","schedule":"@hourly","args":{"minRestart":3}}}`}},
		{"/config/hints/enabled", []string{"--set-string", "config.hints.enabled=yes"}},
		{"/config/hints/label", []string{"--set-json", "config.hints.label=1000000"}},
		{"/config/hints/former/0", []string{"--set-json", "config.hints.former=[1000000]"}},
		{"/config/hints/taint", []string{"--set-json", "config.hints.taint=1"}},
		{"is made from config", []string{"--set-string", `extraFiles.config\.yaml=x`}},
		{"a/b", []string{"--set-string", "extraFiles.a/b=x"}},
		{"extraVolumes[0].name", []string{"--set-json", `extraVolumes=[{"name":"config","emptyDir":{}}]`}},
		{"extraVolumeMounts[0].mountPath", []string{"--set-json", `extraVolumeMounts=[{"name":"a","mountPath":"token"}]`}},
		{"have no strategy", []string{"--set", "kind=CronJob", "--set-json", `config.preset=[],config.strategies={}`}},
		{"'hint' not allowed", []string{"--set", "config.hint.enabled=true"}},
		{"'ulr' not allowed", []string{"--set", "config.load.prometheus.ulr=x"}},
		{"'minReplica' not allowed", []string{"--set", "config.guards.minReplica=3"}},
		{"'topologyKey' not allowed", []string{"--set-json", `config.preset=[],config.strategies={"a": {"type":"ZoneSpread","topologyKey":"a"}}`}},
		{"config.load.interval is 30 (want a number and a unit", []string{"--set", "config.load.interval=30"}},
		{`config.limits.perPass is "some" (want`, []string{"--set", "config.limits.perPass=some"}},
		{"config.load.prometheus.url is empty", []string{"--set", "config.load.source=prometheus"}},
		{"config.load.loadWatcher.url is empty", []string{"--set", "config.load.source=loadWatcher"}},
		{"config.hints.rulesFile is rule.yaml, which", []string{"--set", "config.hints.rulesFile=rule.yaml"}},
		{"config.hints.rulesFile is rule.yaml, which", []string{"--set", "config.hints.rulesFile=rule.yaml",
			"--set-json", `extraVolumeMounts=[{"name":"a","mountPath":"/etc/even"}]`}},
		{"config.placement.schedulerConfig is /etc/evenkeel/s.yaml, which",
			[]string{"--set", "config.placement.schedulerConfig=/etc/evenkeel/s.yaml"}},
		{"at '/config/placement/profiles/0/policy': value must be 'unset (`evenkeel config scheduler --from-policy FILE` converts a Policy",
			[]string{"--set-json", `config.placement.profiles=[{"schedulerName":"a","score":"policy","policy":"p.json"}]`}},
		{"config.notify[0].urlFile is /secrets/slack, which",
			[]string{"--set-json", `config.notify=[{"name":"ops","format":"slack","urlFile":"/secrets/slack"}]`}},
		{"config.notify[0].tokenFile is /secrets/token, which", []string{"--set-json",
			`config.notify=[{"name":"ops","format":"json","url":"https://a","tokenFile":"/secrets/token"}]`}},
		{"config.load.prometheus.oauth2.clientSecretFile is /secrets/client, which", []string{"--set",
			"config.load.source=prometheus,config.load.prometheus.url=https://a,config.load.prometheus.oauth2.clientSecretFile=/secrets/client"}},
		{"config.load.loadWatcher.caFile is ca.crt, which", []string{"--set",
			"config.load.source=loadWatcher,config.load.loadWatcher.url=https://a,config.load.loadWatcher.caFile=ca.crt"}},
		{"people.approvers is set, but config.approvals.enabled is false", []string{"--set",
			"config.dryRun=false,config.approvals.enabled=false,people.approvers[0].kind=User,people.approvers[0].name=a"}},
		{"tls.secretName is set, but kind is CronJob", []string{"--set", "kind=CronJob,tls.secretName=a"}},
		{"service.enabled is set, but kind is CronJob", []string{"--set", "kind=CronJob,service.enabled=true"}},
		{"podDisruptionBudget.enabled is set, but kind is CronJob", []string{"--set", "kind=CronJob,podDisruptionBudget.enabled=true"}},
		{"networkPolicy.from is set, but kind is CronJob", []string{"--set-json", "kind=\"CronJob\"", "--set-json",
			`networkPolicy={"enabled":true,"from":[{"podSelector":{}}]}`}},
		{"metrics.authorize is set, but kind is CronJob", []string{"--set", "kind=CronJob,metrics.authorize=true"}},
		{"metrics.dashboard.enabled is true, but kind is CronJob without metrics.pushURL", []string{"--set",
			"kind=CronJob,metrics.dashboard.enabled=true"}},
		{"networkPolicy.egress.dnsPorts is empty", []string{"--set", "networkPolicy.enabled=true,networkPolicy.egress.enabled=true",
			"--set-json", "networkPolicy.egress.dnsPorts=[]"}},
		{"'webhook' not allowed", []string{"--set-json", `config.notify=[{"name":"ops","webhook":"https://a"}]`}},
		{"config.hints.rules: cpu needs several consecutive samples", hintArgs("kind=CronJob,config.load.source=metricsServer", 3)},
		{"config.hints.rules: cpu needs several consecutive samples", hintArgs(
			"kind=CronJob,config.load.source=loadWatcher,config.load.loadWatcher.url=http://a:2020", 2)},
		{"config.strategies.hot needs several consecutive samples",
			[]string{"--set", "kind=CronJob,config.load.source=metricsServer", "--set-json", loadStrategy(2)}},
	} {
		out, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart}, imageArgs, c.args)...)
		if err == nil {
			t.Errorf("helm accepts %v:\n%s", c.args, out)
		} else if !strings.Contains(errs, c.names) {
			t.Errorf("%v: the error does not name %s: %s", c.args, c.names, errs)
		}
	}
}

func TestAccepted(t *testing.T) {
	for _, schedule := range []string{"*/10 * * * *", "0 8-18/2 * * 1-5", "@hourly", "0 0 1 JAN mon", "0,30 * * * *"} {
		renderChart(t, "--set-json", fmt.Sprintf(`config.preset=[],config.strategies={"a": {"type":"ZoneSpread","schedule":%q}}`, schedule))
	}
	prometheus := "config.load.source=prometheus,config.load.prometheus.url=http://prometheus:9090"
	for _, args := range [][]string{
		hintArgs("config.load.source=metricsServer", 3),
		hintArgs("kind=CronJob,config.load.source=metricsServer", 1),
		hintArgs("kind=CronJob,"+prometheus, 3), // Prometheus has earlier samples
		{"--set", "kind=CronJob,config.load.source=metricsServer", "--set-json", loadStrategy(1)},
		{"--set", "kind=CronJob," + prometheus, "--set-json", loadStrategy(3)},
		{"--set", "config.hints.rulesFile=./rule.yaml,extraFiles.rule\\.yaml=a"},
		{"--set", "config.hints.rulesFile=/etc/evenkeel/rule.yaml,extraFiles.rule\\.yaml=a"},
		{"--set", "config.hints.rulesFile=/rules/a/rule.yaml", "--set-json", `extraVolumeMounts=[{"name":"a","mountPath":"/rules"}]`},
		{"--set", "config.limits.perPass=unlimited,config.limits.perNode=10%," +
			"config.guards.priorityBelow=1000,config.evictor.gracePeriodSeconds=30"},
		{"--set", "kind=CronJob,metrics.pushURL=https://$(PUSH_USER):$(PUSH_PASSWORD)@pushgateway:9091"},
		{"--set", prometheus + ",config.load.prometheus.tokenFile=/var/run/secrets/kubernetes.io/serviceaccount/token"},
		{"--set", prometheus + ",config.load.prometheus.caFile=ca.crt,extraFiles.ca\\.crt=a,config.load.loadWatcher.caFile=other"},
		{"--set", "kind=CronJob,metrics.dashboard.enabled=true,metrics.pushURL=http://pushgateway:9091"},
		{"--set", "podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=50%,replicas=2"},
	} {
		renderChart(t, args...)
	}
	if _, errs, err := runHelm(t, "template", "ek", chart, "--kube-version", "1.32.9"); err == nil || !strings.Contains(errs, "1.32") {
		t.Errorf("helm does not refuse Kubernetes 1.32: %s", errs)
	}
}

// TestPushURLShowsNoPassword checks that the error about a password does not repeat it, and that text beside a variable
// is rejected too.
func TestPushURLShowsNoPassword(t *testing.T) {
	for _, user := range []string{"s3cret", "bob:s3cret", "$(PUSH_USER):s3cret", "s3cret:$(PUSH_PASSWORD)", "$(PUSH_USER)s3cret", "$(PUSH_USER)@s3cret"} {
		out, errs, err := runHelm(t, append([]string{"template", "ek", chart, "--set", "kind=CronJob,metrics.pushURL=https://" + user + "@push"},
			imageArgs...)...)
		if err == nil || !strings.Contains(errs, "metrics.pushURL contains a user or a password") || strings.Contains(errs+out, "s3cret") {
			t.Errorf("%s: %v: %s%s", user, err, errs, out)
		}
	}
}

// podTemplates returns the pod templates of all rendered Deployments and CronJobs.
func podTemplates(t *testing.T, manifests string) []manifest {
	t.Helper()
	var found []manifest
	for _, d := range parseObjects(t, manifests, "Deployment") {
		found = append(found, valueAt(t, d, "spec", "template").(manifest))
	}
	for _, c := range parseObjects(t, manifests, "CronJob") {
		found = append(found, valueAt(t, c, "spec", "jobTemplate", "spec", "template").(manifest))
	}
	return found
}

func TestPodsMeetTheRestrictedLevel(t *testing.T) {
	for _, kind := range []string{"Deployment", "CronJob"} {
		for _, pod := range podTemplates(t, renderChart(t, "--set", "kind="+kind)) {
			container := valueAt(t, pod, "spec", "containers", 0).(manifest)
			for _, c := range []struct {
				want, got any
			}{
				{true, valueAt(t, pod, "spec", "securityContext", "runAsNonRoot")},
				{"RuntimeDefault", valueAt(t, pod, "spec", "securityContext", "seccompProfile", "type")},
				{true, valueAt(t, container, "securityContext", "readOnlyRootFilesystem")},
				{[]any{"ALL"}, valueAt(t, container, "securityContext", "capabilities", "drop")},
				{false, valueAt(t, container, "securityContext", "allowPrivilegeEscalation")},
			} {
				if !reflect.DeepEqual(c.want, c.got) {
					t.Errorf("%s: %v, want %v", kind, c.got, c.want)
				}
			}
			if _, probed := container["livenessProbe"]; probed != (kind == "Deployment") {
				t.Errorf("%s: liveness probe: %v", kind, probed)
			}
		}
	}
}

// TestCronJobsGroupBySchedule checks that the chart renders one job per schedule, with all strategies of
// that schedule.
func TestCronJobsGroupBySchedule(t *testing.T) {
	out := renderChart(t, "--set", "kind=CronJob", "--set-json",
		`config.preset=[],config.strategies={"a":{"type":"ZoneSpread","schedule":"0 * * * *"},"b":{"type":"ZoneSpread","schedule":"*/5 * * * *"},`+
			`"c":{"type":"ZoneSpread","schedule":"0 * * * *"},"d":{"type":"ZoneSpread","schedule":"30 2 * * *"}}`)
	var got []string
	names := map[any]bool{}
	for _, job := range parseObjects(t, out, "CronJob") {
		spec := valueAt(t, job, "spec").(manifest)
		args := valueAt(t, spec, "jobTemplate", "spec", "template", "spec", "containers", 0, "args")
		got = append(got, fmt.Sprint(spec["schedule"], " ", spec["timeZone"], " ", args))
		names[valueAt(t, job, "metadata", "name")] = true
		if spec["concurrencyPolicy"] != "Forbid" || !reflect.DeepEqual(valueAt(t, spec, "jobTemplate", "spec", "backoffLimit"), 0.0) {
			t.Errorf("job: %v", spec)
		}
	}
	// Each of the three jobs has a quarter of activeDeadlineSeconds (3600) for its pass, and waits for the rest.
	const tail = " --config /etc/evenkeel/config.yaml --log-report=lines --lease-timeout 2700s --pass-timeout 900s]"
	want := []string{"0 * * * * Etc/UTC [run --once --strategy a,c" + tail,
		"*/5 * * * * Etc/UTC [run --once --strategy b" + tail, "30 2 * * * Etc/UTC [run --once --strategy d" + tail}
	if !reflect.DeepEqual(got, want) || len(names) != 3 {
		t.Errorf("got jobs %q with names %v", got, names)
	}
}

// TestConfigIsCarriedOver checks that the rendered configuration equals the values, including large numbers, and that a
// changed configuration does not change the pod templates.
func TestConfigIsCarriedOver(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	config := "config:\n  hints: {rules: [{name: a, below: 1073741824, above: 0.8}]}\n  windows: {allow: []}\n"
	if err := os.WriteFile(values, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	plain, changed := renderChart(t), renderChart(t, "--values", values)
	text := valueAt(t, parseObjects(t, changed, "ConfigMap")[0], "data", "config.yaml").(string)
	if !strings.Contains(text, "below: 1073741824\n") {
		t.Errorf("the rendered configuration changes a large number:\n%s", text)
	}
	// Because the program reloads its configuration, a change must not restart the pods.
	if !reflect.DeepEqual(podTemplates(t, plain), podTemplates(t, changed)) {
		t.Error("a changed configuration changes the pod templates")
	}
}

// TestFilesAreMounted checks that Deployments and CronJobs can mount the files that the configuration names, either
// beside config.yaml or from a Secret.
func TestFilesAreMounted(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	rules := "  PromJob: {Name: node}\n\nRulename:\n  Node_cpu1: {Promsql: \"up{job='J'}\", Threshold: 70}\n"
	text, err := yaml.Marshal(manifest{
		"extraFiles":        manifest{"rule.yaml": rules, "ca.crt": "-----BEGIN CERTIFICATE-----\n"},
		"extraVolumes":      []manifest{{"name": "prometheus", "secret": manifest{"secretName": "prometheus-token"}}},
		"extraVolumeMounts": []manifest{{"name": "prometheus", "mountPath": "/var/run/prometheus", "readOnly": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(values, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Deployment", "CronJob"} {
		out := renderChart(t, "--values", values, "--set", "kind="+kind)
		data := valueAt(t, parseObjects(t, out, "ConfigMap")[0], "data").(manifest)
		if data["rule.yaml"] != rules || data["ca.crt"] != "-----BEGIN CERTIFICATE-----\n" || len(data) != 3 {
			t.Errorf("%s: the ConfigMap contains %v", kind, data)
		}
		for _, pod := range podTemplates(t, out) {
			if got := valueAt(t, pod, "spec", "volumes", 1, "secret", "secretName"); got != "prometheus-token" {
				t.Errorf("%s: the second volume comes from Secret %v", kind, got)
			}
			if got := valueAt(t, pod, "spec", "containers", 0, "volumeMounts", 1, "mountPath"); got != "/var/run/prometheus" {
				t.Errorf("%s: the second volume has mount path %v", kind, got)
			}
		}
	}
}

// TestConfigIsTheShippedOne checks that the chart's default configuration equals the program's.
func TestConfigIsTheShippedOne(t *testing.T) {
	var rendered, shipped any
	if err := yaml.Unmarshal([]byte(valueAt(t, parseObjects(t, renderChart(t), "ConfigMap")[0], "data", "config.yaml").(string)),
		&rendered); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &shipped); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(withoutNulls(rendered), withoutNulls(shipped)) {
		t.Errorf("the chart's default configuration differs from config.yaml:\n%v\n%v", rendered, shipped)
	}
}

// withoutNulls removes keys with a null value, at any depth. Helm 4 removes these keys, and Evenkeel treats keys with a
// null value like missing keys.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case manifest:
		kept := manifest{}
		for k, value := range v {
			if value != nil {
				kept[k] = withoutNulls(value)
			}
		}
		return kept
	case []any:
		var kept []any
		for _, value := range v {
			kept = append(kept, withoutNulls(value))
		}
		return kept
	}
	return v
}
