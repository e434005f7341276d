package releasecommand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

var testNoon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// clusterAfterKilledReconciler returns a cluster whose reconciler was killed. The reconciler hinted node n1 at noon
// for five minutes. Node n2 has a steering hint, and node n3 has a label of another program.
func clusterAfterKilledReconciler(t *testing.T) *fake.Clientset {
	t.Helper()
	client := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "other", Effect: corev1.TaintEffectNoSchedule}}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"status": "presure"}}},
	)
	w := writer.New(client, clock.RealClock{}, nil)
	must.Succeed(t, w.Put(t.Context(), []hints.Hint{{Node: "n2", Kind: hints.Taint, Run: "r1", Expires: testNoon.Add(time.Hour)}}))
	k := &reconciler.Reconciler{
		Writer: w, Clock: testclock.NewFakeClock(testNoon), Log: slog.New(slog.DiscardHandler), Nodes: func() []*corev1.Node { return listNodes(t, client) },
		Usage: func() *cluster.Usage {
			return &cluster.Usage{
				Nodes: []cluster.NodeUsage{{Name: "n1", At: testNoon, Used: map[string]int64{"cpu": 1}}},
				Marks: []cluster.Mark{{Watch: "hints/cpu", Node: "n1", Resource: "cpu", Hot: true, Value: 0.9125}},
			}
		},
	}
	k.Configure(reconciler.Options{Options: pressure.Options{Label: "status=presure", Taint: pressure.Key, MaxHintedFrac: 1, TTL: 5 * time.Minute, Rules: []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7}}}})
	k.Reconcile(t.Context())
	return client
}

func listNodes(t *testing.T, client *fake.Clientset) []*corev1.Node {
	t.Helper()
	list := must.Get(client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{}))(t)
	var out []*corev1.Node
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

// listNodeHints lists the labels, taints and annotations on all nodes.
func listNodeHints(t *testing.T, client *fake.Clientset) string {
	t.Helper()
	var out []string
	for _, n := range listNodes(t, client) {
		for k, v := range n.Labels {
			out = append(out, fmt.Sprintf("%s %s=%s", n.Name, k, v))
		}
		for _, x := range n.Spec.Taints {
			out = append(out, n.Name+" "+x.Key)
		}
		for k := range n.Annotations {
			out = append(out, n.Name+" ("+k+")")
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// runHintsCommandAt runs a hints command at the given time, and returns the output of the command.
func runHintsCommandAt(t *testing.T, client *fake.Clientset, at time.Time, do func(*cobra.Command, *hintCommand) error) string {
	t.Helper()
	out, err := runHintsCommand(t, &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: at, conf: hintedConfig("status"),
		configGiven: true}, do)
	if err != nil {
		t.Error(err)
	}
	return out
}

func runHintsCommand(t *testing.T, h *hintCommand, do func(*cobra.Command, *hintCommand) error, nodes ...string) (string, error) {
	t.Helper()
	if err := h.readHints(t.Context(), time.Minute, nodes); err != nil {
		return "", err
	}
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetOut(&out)
	err := do(cmd, h)
	return out.String(), err
}

// hintedConfig returns a configuration whose hints have the label KEY=presure, and had the label status=presure before.
func hintedConfig(key string) *config.Config {
	conf := config.Default()
	conf.Hints.Label, conf.Hints.Former = key+"=presure", []string{"status=presure"}
	return conf
}

const (
	foreign = "n1 other, n3 status=presure"
	pressed = "n1 (evenkeel.io/pressure), n1 evenkeel.io/pressure, n1 other, n1 status=presure"
	steered = "n2 (evenkeel.io/steer-expires), n2 (evenkeel.io/steer-kind), n2 (evenkeel.io/steer-run), n2 evenkeel.io/steer"
)

// TestHintsOfAKilledProcess checks that `hints list` shows the hints of a killed process, and that `hints gc` removes
// them after they expire. `hints gc` must not remove labels and taints of other programs.
func TestHintsOfAKilledProcess(t *testing.T) {
	client := clusterAfterKilledReconciler(t)
	got := runHintsCommandAt(t, client, testNoon.Add(time.Minute), listHints)
	for _, want := range []string{
		"n1    pressure  cpu at 0.9125 (label status=presure, taint evenkeel.io/pressure:PreferNoSchedule)  2026-01-01T12:05:00Z (in 4m0s)",
		"n2    taint     r1 ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the list is %q, want %q", got, want)
		}
	}
	if got := runHintsCommandAt(t, client, testNoon.Add(4*time.Minute), removeExpiredHints); !strings.Contains(got, "The hint on n1 stays; it expires 2026-01-01T12:05:00Z (in 1m0s).") {
		t.Errorf("gc at 4 minutes says %q", got)
	}
	if got, want := listNodeHints(t, client), pressed+", "+steered+", n3 status=presure"; got != want {
		t.Errorf("at 4 minutes %s, want %s", got, want)
	}
	if got := runHintsCommandAt(t, client, testNoon.Add(6*time.Minute), removeExpiredHints); !strings.Contains(got, "Removed hints from n1.") {
		t.Errorf("gc at 6 minutes says %q", got)
	}
	if got, want := listNodeHints(t, client), "n1 other, "+steered+", n3 status=presure"; got != want {
		t.Errorf("at 6 minutes %s, want %s", got, want)
	}
}

// TestForeignHintsAreListed checks that `hints list` shows labels and taints of other programs, with the command that
// removes them. The label of dynamicScheduler is listed whatever label is configured.
func TestForeignHintsAreListed(t *testing.T) {
	list := func(client *fake.Clientset, label string) string {
		out, err := runHintsCommand(t, &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: testNoon, conf: hintedConfig(label),
			configGiven: true}, listHints)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	const want = "n3    foreign   label status=presure"
	const command = "never; remove it with: kubectl label node n3 status-\n"
	for _, label := range []string{"status", "evenkeel.io/pressure"} {
		if got := list(clusterAfterKilledReconciler(t), label); strings.Count(got, "foreign") != 1 || !strings.Contains(got, want) || !strings.Contains(got, command) {
			t.Errorf("%s: the list is %q, want %q and %q", label, got, want, command)
		}
	}
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n3", Labels: map[string]string{"status": "active"}}})
	if got := list(client, "evenkeel.io/pressure"); got != "No node has a hint of Evenkeel.\n" {
		t.Errorf("the list is %q, although the only label is no hint", got)
	}
	if got := list(client, "status"); !strings.Contains(got, "n3    foreign  label status=active  never; remove it with: kubectl label node n3 status-") {
		t.Errorf("the list is %q, want the foreign label with the key of hints", got)
	}
}

// TestDescribePressureHint checks that the description of a hint names each rule once.
func TestDescribePressureHint(t *testing.T) {
	x := pressure.Hint{Rule: "memory", Value: 0.99, OtherRules: []string{"cpu"}, Label: "status=presure", Taint: pressure.Key}
	labelled := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"status": "presure"}}}
	both := labelled.DeepCopy()
	both.Spec.Taints = []corev1.Taint{{Key: pressure.Key, Effect: corev1.TaintEffectPreferNoSchedule}}
	const want = "memory at 0.99, also cpu (label status=presure, taint evenkeel.io/pressure:PreferNoSchedule)"
	for rest, n := range map[string]*corev1.Node{"": both, "; on the node: label status=presure": labelled, "; on the node: nothing": {}} {
		if got := describePressureHint(x, n); got != want+rest {
			t.Errorf("%q, want %q", got, want+rest)
		}
	}
}

// TestClearRemovesAllHints checks that `hints clear` removes steering and pressure hints, even
// those that have not expired.
func TestClearRemovesAllHints(t *testing.T) {
	client := clusterAfterKilledReconciler(t)
	if got := runHintsCommandAt(t, client, testNoon, removeAllHints); !strings.Contains(got, "Removed hints from n1, n2.") {
		t.Errorf("clear says %q", got)
	}
	if got := listNodeHints(t, client); got != foreign {
		t.Errorf("remaining: %s, want %s", got, foreign)
	}
	if got := runHintsCommandAt(t, client, testNoon, listHints); !strings.HasPrefix(got, "No node has a hint of Evenkeel.\n") ||
		strings.Contains(got, "n1") {
		t.Errorf("list says %q", got)
	}
}

// clear removes the hints of the given nodes only, and fails for a node that does not exist.
func TestClearOneNode(t *testing.T) {
	client := clusterAfterKilledReconciler(t)
	clearNode := func(name string) (string, error) {
		return runHintsCommand(t, &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: testNoon, conf: hintedConfig("status")},
			removeAllHints, name)
	}
	if got, err := clearNode("n1"); err != nil || got != "Removed hints from n1.\n" {
		t.Errorf("got %q, error %v", got, err)
	}
	if got, want := listNodeHints(t, client), "n1 other, "+steered+", n3 status=presure"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := clearNode("n9"); err == nil || err.Error() != `there is no node "n9"` {
		t.Errorf("an unknown node: got error %v", err)
	}
}

// A record that the configuration does not know may be the controller's, so clear removes it only if the configuration
// was named. What the record claims stays.
func TestClearInvalidRecords(t *testing.T) {
	client := clusterAfterKilledReconciler(t)
	n := listNodes(t, client)[1]
	n.Annotations[pressure.Key] = `{"expires":"2026-01-01T13:00:00Z","rule":"cpu","label":"team=\u001b[2J"}`
	n.Labels = map[string]string{"team": "a"}
	if _, err := client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	const problem = `it names the label "team=\x1b[2J", which neither hints.label nor hints.former contains`
	h := &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: testNoon, conf: config.Default()}
	_, err := runHintsCommand(t, h, removeAllHints, "n2")
	if want := "the record on node n2 stays: " + problem + "; name the configuration of the controller with --config"; err == nil || err.Error() != want {
		t.Errorf("without --config: got error %v, want %s", err, want)
	}
	h = &hintCommand{writer: h.writer, now: testNoon, conf: hintedConfig("status"), configGiven: true}
	if got, err := runHintsCommand(t, h, listHints); err != nil ||
		!strings.Contains(got, problem+"  never; remove the record with: evenkeel hints clear n2 --config FILE") {
		t.Errorf("the list is %s, error %v", got, err)
	}
	h = &hintCommand{writer: h.writer, now: testNoon, conf: h.conf, configGiven: true}
	if got, err := runHintsCommand(t, h, removeExpiredHints); err != nil || !strings.Contains(got, "The record on n2 is not a hint: "+problem) {
		t.Errorf("gc says %s, error %v", got, err)
	}
	h = &hintCommand{writer: h.writer, now: testNoon, conf: h.conf, configGiven: true}
	if got, err := runHintsCommand(t, h, removeAllHints); err != nil || got != "Removed hints from n1, n2.\n" {
		t.Errorf("clear says %q, error %v", got, err)
	}
	if got, want := listNodeHints(t, client), "n1 other, n2 team=a, n3 status=presure"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The error of a removal names the nodes in order, whatever kind of hint they have.
func TestErrorsOfClearAreSortedByNode(t *testing.T) {
	client := clusterAfterKilledReconciler(t)
	client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n", errors.New("no"))
	})
	h := &hintCommand{writer: writer.New(client, clock.RealClock{}, nil), now: testNoon, conf: hintedConfig("status")}
	_, err := runHintsCommand(t, h, removeAllHints)
	if err == nil {
		t.Fatal("got no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "removing the hint from node n1") || !strings.Contains(lines[1], "removing the hint from node n2") ||
		!strings.HasPrefix(lines[0], "permission to patch nodes is missing") {
		t.Errorf("got %q", lines)
	}
}

// TestHintsCommandsReadOneFile checks that the configuration from the ConfigMap of the chart
// suffices, although the files to which it refers are missing.
func TestHintsCommandsReadOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nload: {source: prometheus, prometheus: {url: http://p}}\n" +
		"hints: {enabled: true, label: status=presure, rulesFile: rule.yaml}\n" +
		"placement: {schedulerConfig: scheduler.yaml}\nstrategies: {}\n"
	must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	if _, err := installed.Load(file); err == nil || !strings.Contains(err.Error(), "rule.yaml") {
		t.Errorf("Load says %v, want that rule.yaml is missing", err)
	}
	conf := must.Get(hintsConfig(&Access{}, nil, file, ""))(t)
	if conf.Hints.Label != "status=presure" {
		t.Errorf("the label is %q", conf.Hints.Label)
	}
}
