package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	authnv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestBothGetTheSameTargets compares the targets of both configurations: fractions for Evenkeel, percentages for the
// descheduler.
func TestBothGetTheSameTargets(t *testing.T) {
	for _, goal := range targets {
		var ours struct {
			DryRun     bool
			Strategies map[string]struct {
				Args struct{ Target, Deviation map[string]float64 }
			}
			Limits struct{ PerPass any }
		}
		text := programConfig{contender: evenkeelRun, balanceTarget: goal, MaxEvictions: 7}.render()
		must.Succeed(t, yaml.Unmarshal([]byte(text), &ours))
		var theirs struct {
			MaxNoOfPodsToEvictTotal int
			Profiles                []struct {
				PluginConfig []struct {
					Name string
					Args struct {
						UseDeviationThresholds bool
						TargetThresholds       map[string]float64
					}
				}
				Plugins struct{ Balance struct{ Enabled []string } }
			}
		}
		must.Succeed(t, yaml.Unmarshal([]byte(programConfig{contender: peerAll, balanceTarget: goal, MaxEvictions: 7}.render()), &theirs))
		asked := ours.Strategies["load"].Args.Target
		if goal.Deviation {
			asked = ours.Strategies["load"].Args.Deviation
		}
		load := theirs.Profiles[0].PluginConfig[3]
		if load.Name != "LowNodeUtilization" || load.Args.UseDeviationThresholds != goal.Deviation ||
			len(load.Args.TargetThresholds) != len(asked) || len(asked) == 0 {
			t.Fatalf("(%s): %v against %+v", goal.Name, asked, load)
		}
		for r, share := range asked {
			if d := load.Args.TargetThresholds[r] - 100*share; d > 1e-9 || d < -1e-9 {
				t.Errorf("(%s) %s: %g against %g %%", goal.Name, r, share, load.Args.TargetThresholds[r])
			}
		}
		if theirs.MaxNoOfPodsToEvictTotal != 7 || ours.Limits.PerPass != float64(7) ||
			len(theirs.Profiles[0].Plugins.Balance.Enabled) != 3 {
			t.Errorf("limits %d, %v", theirs.MaxNoOfPodsToEvictTotal, ours.Limits.PerPass)
		}
	}
}

// TestOnlyTheSecondLoopCounts parses the descheduler's log and checks its second loop.
func TestOnlyTheSecondLoopCounts(t *testing.T) {
	spent := time.Duration(0)
	l := &deschedulerLog{cpu: func() time.Duration { spent += time.Second; return spent }}
	for line := range strings.Lines(`I1121 15:00:00.000001    7 descheduler.go:430] "starting"
I1121 15:00:01.000000    7 descheduler.go:235] Resetting pod evictor counters
I1121 15:00:01.100000    7 evictions.go:587] "Evicted pod in dry run mode" pod="ns0/p" reason="" strategy="RemoveDuplicates" node="n1" profile="bench"
I1121 15:00:01.200000    7 descheduler.go:244] Restoring evicted pods from cache
I1121 15:00:01.300000    7 descheduler.go:252] "Number of evictions/requests" totalEvicted=1 evictionRequests=0
E1121 15:00:02.000000    7 other.go:1] something odd
I1121 15:00:11.000000    7 descheduler.go:235] Resetting pod evictor counters
I1121 15:00:11.100000    7 evictions.go:587] "Evicted pod in dry run mode" pod="ns0/p" reason="" strategy="LowNodeUtilization" node="n1" profile="bench"
I1121 15:00:11.100000    7 profile.go:417] "Total number of evictions/requests" extension point="Balance" evictedPods=2 evictionRequests=0
I1121 15:00:13.500000    7 descheduler.go:244] Restoring evicted pods from cache
I1121 15:00:14.000000    7 descheduler.go:252] "Number of evictions/requests" totalEvicted=2 evictionRequests=0
not a line of klog
`) {
		l.parseLine(strings.TrimSuffix(line, "\n"))
	}
	if len(l.all) != 2 || l.all[0].evictions != 1 {
		t.Fatalf("%+v", l.all)
	}
	got := l.all[measuredLoop-1]
	if got.planned.Sub(got.begun) != 2500*time.Millisecond || got.ended.Sub(got.begun) != 3*time.Second || got.evictions != 2 ||
		got.cpuEnded-got.cpuBegun != time.Second || got.byStrategy["LowNodeUtilization"] != 1 || len(got.byStrategy) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestWhatEvenkeelSaysOfItsPlanning(t *testing.T) {
	var c Measurement
	c.parsePlannedLine(`time=2026-01-01T00:00:00.000Z level=INFO msg="holding the Lease" observing=9s planning=9s`)
	if c.PlannerSeconds != 0 {
		t.Error("parsed a log line that does not belong to a plan")
	}
	c.parsePlannedLine(`time=2026-01-01T00:00:00.000Z level=INFO msg=planned run=x strategies={} moves=2 observing=500ms planning=1.25s`)
	if c.PlannerSeconds != 1.25 || c.CycleSeconds != 1.75 {
		t.Errorf("%g, %g", c.PlannerSeconds, c.CycleSeconds)
	}
}

func TestWhatTheKernelSaysOfAProcess(t *testing.T) {
	usage := func() (u syscall.Rusage, cpu time.Duration) {
		must.Succeed(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return u, time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, used := usage(); used < 50*time.Millisecond; _, used = usage() { // use some CPU time
	}
	r := &runningProgram{pid: os.Getpid()}
	_, least := usage()
	r.samplePeak()
	got := r.cpuTime()
	u, most := usage()
	const tick = 10 * time.Millisecond // the kernel counts in ticks
	if got < least-2*tick || got > most+2*tick {
		t.Errorf("CPU time %s, want %s to %s", got, least, most)
	}
	// Maxrss includes the memory of the program that started the test.
	if peak, most := r.peak.Load(), u.Maxrss*1024; peak < 8<<20 || peak > most {
		t.Errorf("peak of %d bytes, want at least 8 MiB and at most %d", peak, most)
	}
}

// TestAChildIsMeasured runs a program that writes to standard output and to its log, until a line in the log stops it.
func TestAChildIsMeasured(t *testing.T) {
	var seen []string
	log := filepath.Join(t.TempDir(), "log")
	script := "echo out; echo one >&2; echo two >&2; exec sleep 60"
	out, u, err := program{path: "/bin/sh", args: []string{"-c", script}, log: log, limit: time.Minute,
		onLine: func(r *runningProgram, line string) {
			if seen = append(seen, line); line == "two" {
				r.samplePeak()
				r.stop()
			}
		}}.run(t.Context())
	if err == nil || string(out) != "out\n" || strings.Join(seen, " ") != "one two" || u.PeakBytes == 0 || u.Seconds > 30 {
		t.Errorf("%q, %v, %+v, %v", out, seen, u, err)
	}
	if data, _ := os.ReadFile(log); string(data) != "one\ntwo\n" {
		t.Errorf("logged %q", data)
	}
}

func TestRequestsOfOneUser(t *testing.T) {
	event := func(id, user string) auditv1.Event {
		return auditv1.Event{AuditID: types.UID(id), User: authnv1.UserInfo{Username: user}}
	}
	if got := countRequests([]auditv1.Event{event("1", "a"), event("2", "a"), event("2", "a"), event("3", "b")}, "a"); got != 2 {
		t.Errorf("%d requests", got)
	}
}

// TestJudgingACluster computes the state of three nodes, one per zone, with a Deployment with 3/1/0 pods and a required
// spread constraint, a Pending pod, and a pod that is being deleted.
func TestJudgingACluster(t *testing.T) {
	var nodes []corev1.Node
	for _, n := range []string{"1", "2", "3"} {
		allocatable := corev1.ResourceList{"cpu": resource.MustParse("10"), "memory": resource.MustParse("10Gi")}
		nodes = append(nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n" + n, Labels: map[string]string{seed.ZoneKey: "z" + n}},
			Status: corev1.NodeStatus{Allocatable: allocatable}})
	}
	pod := func(name, node string) corev1.Pod {
		requests := corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi")}
		spread := corev1.TopologySpreadConstraint{TopologyKey: seed.ZoneKey, WhenUnsatisfiable: corev1.DoNotSchedule}
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "d"}},
			Spec: corev1.PodSpec{NodeName: node, TopologySpreadConstraints: []corev1.TopologySpreadConstraint{spread},
				Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}}}
	}
	leaving := pod("p5", "n3")
	leaving.DeletionTimestamp = &metav1.Time{Time: t0}
	pods := []corev1.Pod{pod("p1", "n1"), pod("p2", "n1"), pod("new1", "n1"), pod("new2", "n2"), pod("p4", ""), leaving}
	s := computeImbalance(nodes, pods, targets[0], map[string]bool{"ns/p1": true, "ns/p2": true, "ns/p4": true})
	if s.NodesAbove != 1 || s.Skewed != 1 || s.Broken != 1 || s.Pending != 1 || s.Landed != 2 || s.LandedAbove != 1 {
		t.Errorf("%+v", s)
	}
	// Fractions of 0.6, 0.2 and 0: mean 0.2667, variance 0.0622.
	if formatNumber(s.CPUMean) != "26.7" || formatNumber(s.CPUStdDev) != "24.9" || s.CPUMax != 60 || s.Histogram[12] != 1 ||
		s.Histogram[4] != 1 || s.Histogram[0] != 1 {
		t.Errorf("%+v", s)
	}
	if s.ZoneCPU["z1"] != 6 || s.ZonePods["z2"] != 1 {
		t.Errorf("zones %v, %v", s.ZoneCPU, s.ZonePods)
	}
	// Only n1 with 0.6 is more than 0.02 above the mean.
	if s := computeImbalance(nodes, pods, targets[1], nil); s.NodesAbove != 1 || s.Landed != 0 {
		t.Errorf("with a deviation: %+v", s)
	}
}

func TestHowFarOffAPlanWas(t *testing.T) {
	var p testbed.Plan
	for _, share := range []int{500, 500, 100, 300} {
		p.Spec.After.Nodes = append(p.Spec.After.Nodes, testbed.Node{Name: "n", Zone: "z", RequestedPerMille: map[string]int{"cpu": share}})
	}
	f := newPrediction(&p, map[string]float64{"n": 10})
	came := &Imbalance{Histogram: make([]int, histogramBins), ZoneCPU: map[string]float64{"z": 16}, ZonePods: map[string]int{}}
	came.Histogram[10], came.Histogram[2], came.Histogram[6] = 1, 1, 2 // one node at 0.3 instead of 0.5
	f.compareActual(came)
	if f.HistogramPercent != 25 || formatNumber(f.ZonePercent) != "12.5" {
		t.Errorf("%+v", f)
	}
}
