package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// The first sample writes each hinted node once, without reading it first. Unchanged samples write nothing.
func TestThreeUnchangedSamplesWriteNothing(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"), newNode("n3"))
	w.hot = map[string]float64{"n1": 0.9, "n3": 0.95}
	w.cool = []string{"n2"}
	got := w.reconcileAfter(0)
	if slices.Sort(got); !slices.Equal(got, []string{"PATCH n1", "PATCH n3"}) {
		t.Errorf("got requests %v for the first sample", got)
	}
	for i := range 3 {
		if got := w.reconcileAfter(time.Minute); len(got) > 0 {
			t.Errorf("unchanged sample %d: got requests %v", i+1, got)
		}
	}
	if n := w.node("n1"); n.Labels["status"] != "presure" || w.node("n2").Labels != nil {
		t.Errorf("got labels %v on n1, %v on n2", n.Labels, w.node("n2").Labels)
	}
	if w.counts.ByRule["cpu"] != 2 || w.counts.Written != 0 {
		t.Errorf("counted %+v", w.counts)
	}
}

// If the watch does not show a write yet, the reconciler does not write it again.
func TestAWatchThatIsBehind(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
	w.hot = map[string]float64{"n1": 0.9}
	before := w.nodes()
	w.Nodes = func() []*corev1.Node { return before }
	w.reconcileAfter(0)
	stands := w.node("n1").Annotations[pressure.Key]
	if got := w.reconcileAfter(time.Second); !slices.Equal(got, []string{"PATCH n1", "GET n1"}) || stands == "" ||
		w.node("n1").Annotations[pressure.Key] != stands {
		t.Errorf("got requests %v for %s", got, stands)
	}
	w.hot["n1"] = 0.99 // the current node has changed since and is written
	w.Configure(reconciler.Options{Options: pressure.Options{Label: "status=presure", MaxHintedFrac: 1, TTL: 10 * time.Minute,
		Former: pressure.Owned{Taints: []string{pressure.Key}}, Rules: []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7, MinSamples: 1}}}})
	if got := w.reconcileAfter(time.Second); !slices.Equal(got, []string{"PATCH n1", "GET n1", "PATCH n1"}) || len(w.taints("n1")) > 0 {
		t.Errorf("without a taint: got requests %v", got)
	}
}

// The reconciler leaves the labels of a stopped program and logs the command that removes them. The
// reconciler logs no command for other label values, because their meaning is unknown.
func TestLabelsOfAStoppedProgram(t *testing.T) {
	for there, want := range map[string]bool{"presure": true, "spare": false} {
		n := newNode("n1")
		n.Labels = map[string]string{"status": there}
		w := newTestCluster(t, labelAndTaint, n)
		w.hot["n1"] = 0.95
		w.reconcileAfter(0)
		if w.node("n1").Labels["status"] != there || !strings.Contains(w.log.String(), "leaves them unchanged") {
			t.Errorf("%s: got labels %v and log:\n%s", there, w.node("n1").Labels, &w.log)
		}
		if got := strings.Contains(w.log.String(), `removeIfUnused="kubectl label nodes -l status=presure status-"`); got != want {
			t.Errorf("%s: the log has the command: %t\n%s", there, got, &w.log)
		}
	}
}

// A taint that another client writes between the read and the write of the reconciler survives when
// the hint is put, renewed or removed.
func TestAForeignTaintSurvives(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
	w.hot, w.cool = map[string]float64{"n1": 0.9}, []string{"n2"}
	writes := 0
	w.before = func() {
		if writes++; writes%2 == 1 {
			w.edit("n1", func(n *corev1.Node) {
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint("other-", writes), Effect: corev1.TaintEffectNoSchedule})
			})
		}
	}
	again := []string{"PATCH n1", "GET n1", "PATCH n1"}
	if got := w.reconcileAfter(0); !slices.Equal(got, again) {
		t.Errorf("got requests %v when the hint was put", got)
	}
	if got := w.reconcileAfter(6 * time.Minute); !slices.Equal(got, again) {
		t.Errorf("got requests %v when the hint was renewed", got)
	}
	if got, want := w.taints("n1"), []string{"evenkeel.io/pressure:PreferNoSchedule", "other-1:NoSchedule",
		"other-3:NoSchedule"}; !slices.Equal(got, want) {
		t.Errorf("got taints %v, want %v", got, want)
	}
	w.hot, w.cool = nil, []string{"n1", "n2"}
	if got := w.reconcileAfter(time.Minute); !slices.Equal(got, again) {
		t.Errorf("got requests %v when the hint was removed", got)
	}
	if got, want := w.taints("n1"), []string{"other-1:NoSchedule", "other-3:NoSchedule", "other-5:NoSchedule"}; !slices.Equal(got, want) ||
		len(w.node("n1").Annotations)+len(w.node("n1").Labels) > 0 {
		t.Errorf("got taints %v, want %v; annotations %v, labels %v", got, want, w.node("n1").Annotations, w.node("n1").Labels)
	}
}

// Without usage data and with a TTL of 5 minutes, hints are present after 4 minutes and
// removed after 6. No node gets a new hint.
func TestASourceThatGoesDown(t *testing.T) {
	o := labelAndTaint
	o.TTL = 5 * time.Minute
	w := newTestCluster(t, o, newNode("n1"), newNode("n2"))
	w.hot, w.cool = map[string]float64{"n1": 0.9}, []string{"n2"}
	w.reconcileAfter(0)
	w.reconcileAfter(2 * time.Minute)
	w.down = true
	for range 24 { // until 4 minutes have passed
		w.reconcileAfter(10 * time.Second)
	}
	if w.node("n1").Labels["status"] != "presure" || len(w.taints("n1")) != 1 || w.counts.Unmeasured != 1 {
		t.Errorf("after 4 minutes n1 has labels %v and taints %v, counts %+v", w.node("n1").Labels, w.taints("n1"), w.counts)
	}
	for range 12 {
		w.reconcileAfter(10 * time.Second)
	}
	if n := w.node("n1"); len(n.Labels)+len(n.Annotations)+len(w.taints("n1")) > 0 {
		t.Errorf("after 6 minutes n1 has labels %v, annotations %v, taints %v", n.Labels, n.Annotations, w.taints("n1"))
	}
	if got := strings.Count(w.log.String(), "there is no usage data for nodes with a hint"); got != 1 {
		t.Errorf("the missing usage data was logged %d times\n%s", got, w.log.String())
	}
}

// A dry run writes nothing and logs each message once.
func TestADryRunWritesNothing(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
	w.Configure(reconciler.Options{DryRun: true, Options: pressure.Options{
		Label: "status=presure", MaxHintedFrac: 1, TTL: time.Minute,
		Rules: []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7}},
	}})
	w.hot = map[string]float64{"n1": 0.9}
	for range 3 {
		if got := w.reconcileAfter(10 * time.Second); len(got) > 0 {
			t.Errorf("made %v", got)
		}
	}
	if got := strings.Count(w.log.String(), "dry run: a pressure hint would be written"); got != 1 || w.counts.ByRule["cpu"] != 1 {
		t.Errorf("logged %d times, counts %+v\n%s", got, w.counts, w.log.String())
	}
}

// A missing permission is logged once, and the reconciler backs off between attempts.
func TestAMissingPermissionIsSaidOnce(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
	w.hot = map[string]float64{"n1": 0.9, "n2": 0.9}
	w.rejectWrite = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1", errors.New("no"))
	asked := 0
	for range 30 { // for five minutes
		asked += len(w.reconcileAfter(10 * time.Second))
	}
	if asked != 2*4 { // after 10, 30, 70 and 150 s
		t.Errorf("got %d requests, want 8", asked)
	}
	if got := strings.Count(w.log.String(), "permission to patch nodes is missing"); got != 1 {
		t.Errorf("said %d times\n%s", got, w.log.String())
	}
	if n, known := w.counts.ByRule["cpu"]; n != 0 || !known {
		t.Errorf("got counts %+v without the permission", w.counts)
	}
	w.rejectWrite = nil
	for range 31 {
		w.reconcileAfter(10 * time.Second)
	}
	if w.counts.ByRule["cpu"] != 2 || w.node("n1").Labels["status"] != "presure" {
		t.Errorf("got counts %+v with the permission", w.counts)
	}
}

// After a failed write, the counts show the hints that are on the nodes. The counts include hints that could not be
// renewed or removed, but not hints that could not be put. The same applies to reconciliations during the back-off.
func TestWhatCouldNotBeWrittenStandsAsItDid(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"), newNode("n3"), newNode("n4"))
	w.hot, w.cool = map[string]float64{"n1": 0.9, "n2": 0.9}, []string{"n3", "n4"}
	w.reconcileAfter(0)
	w.rejectWrite = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1", errors.New("no"))
	w.hot, w.cool = map[string]float64{"n1": 0.9, "n3": 0.9, "n4": 0.9}, []string{"n2"} // renew one hint, put two, remove one
	for i, after := range []time.Duration{6 * time.Minute, 10 * time.Second} {
		made := w.reconcileAfter(after)
		if w.counts.ByRule["cpu"] != 2 || w.counts.Failed != 4*(1-i) || len(made) != 4*(1-i) {
			t.Errorf("reconciliation %d: got requests %v, counts %+v", i, made, w.counts)
		}
	}
}

// If the rules are removed, existing hints are not renewed. Hints of another release stay until they expire.
func TestWithoutRulesOnlyExpiredHintsGo(t *testing.T) {
	w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
	w.hot = map[string]float64{"n1": 0.9}
	w.reconcileAfter(0)
	w.Configure(reconciler.Options{Options: labelAndTaint})
	if got := w.reconcileAfter(9 * time.Minute); len(got) > 0 || w.node("n1").Labels["status"] != "presure" {
		t.Errorf("before the hint expires: got requests %v", got)
	}
	if got := w.reconcileAfter(2 * time.Minute); !slices.Equal(got, []string{"PATCH n1"}) || len(w.node("n1").Labels) > 0 {
		t.Errorf("after the hint expired: got requests %v, labels %v", got, w.node("n1").Labels)
	}
}

// A kubelet may write any annotation on its own node. The reconciler removes a record that it cannot have written, and
// nothing else, and reports it. A dry run only logs it.
func TestAForgedRecordIsRemovedAndReported(t *testing.T) {
	forged := newNode("n1")
	forged.Annotations = map[string]string{
		pressure.Key: `{"expires":"2026-01-01T13:00:00Z","rule":"cpu","label":"node-restriction.kubernetes.io/zone=secure","taint":"dedicated"}`,
		"note":       "x"}
	forged.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectPreferNoSchedule}}
	w := newTestCluster(t, labelAndTaint, forged, newNode("n2"))
	w.OnInvalidRecord = func(n *corev1.Node, problem string) { w.invalid = append(w.invalid, n.Name+": "+problem) }
	live := w.opts
	dry := live
	dry.DryRun = true
	w.Configure(dry)
	if got := w.reconcileAfter(0); len(got)+len(w.invalid) > 0 || w.counts.InvalidRecords != 1 || w.counts.RemovedRecords != 0 {
		t.Errorf("dry run: got requests %v, counts %+v, reports %v", got, w.counts, w.invalid)
	}
	w.Configure(live)
	w.rejectWrite = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1", errors.New("no"))
	if w.reconcileAfter(time.Second); len(w.invalid) > 0 || w.counts.RemovedRecords != 0 {
		t.Errorf("failed write: got counts %+v, reports %v", w.counts, w.invalid)
	}
	w.rejectWrite = nil
	behind := w.nodes()
	w.reconcileAfter(time.Minute)
	removed := w.counts.RemovedRecords
	w.Nodes = func() []*corev1.Node { return behind } // the watch does not show the removal yet
	w.reconcileAfter(time.Second)
	removed += w.counts.RemovedRecords
	w.Nodes = w.nodes
	if n := w.node("n1"); len(n.Labels) > 0 || len(n.Annotations) != 1 || !slices.Equal(w.taints("n1"), []string{"dedicated:PreferNoSchedule"}) {
		t.Errorf("got labels %v, annotations %v, taints %v", n.Labels, n.Annotations, w.taints("n1"))
	}
	if len(w.invalid) != 1 || !strings.Contains(w.invalid[0], `n1: it names the label "node-restriction`) || removed != 1 ||
		strings.Count(w.log.String(), "not the record of a hint") != 1 {
		t.Errorf("got reports %q, counts %+v, log\n%s", w.invalid, w.counts, &w.log)
	}
	if got := w.reconcileAfter(time.Minute); len(got) > 0 || len(w.invalid) != 1 || w.counts.InvalidRecords != 0 {
		t.Errorf("afterwards: got requests %v, counts %+v, reports %v", got, w.counts, w.invalid)
	}
}

// Rules in the metrics are those of the configuration, whatever the record on a node says.
func TestARecordAddsNoRuleToTheCounts(t *testing.T) {
	n := newNode("n1")
	n.Labels = map[string]string{"status": "presure"}
	n.Annotations = map[string]string{pressure.Key: `{"expires":"2026-01-01T12:05:00Z","rule":"x1","label":"status=presure"}`}
	w := newTestCluster(t, labelAndTaint, n, newNode("n2"))
	w.down = true
	if w.reconcileAfter(0); fmt.Sprint(w.counts.ByRule) != "map[cpu:0 other:1]" {
		t.Errorf("got %v", w.counts.ByRule)
	}
}

// Run reconciles after each sample and at least once per interval.
func TestRunLooksAtEachSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks []time.Duration
		begun := time.Now()
		k := &reconciler.Reconciler{Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler), Nodes: func() []*corev1.Node {
			looks = append(looks, time.Since(begun))
			return nil
		}, Usage: func() *cluster.Usage { return nil }}
		ctx, cancel := context.WithCancel(t.Context())
		sampled := make(chan struct{})
		ended := make(chan struct{})
		go func() { defer close(ended); k.Run(ctx, sampled) }()
		synctest.Wait()
		time.Sleep(3 * time.Second) // created in the bubble, where time advances only when all wait
		sampled <- struct{}{}
		time.Sleep(reconciler.Interval) // also created in the bubble
		synctest.Wait()
		cancel()
		<-ended
		if want := []time.Duration{0, 3 * time.Second, reconciler.Interval}; !slices.Equal(looks, want) {
			t.Errorf("got reconciliations at %v, want %v", looks, want)
		}
	})
}

// A dry run holds only the Lease of dry runs, so a new configuration must not make it write hints.
func TestADryRunDoesNotTurnIntoWritesInItsMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, labelAndTaint, newNode("n1"), newNode("n2"))
		w.Clock, w.hot = clock.RealClock{}, map[string]float64{"n1": 0.9}
		live := pressure.Options{Label: "status=presure", MaxHintedFrac: 1, TTL: time.Hour,
			Rules: []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8}}}
		w.clock.SetTime(time.Now())
		w.Configure(reconciler.Options{Options: live, DryRun: true})
		for _, want := range []int{0, 1} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); w.Run(ctx, nil) }()
			synctest.Wait()
			w.Configure(reconciler.Options{Options: live})
			time.Sleep(2 * reconciler.Interval) // created in the bubble, where time advances only when all wait
			synctest.Wait()
			cancel()
			<-ended
			if len(w.requests) != want {
				t.Errorf("%v, want %d", w.requests, want)
			}
		}
	})
}
