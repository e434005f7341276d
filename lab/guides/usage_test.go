package guides

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// rules is a rule file of dynamicScheduler.
const rules = `PromJob: {Name: "node"}
Rulename:
  Node_cpu1: {Promsql: "node_cpu_busy_percent{job='node'}", Threshold: 70}
`

// standIn is a Deployment, with a Service, in place of a program that the reader has. Its pods do nothing.
const standIn = `kubectl create deployment %[1]s --namespace kube-system --image registry.example.org/%[1]s
kubectl create service clusterip %[1]s --namespace kube-system --tcp 80
`

// labelled returns the nodes with the label of dynamicScheduler, such as "n1 n2".
func labelled(t *testing.T) string {
	t.Helper()
	list := must.Get(lab.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "status=presure"}))(t)
	var names []string
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// TestDynamicScheduler follows the guide from dynamicScheduler. Its label is on n2, and its rule now holds for n1.
func TestDynamicScheduler(t *testing.T) {
	prometheus := fakePrometheus(t, answer{"node_cpu_busy_percent", [3]float64{85, 30, 20}})
	s := newShell(t, lab.Kubeconfig, map[string]string{"IMAGE": "registry.example.org/evenkeel", "PROMETHEUS_URL": prometheus})
	must.Succeed(t, os.WriteFile(filepath.Join(s.dir, "rule.yaml"), []byte(rules), 0o600))
	s.run(t, fmt.Sprintf(standIn, "dynamicscheduler")+"kubectl label node n2 status=presure")
	t.Cleanup(func() { unlabel(t) })
	s.follow(t, "## dynamicScheduler", []action{
		{title: "1. Convert the rules", check: wantText("config.yaml is valid: ", "(dryRun: true)")},
		{title: "2. Compare", check: wantText("\nn2 ", "Pressure hints", "foreign")},
		{title: "3. Install Evenkeel beside dynamicScheduler", check: func(t *testing.T, _ string) {
			waitForPod(t)
			eventually(t, "the dry run reports n1", func() (bool, error) {
				return strings.Contains(ask(t, "/metrics"), `evenkeel_hinted_nodes{rule="Node_cpu1"} 1`), nil
			})
			if got := labelled(t); got != "n2" {
				t.Errorf("the label is on %q, want n2", got)
			}
		}},
		{title: "4. Switch", check: func(t *testing.T, _ string) {
			eventually(t, "only n1 has the label", func() (bool, error) { return labelled(t) == "n1", nil })
			const want = `{"type":"Label type=presure Nodes","num":1,"node_names":["n1"]}`
			eventually(t, "GET /nodes names n1", func() (bool, error) { return strings.TrimSpace(ask(t, "/nodes")) == want, nil })
		}},
		{title: "5. Uninstall dynamicScheduler", check: wantText("\nn1 ")},
	})
	s.run(t, "kubectl delete service dynamicscheduler --namespace kube-system")
	uninstall(t, s)
}

// unlabel removes the labels of dynamicScheduler, and what Evenkeel wrote on n1.
func unlabel(t *testing.T) {
	t.Helper()
	for _, n := range []string{"n1", "n2"} {
		patch := []byte(`{"metadata":{"labels":{"status":null},"annotations":{"evenkeel.io/pressure":null}}}`)
		if _, err := lab.Client.CoreV1().Nodes().Patch(context.Background(), n, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Errorf("removing the label of %s: %v", n, err)
		}
	}
}

// get returns the body of a successful answer, and otherwise "".
func get(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// trimaran is the configuration of the second scheduler.
const trimaran = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: trimaran
  plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}, {name: NodeResourcesFit}]
      enabled: [{name: LoadVariationRiskBalancing}]
  pluginConfig:
  - name: LoadVariationRiskBalancing
    args: {watcherAddress: http://load-watcher.kube-system:2020}
`

// TestLoadWatcher follows the guide from load-watcher with trimaran. At the end, trimaran reads the usage from
// Evenkeel, which measures the nodes itself.
func TestLoadWatcher(t *testing.T) {
	watcher := fakeLoadWatcher(t, [3]float64{60, 20, 10})
	prometheus := fakePrometheus(t, answer{"instance:node_cpu:ratio", [3]float64{.55, .25, .15}},
		answer{"instance:node_memory_utilisation:ratio", [3]float64{.2, .2, .2}})
	s := newShell(t, lab.Kubeconfig, map[string]string{"IMAGE": "registry.example.org/evenkeel", "PROMETHEUS_URL": prometheus, "WATCHER_URL": watcher})
	must.Succeed(t, os.WriteFile(filepath.Join(s.dir, "before.yaml"), []byte(trimaran), 0o600))
	s.run(t, fmt.Sprintf(standIn, "load-watcher")+fmt.Sprintf(standIn, "trimaran")+
		"kubectl create configmap trimaran --namespace kube-system --from-file=scheduler-config.yaml=before.yaml")
	s.follow(t, "## load-watcher and trimaran", []action{
		{title: "1. Describe the scheduler", check: wantText("config.yaml is valid: 1 strategy, it evicts nothing (dryRun: true)")},
		{title: "2. Compare", check: wantText("Nodes: share of allocatable that pods request, and share in use", "loadWatcher")},
		{title: "3. Install Evenkeel beside load-watcher", check: func(t *testing.T, _ string) {
			waitForPod(t)
			eventually(t, "Evenkeel answers like load-watcher", func() (bool, error) { return served(t)["n1"] == 60, nil })
		}},
		{title: "4. Let Evenkeel measure", check: func(t *testing.T, _ string) {
			eventually(t, "Evenkeel serves its own figures", func() (bool, error) { return served(t)["n1"] == 55, nil })
		}},
		{title: "5. Let trimaran read from Evenkeel", check: func(t *testing.T, _ string) {
			cm := must.Get(lab.Client.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "trimaran", metav1.GetOptions{}))(t)
			want := strings.Replace(trimaran, "http://load-watcher.kube-system:2020", "http://evenkeel.evenkeel:8080", 1)
			if got := cm.Data["scheduler-config.yaml"]; strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("the configuration of trimaran is\n%s\nwant\n%s", got, want)
			}
			if _, err := lab.Client.CoreV1().Services(namespace).Get(t.Context(), "evenkeel", metav1.GetOptions{}); err != nil {
				t.Errorf("trimaran cannot reach Evenkeel: %v", err)
			}
		}},
		{title: "6. Uninstall load-watcher", check: func(t *testing.T, _ string) {
			list, err := lab.Client.AppsV1().Deployments("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "app=load-watcher"})
			if err != nil || len(list.Items) > 0 {
				t.Errorf("%d Deployments of load-watcher, %v", len(list.Items), err)
			}
		}},
		{title: "7. Switch", check: func(t *testing.T, _ string) {
			eventually(t, "the release may evict", func() (bool, error) {
				_, err := lab.Client.CoordinationV1().Leases(namespace).Get(t.Context(), "evenkeel", metav1.GetOptions{})
				return err == nil, nil
			})
		}},
	})
	s.run(t, "kubectl delete deployment,service,configmap trimaran --namespace kube-system --ignore-not-found")
	uninstall(t, s)
}

// served returns the latest CPU of each node, in whole percent, as GET /watcher serves it.
func served(t *testing.T) map[string]float64 {
	t.Helper()
	var doc struct {
		Data struct {
			NodeMetricsMap map[string]struct {
				Metrics []struct {
					Type, Operator string
					Value          float64
				}
			}
		}
	}
	out := map[string]float64{}
	if json.Unmarshal([]byte(ask(t, "/watcher")), &doc) != nil {
		return out
	}
	for node, n := range doc.Data.NodeMetricsMap {
		for _, m := range n.Metrics {
			if m.Type == "CPU" && m.Operator == "Latest" {
				out[node] = math.Round(m.Value)
			}
		}
	}
	return out
}
