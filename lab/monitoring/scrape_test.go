package monitoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// timeout is the time until Prometheus has a series for every query. Strategies run once a minute.
const timeout = 5 * time.Minute

// config uses every feature that has metrics: usage, hints, approvals, notifications, and live passes.
const config = `load:
  source: prometheus
  interval: 10s
  window: 30s
  prometheus: {url: %q, preset: kubelet, rateWindow: 20s}
hints: {enabled: true, rules: [{name: cpu, resource: cpu, above: 0.25, clear: 0.20}]}
notify: [{name: hook, format: json, url: %q}]
limits: {perNamespace: unlimited}
strategies:
  zones: {type: ZoneSpread, schedule: "* * * * *", args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}}
  hot: {type: NodeLoad, schedule: "* * * * *", mode: approve, args: {basis: requests, target: {cpu: 0.95}}}
`

// command returns a command of Evenkeel for the release in a namespace.
func command(t *testing.T, ns string, args ...string) *exec.Cmd {
	t.Helper()
	kubeconfig := must.Get(stack.UserKubeconfig(programUser))(t)
	return exec.Command(testbed.Evenkeel, append(args, "--lease-namespace", ns, "--kubeconfig", kubeconfig)...)
}

func runCommand(t *testing.T, ns string, args ...string) {
	t.Helper()
	if out, err := command(t, ns, args...).CombinedOutput(); err != nil {
		t.Fatalf("evenkeel %v: %v\n%s", args, err, out)
	}
}

// startProgram runs Evenkeel until the test ends, and returns the address of its metrics. ended is closed when the
// program ends.
func startProgram(t *testing.T, ns, config string) (address string, ended chan struct{}) {
	t.Helper()
	port := must.Get(freeport.Get())(t)
	address = fmt.Sprintf("127.0.0.1:%d", port)
	var log bytes.Buffer
	cmd := command(t, ns, "run", "--config", config, "--bind-address", address)
	cmd.Stdout, cmd.Stderr = &log, &log
	must.Succeed(t, cmd.Start())
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("evenkeel run:\n%s", log.String())
		}
	})
	return address, ended
}

// TestEveryQueryHasData runs Evenkeel, and waits until Prometheus has data for every query and variable of the
// dashboard, and for every selector of the alerts.
func TestEveryQueryHasData(t *testing.T) {
	const namespace = "monitored"
	apps := seed.ThreeZoneApps([3]int{1, 1, 4}, 1)
	for i := range apps {
		apps[i].Annotations = usagestack.UsageAnnotations(900, 500)
	}
	kept := seed.App{Name: "kept", MilliCPU: 100, MemoryMi: 100, Nodes: []string{"n3", "n3", "n3"}, // why pods stay
		GraceSeconds: 1, Annotations: map[string]string{"evenkeel.io/evict": "never"}}
	budgeted := seed.App{Name: "budgeted", MilliCPU: 100, MemoryMi: 100, Nodes: []string{"n3", "n3", "n3"}, GraceSeconds: 1}
	must.Succeed(t, seed.CreateApps(t.Context(), stack.Client, namespace, append(apps, kept, budgeted)))
	none := intstr.FromInt32(0)
	must.Get(stack.Client.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: budgeted.Name}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": budgeted.Name}}}}, metav1.CreateOptions{}))(t)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	path := testbed.ConfigFile(t, fmt.Sprintf(config, stack.Prometheus, hook.URL))
	labels := map[string]string{"job": "evenkeel", "cluster": cluster, "namespace": namespace, "pod": "evenkeel-0"}
	// Prometheus computes an increase from two samples. So the evictions wait until it has the first sample.
	runCommand(t, namespace, "pause")
	address, ended := startProgram(t, namespace, path)
	must.Succeed(t, stack.ScrapeExporter(address, labels))
	waitForData(t, map[string][]string{"before the first eviction": {"evenkeel_landings_total", "evenkeel_replacement_ready_seconds_count"}}, ended)
	bindProbes(t, namespace, address)
	runCommand(t, namespace, "resume")
	wanted := dashboardQueries(t, namespace)
	for name, query := range dashboardVariables(t, namespace) {
		wanted["variable "+name] = []string{query}
	}
	for _, a := range readAlerts(t) {
		if a.Alert != withoutData {
			wanted["alert "+a.Alert] = selectorsOf(a.Expr)
		}
		if _, err := stack.Samples(t.Context(), a.Expr); err != nil {
			t.Errorf("alert %s: %v", a.Alert, err)
		}
	}
	waitForData(t, wanted, ended)
}

// minBindings is the number of predicted bindings from which on a scheduler has a hit ratio.
const minBindings = 50

// bindProbes creates pods one after the other, until the program has predicted the bindings of minBindings of them.
// Each pod prefers one of the three zones, so exactly one node is the best. bindProbes deletes each pod after its
// binding.
func bindProbes(t *testing.T, ns, address string) {
	t.Helper()
	for i := range 4 * minBindings {
		before := countBindings(t, address, "hit|miss|unclear")
		if countBindings(t, address, "hit|miss") >= minBindings {
			return
		}
		name := fmt.Sprintf("probe-%03d", i)
		must.Succeed(t, seed.BindProbe(t.Context(), stack.Client, ns, name, "", fmt.Sprintf("zone-%d", i%3+1)))
		// The program may skip a binding.
		_ = seed.WaitUntil(t.Context(), 3*time.Second, func() (bool, error) {
			return countBindings(t, address, "hit|miss|unclear") > before, nil
		})
		none := int64(0)
		must.Succeed(t, stack.Client.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &none}))
	}
	t.Fatalf("only %d bindings were predicted, want %d", countBindings(t, address, "hit|miss"), minBindings)
}

// countBindings returns how many bindings the program has counted, by the results that a regular expression matches.
func countBindings(t *testing.T, address, results string) (n int) {
	t.Helper()
	answer := must.Get(http.Get("http://" + address + "/metrics"))(t)
	defer answer.Body.Close()
	text := string(must.Get(io.ReadAll(answer.Body))(t))
	for _, line := range regexp.MustCompile(`(?m)^evenkeel_scheduler_bindings_total\{result="(?:`+results+`)",.*\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		n += must.Get(strconv.Atoi(line[1]))(t)
	}
	return n
}

// waitForData waits until every query returns samples that are numbers.
func waitForData(t *testing.T, wanted map[string][]string, ended <-chan struct{}) {
	t.Helper()
	var empty []string
	err := wait.PollUntilContextTimeout(t.Context(), 2*time.Second, timeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-ended:
			return false, errors.New("the program ended")
		default:
		}
		var now []string
		for name, queries := range wanted {
			for _, q := range queries {
				samples, err := stack.Samples(ctx, q)
				if err != nil {
					return false, fmt.Errorf("%s: %w", name, err)
				}
				if !slices.ContainsFunc(samples, func(s usagestack.Sample) bool { return s.Value == s.Value }) {
					now = append(now, name+": "+q)
				}
			}
		}
		empty = now
		return len(empty) == 0, nil
	})
	if err != nil {
		slices.Sort(empty)
		t.Fatalf("%d queries have no data within %s: %v\n%s", len(empty), timeout, err, strings.Join(empty, "\n"))
	}
}

// withoutData is the alert about the certificate: Evenkeel serves plain HTTP here.
const withoutData = "EvenkeelCertificateExpires"

// selector matches the name of a metric, with the labels that an expression selects if there are any.
var selector = regexp.MustCompile(`\b(?:evenkeel|rest_client|leader_election|process)_[a-z_]+\b(?:\{[^{}]*\})?`)

// selectorsOf returns the selectors of an expression. An alert that does not fire has no data, but each of its
// selectors has: a label or a value that does not exist would keep it silent.
func selectorsOf(expr string) []string {
	return slices.Compact(slices.Sorted(slices.Values(selector.FindAllString(expr, -1))))
}

func TestSelectorsOfAlerts(t *testing.T) {
	got := selectorsOf(`sum by (a) (increase(evenkeel_x_total{mode="live", stopped!~"none|Paused"}[3h])) > 0 unless max(evenkeel_y) and on (a) evenkeel_y == 1`)
	if want := []string{`evenkeel_x_total{mode="live", stopped!~"none|Paused"}`, "evenkeel_y"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, a := range readAlerts(t) {
		if len(selectorsOf(a.Expr)) == 0 {
			t.Errorf("alert %s has no selector", a.Alert)
		}
	}
}
