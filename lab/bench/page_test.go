package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// measuredCells are two runs of the peer and three of Evenkeel, one of which
// ended badly.
func measuredCells() []Cell {
	cell := func(program string, run int, planner float64, err string) Cell {
		return Cell{Phase: dry, Nodes: 500, Pods: 10000, Target: "a", Program: program, Run: run, PlannerSeconds: planner, Error: err}
	}
	return []Cell{cell("peer-load", 1, 4, ""), cell("evenkeel-plan", 1, 0.5, ""), cell("peer-load", 2, 2, ""),
		cell("evenkeel-plan", 2, 0.25, ""), cell("evenkeel-plan", 3, 99, "context deadline exceeded")}
}

func TestTheTableOfThePlanner(t *testing.T) {
	want := `| nodes/pods | program | seconds: min / median / max | times faster than peer-load | than peer-all | runs |
|---|---|---|---|---|---|
| 500/10000 | peer-load | 2 / 3 / 4 | - | - | 2 |
| 500/10000 | evenkeel-plan | 0.25 / 0.38 / 0.50 | 8 | - | 3, 1 ended badly |
`
	if got := plannerTable(measuredCells()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestEveryFigureCanBePrinted(t *testing.T) {
	folder := t.TempDir()
	if err := store(filepath.Join(folder, "peer.json"), measuredCells()); err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		var b strings.Builder
		if err := printFigure(folder, f.name, &b); err != nil || !strings.HasPrefix(b.String(), f.title) {
			t.Errorf("%s: %v\n%s", f.name, err, b.String())
		}
	}
	if err := printFigure(folder, "nothing", &strings.Builder{}); err == nil {
		t.Error("printed a figure that is not there")
	}
	page, err := peerPage(folder, measuredCells())
	if err != nil || !strings.Contains(page, "peer-planner.svg") || !strings.Contains(page, "context deadline exceeded") {
		t.Errorf("%v\n%s", err, page)
	}
	if _, err := os.Stat(filepath.Join(folder, "peer-planner.svg")); err != nil {
		t.Error(err)
	}
}

// TestWhatIsMeasuredAgain: a cell that is there is left alone, unless asked.
func TestWhatIsMeasuredAgain(t *testing.T) {
	s := comparison{settings: settings{work: t.TempDir()}}
	c := Cell{Phase: dry, Program: "peer-load", Target: "a", Run: 1, Build: "old"}
	ask := func(want bool, why string) {
		t.Helper()
		if got, err := wanted(s, c); err != nil || got != want {
			t.Errorf("%s: %v, %v", why, got, err)
		}
	}
	ask(true, "not measured")
	c.Error = "boom"
	if err := store(filepath.Join(s.work, c.file()), c); err != nil {
		t.Fatal(err)
	}
	ask(false, "ended badly")
	s.retry = true
	ask(true, "ended badly, to be tried again")
	s.retry, c.Build = false, "new"
	ask(false, "another build")
	s.renew = true
	ask(true, "another build, to be replaced")
	if err := os.WriteFile(filepath.Join(s.work, c.file()), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wanted(s, c); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a broken cell: %v", err)
	}
}

func TestSizes(t *testing.T) {
	if got, err := parseSizes("500/10000,60/1200"); err != nil || len(got) != 2 || got[1] != (size{60, 1200}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"500", "500/10", "500/10001", "x/y", "0/20"} {
		if got, err := parseSizes(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// TestARunThatDoesNotComeToRest is a result like another.
func TestARunThatDoesNotComeToRest(t *testing.T) {
	ended := func(program string, evictions ...int) Cell {
		c := Cell{Phase: full, Nodes: 60, Pods: 1200, Target: "a", Program: program, Run: 1, Start: &State{}}
		for _, n := range evictions {
			c.Rounds = append(c.Rounds, Round{Result: Result{Evictions: n}, After: &State{NodesAbove: n}})
			c.Evictions += n
		}
		return c
	}
	table := realTable([]Cell{ended("peer-load", 9, 2), ended("evenkeel", 5, 0)})
	for _, want := range []string{"| evictions | 11 / 11 / 11 | 5 / 5 / 5 |", "| rounds that evicted | 2 / 2 / 2 | 1 / 1 / 1 |",
		"| quiet in the end (1: yes) | 0 / 0 / 0 | 1 / 1 / 1 |", "| nodes above target | 2 / 2 / 2 | 0 / 0 / 0 |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
