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

// publishPeer writes what has been measured so far: all cells as JSON, a page
// that it prints too, and a chart per figure.
func publishPeer(s comparison, out io.Writer) error {
	cells, err := measured(s)
	if err != nil {
		return err
	}
	if len(cells) == 0 {
		return fmt.Errorf("nothing has been measured in %s yet", s.work)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("making the folder of benchmarks: %w", err)
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

// measured reads all cells in the folder of results, whatever was asked for this
// time: small clusters first. Of each measurement those count that the newest
// build did with the newest configuration.
func measured(s comparison) ([]Cell, error) {
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
	phases, programs := []string{dry, live, full}, slices.Concat(dryContenders, liveContenders, realContenders)
	place := func(c Cell) int {
		return slices.IndexFunc(programs, func(p contender) bool { return p.Name == c.Program })
	}
	slices.SortFunc(all, func(a, b Cell) int {
		return cmp.Or(slices.Index(phases, a.Phase)-slices.Index(phases, b.Phase), a.Nodes-b.Nodes, a.Pods-b.Pods,
			strings.Compare(a.Target, b.Target), place(a)-place(b), a.Run-b.Run)
	})
	return newest(all), nil
}

// newest leaves out what an older build, or another configuration, did.
func newest(all []Cell) (out []Cell) {
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

const intro = `# Evenkeel beside the descheduler

Made by ` + "`make bench-peer`" + `: a real control plane with fake nodes, generated the same
way in every size; kubernetes-sigs/descheduler v0.36.0 as built by its own module.
Both get the same targets. ` + "`peer-load`" + ` is its LowNodeUtilization alone, ` + "`peer-all`" + `
RemoveDuplicates, RemovePodsViolatingTopologySpreadConstraint and LowNodeUtilization;
Evenkeel always levels zones and load together. All programs ask the same API server,
one after the other, and take turns. The cluster: nodes of 10 CPU and 40Gi in three
zones, Deployments of 20 pods, every fourth of which declares that it must stay level
over the zones; the nodes are unevenly filled. What went in and came out of every run
is in [peer.json](peer.json).

`

func peerPage(folder string, cells []Cell) (string, error) {
	var b strings.Builder
	b.WriteString(intro)
	for _, t := range targets {
		fmt.Fprintf(&b, "- Target (%s): %s.\n", t.Name, t.Words)
	}
	fmt.Fprintf(&b, "\nMeasured on: %s.\n", strings.Join(distinct(cells, func(c Cell) string { return cmp.Or(c.Machine, "a machine that was not noted") }), "; "))
	fmt.Fprintf(&b, "Builds (start of the SHA-256): %s.\n", strings.Join(distinct(cells, func(c Cell) string { return c.Program + " " + c.Build }), ", "))
	for _, f := range figures {
		table := f.table(cells)
		if table == "" {
			continue // nothing of it has been measured yet
		}
		fmt.Fprintf(&b, "\n## %s\n\n", f.title)
		if f.words != "" {
			fmt.Fprintf(&b, "%s\n\n", f.words)
		}
		fmt.Fprintf(&b, "Printed by `bin/bench peer print %s`.\n\n%s", f.name, table)
		if err := draw(&b, folder, f, cells); err != nil {
			return "", err
		}
	}
	b.WriteString(troubles(cells))
	return b.String(), nil
}

// draw writes the drawings of a figure and shows them on the page.
func draw(page *strings.Builder, folder string, f figure, cells []Cell) error {
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

// distinct are the different values of what f reads, sorted.
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

// troubles lists the runs that ended badly.
func troubles(cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		if c.Error != "" {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(c.step(), " "), firstLine(c.Error))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Runs that ended badly\n\nThey are left out of the figures above.\n\n" + b.String()
}

// printFigure prints one table of what was published; all without a name.
func printFigure(folder, name string, out io.Writer) error {
	data, err := os.ReadFile(filepath.Join(folder, "peer.json"))
	if err != nil {
		return fmt.Errorf("reading what was published: %w", err)
	}
	var cells []Cell
	if err := json.Unmarshal(data, &cells); err != nil {
		return fmt.Errorf("reading what was published: %w", err)
	}
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
		if f.name == name {
			_, err := fmt.Fprintf(out, "%s\n\n%s", f.title, f.table(cells))
			return err
		}
	}
	return fmt.Errorf("there is no figure %q (want one of %s)", name, strings.Join(names, ", "))
}
