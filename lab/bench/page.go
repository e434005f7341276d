package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// publishPeer writes all measurements so far: the cells as JSON, and a page with drawings. It also prints the page.
func publishPeer(s comparison, out io.Writer) error {
	cells, err := readCells(s)
	if err != nil {
		return err
	}
	if len(cells) == 0 {
		return fmt.Errorf("folder %s has no measurements yet", s.work)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("creating the folder of benchmarks: %w", err)
	}
	if err := store(filepath.Join(s.out, "peer.json"), cells); err != nil {
		return err
	}
	page, err := peerPage(s.out, cells)
	if err != nil {
		return err
	}
	fmt.Fprint(out, page)
	return os.WriteFile(filepath.Join(s.out, "peer.md"), []byte(page), 0o644)
}

// readCells reads all cells in the results folder, sorted by phase and cluster size. Of each measurement, readCells
// keeps only the cells of the newest build and configuration.
func readCells(s comparison) ([]Cell, error) {
	files, err := filepath.Glob(filepath.Join(s.work, "*", "*-*-*.json"))
	if err != nil {
		return nil, err
	}
	var all []Cell
	for _, f := range files {
		if strings.HasSuffix(f, reportSuffix) {
			continue
		}
		c, err := readCell(f)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	phases, programs := []string{dryPhase, livePhase, realPhase}, slices.Concat(dryContenders, liveContenders, realContenders)
	place := func(c Cell) int {
		return slices.IndexFunc(programs, func(p contender) bool { return p.Name == c.Program })
	}
	slices.SortFunc(all, func(a, b Cell) int {
		return cmp.Or(slices.Index(phases, a.Phase)-slices.Index(phases, b.Phase), a.Nodes-b.Nodes, a.Pods-b.Pods,
			strings.Compare(a.Target, b.Target), place(a)-place(b), a.Run-b.Run)
	})
	return newestBuild(all), nil
}

// newestBuild removes cells of older builds and of other configurations.
func newestBuild(all []Cell) (out []Cell) {
	for _, c := range all {
		last := c
		for _, o := range all {
			if o.same(c) && o.MeasuredAt.After(last.MeasuredAt) {
				last = o
			}
		}
		if c.Build == last.Build && c.Policy == last.Policy {
			out = append(out, c)
		}
	}
	return out
}

const intro = `# Evenkeel compared with the descheduler

` + "`make bench-peer`" + ` creates this page with a real control plane and fake nodes, generated
the same way in every size. The descheduler is kubernetes-sigs/descheduler v0.36.0, built
from its own module. Both programs get the same targets. ` + "`peer-load`" + ` uses only
LowNodeUtilization. ` + "`peer-all`" + ` uses RemoveDuplicates,
RemovePodsViolatingTopologySpreadConstraint and LowNodeUtilization. Evenkeel always
balances zones and node load together. The programs take turns on the same API server.

The cluster has nodes with 10 CPU and 40Gi in three zones, and Deployments of 20 pods. A
quarter of the Deployments has a required zone spread constraint. The nodes are unevenly
filled. [peer.json](peer.json) contains the input and output of every run.

`

func peerPage(folder string, cells []Cell) (string, error) {
	var b strings.Builder
	b.WriteString(intro)
	for _, t := range targets {
		fmt.Fprintf(&b, "- Target (%s): %s.\n", t.Name, t.Description)
	}
	machines := distinct(cells, func(c Cell) string { return cmp.Or(c.Machine, "unknown machine") })
	builds := distinct(cells, func(c Cell) string { return c.Program + " " + c.Build })
	fmt.Fprintf(&b, "\nMeasured on: %s.\n", strings.Join(machines, "; "))
	fmt.Fprintf(&b, "Builds (start of the SHA-256): %s.\n", strings.Join(builds, ", "))
	for _, f := range figures {
		table := f.table(cells)
		if table == "" {
			continue // not measured yet
		}
		fmt.Fprintf(&b, "\n## %s\n\n", f.title)
		if f.description != "" {
			fmt.Fprintf(&b, "%s\n\n", f.description)
		}
		fmt.Fprintf(&b, "Printed by `bin/bench peer print %s`.\n\n%s", f.name, table)
		if err := writeDrawings(&b, folder, f, cells); err != nil {
			return "", err
		}
	}
	b.WriteString(failedRuns(cells))
	return b.String(), nil
}

// writeDrawings writes the drawings of a figure and adds them to the page.
func writeDrawings(page *strings.Builder, folder string, f figure, cells []Cell) error {
	if f.drawings == nil {
		return nil
	}
	for _, d := range f.drawings(cells) {
		if d.chart.Empty() {
			continue
		}
		var b bytes.Buffer
		if err := d.chart.Write(&b); err != nil {
			return err
		}
		name := strings.TrimSuffix("peer-"+f.name+"-"+d.name, "-") + ".svg"
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing a drawing: %w", err)
		}
		fmt.Fprintf(page, "\n![%s](%s)\n", d.title, name)
	}
	return nil
}

// distinct returns the distinct values of f, sorted.
func distinct(cells []Cell, f func(Cell) string) []string {
	var out []string
	for _, c := range cells {
		if text := f(c); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// failedRuns lists the runs that failed.
func failedRuns(cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.Error != "" {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(c.step(), " "), firstLine(c.Error))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Failed runs\n\nThe figures above do not include them.\n\n" + b.String()
}

// printFigure prints one table of the published results.
func printFigure(folder, name string, out io.Writer) error {
	data, err := os.ReadFile(filepath.Join(folder, "peer.json"))
	if err != nil {
		return fmt.Errorf("reading the published results: %w", err)
	}
	var cells []Cell
	if err := json.Unmarshal(data, &cells); err != nil {
		return fmt.Errorf("reading the published results: %w", err)
	}
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
		if f.name == name {
			_, err := fmt.Fprintf(out, "%s\n\n%s", f.title, f.table(cells))
			return err
		}
	}
	return fmt.Errorf("unknown figure %q; the figures are %s", name, strings.Join(names, ", "))
}
