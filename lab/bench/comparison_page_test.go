package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	want := `| nodes/pods | program | seconds: min / median / max | µs per pod | times faster than peer-load | than peer-all | runs |
|---|---|---|---|---|---|---|
| 500/10000 | peer-load | 2 / 3 / 4 | 300 | - | - | 2 |
| 500/10000 | evenkeel-plan | 0.25 / 0.38 / 0.50 | 37.5 | 8 | - | 3, 1 failed |
`
	if got := plannerTable(newDryRunMeasurements()); got != want {
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
	if err != nil || !strings.Contains(page, "peer-planner.svg") || !strings.Contains(page, "context deadline exceeded") {
		t.Errorf("%v\n%s", err, page)
	}
	if _, err := os.Stat(filepath.Join(folder, "peer-planner.svg")); err != nil {
		t.Error(err)
	}
}

// TestWhatIsMeasuredAgain checks that a measurement is repeated only on request.
func TestWhatIsMeasuredAgain(t *testing.T) {
	s := comparison{settings: settings{work: t.TempDir()}}
	c := Measurement{Phase: dryPhase, Program: "peer-load", Target: "a", Run: 1, Build: "old"}
	ask := func(want bool, why string) {
		t.Helper()
		if got, err := mustMeasure(s, c); err != nil || got != want {
			t.Errorf("%s: %v, %v", why, got, err)
		}
	}
	ask(true, "not measured")
	c.Error = "boom"
	must.Succeed(t, writeJSON(filepath.Join(s.work, c.fileName()), c))
	ask(false, "failed")
	s.retry = true
	ask(true, "failed, with retry")
	s.retry, c.Build = false, "new"
	ask(false, "another build")
	s.renew = true
	ask(true, "another build, with renew")
	must.Succeed(t, os.WriteFile(filepath.Join(s.work, c.fileName()), []byte("{"), 0o600))
	if _, err := mustMeasure(s, c); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("unreadable measurement: got error %v", err)
	}
}

func TestSizes(t *testing.T) {
	if got, err := parseSizes("500/10000,60/1200"); err != nil || len(got) != 2 || got[1] != (clusterSize{60, 1200}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"500", "500/10", "500/10001", "x/y", "0/20"} {
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
	table := goalTable([]Measurement{
		newRealMeasurement("a", "peer-load", Imbalance{Skewed: 20}, 100, 0),
		newRealMeasurement("a", "peer-all", Imbalance{Skewed: 5}, 10, 0),
		newRealMeasurement("a", "evenkeel", Imbalance{Skewed: 4, NodesAbove: 10, Landed: 100, LandedAbove: 1}, 80, 0),
		newRealMeasurement("b", "evenkeel", Imbalance{CPUStdDev: 3.5}, 80, 9),
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "peer-load", resourceUse: resourceUse{PeakBytes: 1000 << 20}},
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel-dry", resourceUse: resourceUse{PeakBytes: 460 << 20}},
		{Phase: livePhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel", resourceUse: resourceUse{PeakBytes: 400 << 20}},
		{Phase: dryPhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "peer-all", PlannerSeconds: 20},
		{Phase: dryPhase, Nodes: 5000, Pods: 100000, Target: "a", Program: "evenkeel-plan", PlannerSeconds: 1.5},
	})
	for _, want := range []string{
		"| (a) 500/10000: passes that evict | <= 1 | 1 | yes |",
		"| (a) 500/10000: histogram difference to the plan, % of nodes | <= 3 | 4 | no |",
		"| (a) 500/10000: nodes above target, without those proven unreachable, % | <= 1 | 1.40 | no |",
		"| (a) 500/10000: landings above target, % | <= 1 | 1 | yes |",
		"| (a) 500/10000: evictions, as a fraction of peer-load | <= 0.90 | 0.80 | yes |",
		"| (a) 500/10000: skewed Deployments, minus the descheduler's minimum | <= -1 | -1 | yes |",
		"| (b) 500/10000: passes that evict | <= 1 | 2 | no |",
		"| (b) 500/10000: last round evicts nothing (1: yes) | >= 1 | 0 | no |",
		"| (b) 500/10000: standard deviation, % | <= 3 | 3.50 | no |",
		"| 5000/100000: planning of evenkeel-plan, times faster than peer-all | >= 10 | 13.3 | yes |",
		"| 5000/100000: planning of evenkeel-once, times faster than peer-all | >= 10 | - | not measured |",
		"| 5000/100000: peak memory while evicting, as a fraction of peer-load | <= 0.50 | 0.40 | yes |",
		"| 5000/100000: peak memory of a dry run, difference to the real run, % | <= 10 | 15.0 | no |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

// TestOnlyTheNewestBuildIsPublished checks that other builds and other files in the folder are ignored.
func TestOnlyTheNewestBuildIsPublished(t *testing.T) {
	s := comparison{settings: settings{work: t.TempDir()}}
	keep := func(c Measurement, day int) {
		t.Helper()
		c.MeasuredAt = t0.AddDate(0, 0, day)
		folder := filepath.Join(s.work, clusterSize{c.Nodes, c.Pods}.String()[:3])
		must.Succeed(t, errors.Join(os.MkdirAll(folder, 0o755), writeJSON(filepath.Join(folder, c.fileName()), c)))
	}
	at := func(program, build string, run int) Measurement {
		return Measurement{Phase: dryPhase, Nodes: 500, Pods: 10000, Target: "a", Program: program, Run: run, Build: build}
	}
	keep(at("evenkeel-plan", "old", 1), 0)
	keep(at("evenkeel-plan", "new", 2), 1)
	keep(at("peer-load", "its", 1), 0)
	got, err := readMeasurements(s)
	if err != nil || len(got) != 2 || got[0].Program != "peer-load" || got[1].Run != 2 {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestDrawings checks the drawings: lines over sizes, bars per target, and a histogram per target.
func TestDrawings(t *testing.T) {
	measurements := append(newDryRunMeasurements(),
		newRealMeasurement("a", "evenkeel", Imbalance{}, 5, 0), newRealMeasurement("b", "evenkeel", Imbalance{}, 5, 0))
	folder := t.TempDir()
	page := must.Get(renderComparisonPage(folder, measurements))(t)
	for _, name := range []string{"peer-planner.svg", "peer-real-evictions.svg", "peer-real-deviation.svg",
		"peer-predicted-a.svg", "peer-predicted-b.svg"} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !strings.HasPrefix(string(data), "<svg ") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(page, "]("+name+")") {
			t.Errorf("the page does not contain %s", name)
		}
	}
}
