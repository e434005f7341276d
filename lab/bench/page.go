package main

import (
	"bytes"
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

// measured reads all cells in the folder of results that were asked for, in the
// order of the sizes.
func measured(s comparison) ([]Cell, error) {
	planned, err := plannedCells(s)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for _, c := range planned {
		z := size{c.Nodes, c.Pods}
		got, err := readCell(filepath.Join(s.at(z).work, c.file()))
		if os.IsNotExist(err) {
			continue // the page shows what was measured so far
		}
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
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
	fmt.Fprintf(&b, "\nBuilds (start of the SHA-256): %s.\n", strings.Join(builds(cells), ", "))
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
		name, err := draw(folder, f, cells)
		if err != nil {
			return "", err
		}
		if name != "" {
			fmt.Fprintf(&b, "\n![%s](%s)\n", f.title, name)
		}
	}
	b.WriteString(troubles(cells))
	return b.String(), nil
}

// draw writes the chart of a figure and returns its file's name; empty: none.
func draw(folder string, f figure, cells []Cell) (string, error) {
	if f.chart == nil {
		return "", nil
	}
	c := f.chart(cells)
	if c == nil || len(c.Series) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		return "", err
	}
	name := "peer-" + f.name + ".svg"
	return name, os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644)
}

func builds(cells []Cell) []string {
	var out []string
	for _, c := range cells {
		if text := c.Program + " " + c.Build; !slices.Contains(out, text) {
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
