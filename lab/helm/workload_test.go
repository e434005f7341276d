package helm_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// at is a path in an object, and the value there as JSON.
type at struct {
	path []any
	want string
}

func (a at) check(t *testing.T, kind string, object manifest) {
	t.Helper()
	got, err := json.Marshal(valueAt(t, object, a.path...))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != a.want {
		t.Errorf("%s: %v is %s, want %s", kind, a.path, got, a.want)
	}
}

// inPod has what testdata/pod-values.yaml changes in the pod templates of both kinds.
var inPod = []at{
	{[]any{"metadata", "labels", "team"}, `"a"`},
	{[]any{"metadata", "annotations"}, `{"cluster-autoscaler.kubernetes.io/safe-to-evict":"false","karpenter.sh/do-not-disrupt":"true","note":"a"}`},
	{[]any{"spec", "automountServiceAccountToken"}, "false"},
	{[]any{"spec", "enableServiceLinks"}, "true"},
	{[]any{"spec", "setHostnameAsFQDN"}, "true"},
	{[]any{"spec", "terminationGracePeriodSeconds"}, "90"},
	{[]any{"spec", "securityContext", "fsGroup"}, "1000"},
	{[]any{"spec", "priorityClassName"}, `"important"`},
	{[]any{"spec", "runtimeClassName"}, `"gvisor"`},
	{[]any{"spec", "hostUsers"}, "false"},
	{[]any{"spec", "schedulerName"}, `"other"`},
	{[]any{"spec", "nodeSelector"}, `{"pool":"infra"}`},
	{[]any{"spec", "tolerations"}, `[{"key":"infra","operator":"Exists"}]`},
	{[]any{"spec", "affinity"}, `{"nodeAffinity":{}}`},
	{[]any{"spec", "dnsPolicy"}, `"Default"`},
	{[]any{"spec", "dnsConfig"}, `{"nameservers":["10.0.0.1"]}`},
	{[]any{"spec", "hostAliases"}, `[{"hostnames":["prometheus"],"ip":"10.0.0.2"}]`},
	{[]any{"spec", "initContainers"}, `[{"image":"registry.example.org/first:1","name":"first"}]`},
	{[]any{"spec", "topologySpreadConstraints", 1, "labelSelector"}, `{"matchLabels":{"a":"b"}}`},
	{[]any{"spec", "containers", 0, "securityContext", "runAsNonRoot"}, "true"},
	{[]any{"spec", "containers", 0, "resources", "requests", "cpu"}, `"2"`},
	{[]any{"spec", "containers", 0, "env", 2}, `{"name":"HTTPS_PROXY","value":"http://proxy:3128"}`},
	{[]any{"spec", "containers", 0, "envFrom"}, `[{"secretRef":{"name":"env"}}]`},
}

// inDeployment has what the values change in the Deployment besides.
var inDeployment = []at{
	{[]any{"spec", "replicas"}, "2"},
	{[]any{"spec", "template", "spec", "topologySpreadConstraints", 0, "labelSelector"},
		`{"matchLabels":{"app.kubernetes.io/component":"controller","app.kubernetes.io/instance":"ek","app.kubernetes.io/name":"evenkeel"}}`},
	{[]any{"spec", "template", "spec", "containers", 0, "args"}, `["run","--config","/etc/evenkeel/config.yaml","--log-level=debug","--log-format=json",` +
		`"--tls-cert-file=/etc/evenkeel-tls/tls.crt","--tls-private-key-file=/etc/evenkeel-tls/tls.key","--log-report=none"]`},
	{[]any{"spec", "template", "spec", "containers", 0, "livenessProbe"},
		`{"failureThreshold":6,"httpGet":{"path":"/livez","port":"http","scheme":"HTTPS"},"initialDelaySeconds":5,"periodSeconds":20,"timeoutSeconds":1}`},
	{[]any{"spec", "template", "spec", "containers", 0, "readinessProbe"},
		`{"failureThreshold":4,"httpGet":{"path":"/readyz","port":"http","scheme":"HTTPS"},"periodSeconds":5,"timeoutSeconds":1}`},
	{[]any{"spec", "template", "spec", "volumes"},
		`[{"configMap":{"name":"ek-evenkeel"},"name":"config"},{"name":"tls","secret":{"secretName":"evenkeel-tls"}},{"emptyDir":{},"name":"more"}]`},
	{[]any{"spec", "template", "spec", "containers", 0, "volumeMounts"}, `[{"mountPath":"/etc/evenkeel","name":"config","readOnly":true},` +
		`{"mountPath":"/etc/evenkeel-tls","name":"tls","readOnly":true},{"mountPath":"/more","name":"more"}]`},
}

// inCronJob has what the values change in CronJobs besides.
var inCronJob = []at{
	{[]any{"spec", "jobTemplate", "spec", "template", "spec", "containers", 0, "args"},
		`["run","--once","--strategy","hot-nodes","--config","/etc/evenkeel/config.yaml","--log-report=lines","--lease-timeout","2400s","--pass-timeout","1200s","--log-level=debug","--log-format=json",` +
			`"--push-url=http://pushgateway:9091","--log-report=none"]`},
	{[]any{"spec", "jobTemplate", "spec", "template", "spec", "volumes"},
		`[{"configMap":{"name":"ek-evenkeel"},"name":"config"},{"emptyDir":{},"name":"more"}]`},
}

var besides = map[string][]at{
	"Service": {
		{[]any{"spec", "ports", 0}, `{"appProtocol":"https","name":"http","port":9000,"protocol":"TCP","targetPort":"http"}`},
	},
	"PodDisruptionBudget": {
		{[]any{"spec", "maxUnavailable"}, `"50%"`},
		{[]any{"spec", "unhealthyPodEvictionPolicy"}, `"AlwaysAllow"`},
		{[]any{"spec", "selector", "matchLabels", "app.kubernetes.io/component"}, `"controller"`},
	},
	"ServiceAccount": {{[]any{"automountServiceAccountToken"}, "true"}},
	"Deployment":     inDeployment,
}

// TestPodValues checks that each value of pods and workloads reaches the field that it names.
func TestPodValues(t *testing.T) {
	deployment := renderChart(t, "--values", "testdata/pod-values.yaml")
	jobs := renderChart(t, "--values", "testdata/pod-values.yaml", "--set", "kind=CronJob,metrics.pushURL=http://pushgateway:9091,"+
		"tls.secretName=,service.enabled=false,podDisruptionBudget.enabled=false")
	for _, out := range []string{deployment, jobs} {
		pods := podTemplates(t, out)
		if len(pods) == 0 {
			t.Fatal("no pod template")
		}
		for _, pod := range pods {
			for _, a := range inPod {
				a.check(t, "pod", pod)
			}
		}
	}
	for kind, list := range besides {
		objects := parseObjects(t, deployment, kind)
		if len(objects) != 1 {
			t.Errorf("%d objects of kind %s, want one", len(objects), kind)
			continue
		}
		for _, a := range list {
			a.check(t, kind, objects[0])
		}
	}
	for _, a := range inCronJob {
		a.check(t, "CronJob", parseObjects(t, jobs, "CronJob")[0])
	}
	for _, kind := range []string{"Service", "PodDisruptionBudget"} {
		if len(parseObjects(t, jobs, kind)) > 0 {
			t.Errorf("jobs have a %s", kind)
		}
	}
}

// TestOptionalArgsAreAbsent checks that the pods have only the arguments that the values ask for.
func TestOptionalArgsAreAbsent(t *testing.T) {
	args := valueAt(t, podTemplates(t, renderChart(t))[0], "spec", "containers", 0, "args").([]any)
	if len(args) != 3 {
		t.Errorf("by default the container has the arguments %v, want run --config FILE", args)
	}
}

// TestExtraObjects checks that extraObjects become objects of the release, and that templates in them are rendered.
func TestExtraObjects(t *testing.T) {
	out := renderChart(t, "--set-json", `extraObjects=[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"{{ .Release.Name }}-a"}},`+
		`"apiVersion: v1\nkind: Secret\nmetadata: {name: b, namespace: {{ include \"evenkeel.namespace\" . }}}\n"]`)
	var got []string
	for _, o := range parseObjects(t, out, "Secret") {
		text, err := json.Marshal(o["metadata"])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	if want := `{"name":"ek-a"} {"name":"b","namespace":"ek-system"}`; strings.Join(got, " ") != want {
		t.Errorf("got objects %v, want %s", got, want)
	}
}

// TestSafeToEvict checks which pods autoscalers may not interrupt: by default those of jobs, which do not start again.
func TestSafeToEvict(t *testing.T) {
	for values, want := range map[string]bool{
		"kind=Deployment": false, "kind=CronJob": true,
		"kind=Deployment,safeToEvict=false": true, "kind=CronJob,safeToEvict=true": false,
	} {
		if got := strings.Contains(renderChart(t, "--set", values), "safe-to-evict: \"false\""); got != want {
			t.Errorf("%s: the pods have the annotation: %t, want %t", values, got, want)
		}
	}
}

// TestArgsOfTheChart checks that extraArgs cannot contain an argument that the chart sets, in either spelling.
func TestArgsOfTheChart(t *testing.T) {
	for _, arg := range []string{"config", "once", "strategy", "lease-namespace", "lease-timeout", "pass-timeout", "bind-address", "authorize-metrics",
		"tls-cert-file", "tls-private-key-file", "push-url"} {
		for _, form := range []string{"--" + arg, "--" + arg + "=a"} {
			out, errs, err := runHelm(t, append([]string{"template", "ek", chart, "--set", "extraArgs={" + form + "}"}, imageArgs...)...)
			if want := "extraArgs contains " + form + ", which the chart sets itself (want "; err == nil || !strings.Contains(errs, want) {
				t.Errorf("%s: want the error %q, got %v: %s%s", form, want, err, errs, out)
			}
		}
	}
}
