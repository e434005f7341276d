package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// newDryRunMeasurements returns two runs of the descheduler and three of Evenkeel, one of which failed.
func newDryRunMeasurements() []Measurement {
	measurement := func(program string, run int, planner float64, err string) Measurement {
		return Measurement{Phase: dryPhase, Nodes: 500, Pods: 10000, Target: "a", Program: program, Run: run, PlannerSeconds: planner, Error: err}
	}
	return []Measurement{measurement("peer-load", 1, 4, ""), measurement("evenkeel-plan", 1, 0.5, ""), measurement("peer-load", 2, 2, ""),
		measurement("evenkeel-plan", 2, 0.25, ""), measurement("evenkeel-plan", 3, 99, "context deadline exceeded")}
}

func TestTheTableOfThePlanner(t *testing.T) {
	want := `| nodes/pods | program | seconds, start to report | seconds, cycle | seconds, planning | CPU seconds | MiB | evictions | times faster than peer-load | than peer-all | runs |
|---|---|---|---|---|---|---|---|---|---|---|
| 500/10000 | peer-load | - | 0 | 3 (2-4) | 0 | 0 | 0 | - | - | 2 |
| 500/10000 | evenkeel-plan | 0 | 0 | 0.38 (0.25-0.50) | 0 | 0 | 0 | 8 | - | 3, 1 failed |
`
	if got := planningTable(newDryRunMeasurements()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestEveryFigureCanBePrinted(t *testing.T) {
	folder := t.TempDir()
	must.Succeed(t, writeJSON(filepath.Join(folder, "peer.json"), newDryRunMeasurements()))
	for _, f := range figures {
		var b strings.Builder
		if err := printFigure(folder, f.name, &b); err != nil || !strings.HasPrefix(b.String(), f.title) {
			t.Errorf("%s: %v\n%s", f.name, err, b.String())
		}
	}
	if err := printFigure(folder, "nothing", &strings.Builder{}); err == nil {
		t.Error("got no error for an unknown figure")
	}
	page, err := renderComparisonPage(folder, newDryRunMeasurements())
	if err != nil || !strings.Contains(page, "peer-planning-planner.svg") || !strings.Contains(page, "context deadline exceeded") {
		t.Errorf("%v\n%s", err, page)
	}
	if _, err := os.Stat(filepath.Join(folder, "peer-planning-planner.svg")); err != nil {
		t.Error(err)
	}
}

// newComparison returns flags for one dry run of two programs, which are files with the given contents.
func newComparison(t *testing.T, evenkeel string) comparison {
	t.Helper()
	folder := t.TempDir()
	s := comparison{settings: settings{work: folder, evenkeel: filepath.Join(folder, "evenkeel"), peer: filepath.Join(folder, "peer")},
		dryOn: []clusterSize{{60, 1200, ""}}, dryRuns: 1, dryTarget: "a", programs: []string{peerLoad.Name, evenkeelPlan.Name}}
	must.Succeed(t, errors.Join(os.WriteFile(s.evenkeel, []byte(evenkeel), 0o600), os.WriteFile(s.peer, []byte("peer"), 0o600),
		os.Mkdir(filepath.Join(folder, "60-1200"), 0o700)))
	return s
}

// TestWhatIsMeasuredAgain checks that a result is repeated if its program has changed, if -retry asks to repeat a
// failure, and if another program of its pair is measured more than an hour later.
func TestWhatIsMeasuredAgain(t *testing.T) {
	now := t0.Add(10 * time.Hour)
	s := newComparison(t, "build 1")
	planned := must.Get(plannedMeasurements(s))(t)
	keep := func(i int, age time.Duration, failure string) {
		t.Helper()
		c := planned[i]
		c.MeasuredAt, c.Error = now.Add(-age), failure
		must.Succeed(t, writeJSON(filepath.Join(s.forSize(c.size()).work, c.fileName()), c))
	}
	ask := func(why string, want ...string) {
		t.Helper()
		var got []string
		for _, c := range must.Get(outstandingMeasurements(s, now))(t) {
			got = append(got, c.Program)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", why, got, want)
		}
	}
	ask("nothing is measured", "peer-load", "evenkeel-plan")
	keep(0, 59*time.Minute, "")
	ask("one of a pair, within the hour", "evenkeel-plan")
	keep(0, 61*time.Minute, "")
	ask("one of a pair, more than an hour ago", "peer-load", "evenkeel-plan")
	keep(1, 2*time.Hour, "")
	ask("both, within an hour of each other")
	keep(1, 3*time.Hour, "")
	ask("both, more than an hour apart", "peer-load", "evenkeel-plan")
	keep(0, 2*time.Hour, "")
	keep(1, time.Minute, "")
	ask("both, more than an hour apart, one just now", "peer-load")
	keep(1, 61*time.Minute, "boom")
	ask("one failed")
	s.retry = true
	ask("one failed, with retry", "peer-load", "evenkeel-plan")
	s.retry = false
	keep(0, time.Minute, "")
	must.Succeed(t, os.WriteFile(s.evenkeel, []byte("build 2"), 0o600))
	ask("another build of Evenkeel", "evenkeel-plan")
	must.Succeed(t, os.WriteFile(filepath.Join(s.work, "60-1200", planned[0].fileName()), []byte("{"), 0o600))
	if _, err := outstandingMeasurements(s, now); err == nil {
		t.Error("got no error for an unreadable result")
	}
}

// TestTargetsOfClusters checks that the mixed cluster has its own target, and that a snapshot has all targets.
func TestTargetsOfClusters(t *testing.T) {
	s := newComparison(t, "build")
	s.dryOn = must.Get(parseSizes("60/1200,60/1200/mixed,7/33/snapshot-0123456789ab"))(t)
	s.realOn, s.realRuns, s.targets = s.dryOn, 1, []string{"a", "c"}
	s.programs = []string{peerLoad.Name}
	var got []string
	for _, c := range must.Get(plannedMeasurements(s))(t) {
		got = append(got, c.Phase+" "+c.size().String()+" "+c.Target)
	}
	want := []string{"dry 60/1200 a", "dry 60/1200/mixed c", "dry 7/33/snapshot-0123456789ab a",
		"real 60/1200 a", "real 60/1200/mixed c", "real 7/33/snapshot-0123456789ab a", "real 7/33/snapshot-0123456789ab c"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSizes(t *testing.T) {
	if got, err := parseSizes("500/10000,60/1200"); err != nil || len(got) != 2 || got[1] != (clusterSize{60, 1200, ""}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"500", "500/10", "500/10001", "x/y", "0/20", "500/10000/x", "500/10000/"} {
		if got, err := parseSizes(bad); err == nil {
			t.Errorf("size %q is parsed as %v, want an error", bad, got)
		}
	}
}

// TestARunThatDoesNotComeToRest checks that a run that keeps evicting is reported like any other.
func TestARunThatDoesNotComeToRest(t *testing.T) {
	ended := func(program string, evictions ...int) Measurement {
		c := Measurement{Phase: realPhase, Nodes: 60, Pods: 1200, Target: "a", Program: program, Run: 1, Start: &Imbalance{}}
		for _, n := range evictions {
			c.Rounds = append(c.Rounds, Round{Result: Result{Evictions: n}, After: &Imbalance{NodesAbove: n}})
			c.Evictions += n
		}
		return c
	}
	table := evictionRunTable([]Measurement{ended("peer-load", 9, 2), ended("evenkeel", 5, 0)})
	for _, want := range []string{"| evictions | 11 | 5 |", "| rounds with evictions | 2 | 1 |",
		"| last round evicts nothing (1: yes) | 0 | 1 |", "| nodes above target | 2 | 0 |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

// newRealMeasurement returns a real run on the cluster size of the goals.
func newRealMeasurement(target, program string, left Imbalance, evictions ...int) Measurement {
	c := Measurement{Phase: realPhase, Nodes: 500, Pods: 10000, Target: target, Program: program, Run: 1,
		Start: &Imbalance{Histogram: make([]int, histogramBins)}}
	left.Histogram = make([]int, histogramBins)
	for _, n := range evictions {
		c.Rounds = append(c.Rounds, Round{Result: Result{Evictions: n}, After: &left})
		c.Evictions += n
	}
	if !strings.HasPrefix(program, "peer") {
		c.Prediction = &Prediction{Certified: 3, ZonePercent: 0.5, HistogramPercent: 4, Histogram: make([]int, histogramBins)}
	}
	return c
}

func TestWhatIsWanted(t *testing.T) {
	mixed := func(program string, above int) Measurement {
		c := newRealMeasurement("c", program, Imbalance{NodesAbove: above}, 5, 0)
		c.Cluster = mixedShape
		return c
	}
	table := goalTable([]Measurement{mixed("peer-load", 9), mixed("peer-all", 3), mixed("evenkeel", 5),
		newRealMeasurement("a", "peer-load", Imbalance{Skewed: 20}, 100, 0),
		newRealMeasurement("a", "peer-all", Imbalance{Skewed: 5}, 10, 0),
		newRealMeasurement("a", "evenkeel", Imbalance{Skewed: 4, NodesAbove: 10, Landed: 100, LandedAbove: 1}, 80, 0),
		newRealMeasurement("b", "evenkeel", Imbalance{CPUStdDev: 3.5}, 80, 9),
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "peer-load", resourceUse: resourceUse{PeakBytes: 1000 << 20}},
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel-dry", resourceUse: resourceUse{PeakBytes: 460 << 20}},
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel", resourceUse: resourceUse{PeakBytes: 400 << 20}},
		{Phase: dryPhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "peer-all", PlannerSeconds: 20, Evictions: 100},
		{Phase: dryPhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel-plan", PlannerSeconds: 1.5, Evictions: 75},
	})
	for _, want := range []string{
		"| evicting until quiet | goal | (a) 500/10000 | (b) 500/10000 | (c) 500/10000/mixed |\n",
		"| passes that evict | <= 1 | 1, yes | 2, no | 1, yes |\n",
		"| last round evicts nothing (1: yes) | >= 1 | 1, yes | 0, no | 1, yes |\n",
		"| histogram difference to the plan, % of nodes | <= 3 | 4, no | 4, no | 4, no |\n",
		"| nodes above target, without those proven unreachable, % | <= 1 | 1.40, no |  |  |\n",
		"| landings above target, % | <= 1 | 1, yes |  | 0, yes |\n",
		"| evictions, as a fraction of peer-load | <= 0.90 | 0.80, yes |  | 1, no |\n",
		"| skewed Deployments, minus the descheduler's minimum | <= -1 | -1, yes |  | 0, no |\n",
		"| standard deviation, % | <= 3 |  | 3.50, no |  |\n",
		"| nodes above target, minus the descheduler's minimum | <= 0 |  |  | 2, no |\n",
		"| 5000/100000 | goal | measured |\n",
		"| planning of evenkeel-plan, times faster than peer-all | >= 10 | 13.3, yes |\n",
		"| planning of evenkeel-once, times faster than peer-all | >= 10 | not measured |\n",
		"| evictions planned, as a fraction of peer-all | <= 1 | 0.75, yes |\n",
		"| peak memory while evicting, as a fraction of peer-load | <= 0.50 | 0.40, yes |\n",
		"| peak memory of a dry run, as a fraction of the real run | <= 1.10 | 1.15, no |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

// TestOnlyTheNewestBuildIsPublished checks that a page has the results of one build of each program.
func TestOnlyTheNewestBuildIsPublished(t *testing.T) {
	s := comparison{settings: settings{work: t.TempDir()}}
	keep := func(c Measurement, day int) {
		t.Helper()
		c.MeasuredAt = t0.AddDate(0, 0, day)
		folder := s.forSize(c.size()).work
		must.Succeed(t, errors.Join(os.MkdirAll(folder, 0o755), writeJSON(filepath.Join(folder, c.fileName()), c)))
	}
	at := func(program, build string, run int) Measurement {
		return Measurement{Phase: dryPhase, Nodes: 500, Pods: 10000, Target: "a", Program: program, Run: run, Build: build, Commit: "c-" + build}
	}
	keep(at("evenkeel-plan", "old", 1), 0)
	keep(at("evenkeel-once", "old", 1), 0)
	keep(at("evenkeel-plan", "new", 2), 1)
	keep(at("peer-load", "its", 2), 0)
	got, err := readMeasurements(s)
	if err != nil || len(got) != 2 || got[0].Program != "peer-load" || got[1].Program != "evenkeel-plan" || got[1].Run != 2 {
		t.Errorf("%v, %+v", err, got)
	}
	page := must.Get(renderComparisonPage(t.TempDir(), got))(t)
	for _, want := range []string{"Programs (first digits of the SHA-256): descheduler its, evenkeel new (commit c-new).\n",
		"- dry 500/10000 a evenkeel-plan 2, and peer-load: 24h0m0s\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestDrawings checks the drawings: lines over sizes, bars per target, and a histogram per target.
func TestDrawings(t *testing.T) {
	measurements := append(newDryRunMeasurements(),
		newRealMeasurement("a", "evenkeel", Imbalance{}, 5, 0), newRealMeasurement("b", "evenkeel", Imbalance{}, 5, 0))
	folder := t.TempDir()
	page := must.Get(renderComparisonPage(folder, measurements))(t)
	for _, name := range []string{"peer-planning-planner.svg", "peer-real-evictions.svg", "peer-real-deviation.svg",
		"peer-predicted-a.svg", "peer-predicted-b.svg"} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !strings.HasPrefix(string(data), "<svg ") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(page, "]("+name+")") {
			t.Errorf("the page does not contain %s", name)
		}
	}
}
