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

// publishComparison writes all measurements so far, as JSON, and as a page with drawings. It also prints the page.
func publishComparison(s comparison, out io.Writer) error {
	measurements, err := readMeasurements(s)
	if err != nil {
		return err
	}
	if len(measurements) == 0 {
		return fmt.Errorf("folder %s has no measurements yet", s.work)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("creating the folder of benchmarks: %w", err)
	}
	if err := writeJSON(filepath.Join(s.out, "peer.json"), measurements); err != nil {
		return err
	}
	page, err := renderComparisonPage(s.out, measurements)
	if err != nil {
		return err
	}
	fmt.Fprint(out, page)
	return os.WriteFile(filepath.Join(s.out, "peer.md"), []byte(page), 0o644)
}

// readMeasurements reads all measurements in the results folder, sorted by phase and cluster size.
// readMeasurements keeps only those of the newest build of each program, and of the newest configuration.
func readMeasurements(s comparison) ([]Measurement, error) {
	files, err := filepath.Glob(filepath.Join(s.work, "*", "*-*-*.json"))
	if err != nil {
		return nil, err
	}
	var all []Measurement
	for _, f := range files {
		c, err := readMeasurement(f)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	phases, programs := []string{dryPhase, livePhase, realPhase}, slices.Concat(dryContenders, liveContenders, realContenders)
	place := func(c Measurement) int {
		return slices.IndexFunc(programs, func(p contender) bool { return p.Name == c.Program })
	}
	slices.SortFunc(all, func(a, b Measurement) int {
		return cmp.Or(slices.Index(phases, a.Phase)-slices.Index(phases, b.Phase), strings.Compare(a.Cluster, b.Cluster),
			a.Nodes-b.Nodes, a.Pods-b.Pods, strings.Compare(a.Target, b.Target), place(a)-place(b), a.Run-b.Run)
	})
	return newestBuild(all), nil
}

// newestBuild removes measurements of older builds and of other configurations.
func newestBuild(all []Measurement) (out []Measurement) {
	for _, c := range all {
		build, policy := c, c
		for _, o := range all {
			if o.isPeer() == c.isPeer() && o.MeasuredAt.After(build.MeasuredAt) {
				build = o
			}
			if o.isRepetitionOf(c) && o.MeasuredAt.After(policy.MeasuredAt) {
				policy = o
			}
		}
		if c.Build == build.Build && c.Policy == policy.Policy {
			out = append(out, c)
		}
	}
	return out
}

const intro = `# Evenkeel compared with the descheduler

` + "`make bench-peer`" + ` creates this page. The descheduler (v0.36.0) runs as ` + "`peer-load`" + `,
with only LowNodeUtilization, and as ` + "`peer-all`" + `, with RemoveDuplicates,
RemovePodsViolatingTopologySpreadConstraint and LowNodeUtilization. Evenkeel always
balances zones and node load together. All programs have the same targets, and take turns
on the same API server.

The cluster has nodes with 10 CPUs and 40Gi of memory in three zones, and Deployments with
20 pods each. A quarter of the Deployments have a required zone spread constraint. At the
start, the nodes are unevenly filled. The cluster ` + "`mixed`" + ` has nodes of five sizes instead, some with
GPUs; pods request 98% of the GPUs and 59% of the CPU, and half of the nodes are above the target.
[peer.json](peer.json) contains the input and output of every run.

`

func renderComparisonPage(folder string, measurements []Measurement) (string, error) {
	var b strings.Builder
	b.WriteString(intro)
	for _, t := range targets {
		fmt.Fprintf(&b, "- Target (%s): %s.\n", t.Name, t.Description)
	}
	machines := distinctValues(measurements, func(c Measurement) string { return cmp.Or(c.Machine, "unknown machine") })
	builds := distinctValues(measurements, func(c Measurement) string {
		if c.isPeer() {
			return "descheduler " + c.Build
		}
		return "evenkeel " + c.Build + " (commit " + cmp.Or(c.Commit, "unknown") + ")"
	})
	fmt.Fprintf(&b, "\nMachine: %s.\n", strings.Join(machines, "; "))
	fmt.Fprintf(&b, "Programs (first digits of the SHA-256): %s.\n", strings.Join(builds, ", "))
	for _, f := range figures {
		table := f.table(measurements)
		if table == "" || f.printOnly {
			continue // not measured yet, or only printed by name
		}
		fmt.Fprintf(&b, "\n## %s\n\n", f.title)
		if f.description != "" {
			fmt.Fprintf(&b, "%s\n\n", f.description)
		}
		b.WriteString(table)
		if err := writeDrawings(&b, folder, f, measurements); err != nil {
			return "", err
		}
	}
	b.WriteString(failedRuns(measurements))
	b.WriteString(distantPairs(measurements))
	return b.String(), nil
}

// distantPairs lists the runs whose programs were measured too far apart to be compared.
func distantPairs(measurements []Measurement) string {
	var b strings.Builder
	for i, c := range measurements {
		for _, o := range measurements[:i] {
			if d := c.MeasuredAt.Sub(o.MeasuredAt).Abs(); c.isPairOf(o) && d > pairTime {
				fmt.Fprintf(&b, "- %s, and %s: %s\n", strings.Join(c.stepArgs(), " "), o.Program, d)
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Runs that are more than an hour apart\n\n" + b.String()
}

// writeDrawings writes the drawings of a figure and adds them to the page.
func writeDrawings(page *strings.Builder, folder string, f figure, measurements []Measurement) error {
	if f.drawings == nil {
		return nil
	}
	for _, d := range f.drawings(measurements) {
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

// distinctValues returns the distinct values of f, sorted.
func distinctValues(measurements []Measurement, f func(Measurement) string) []string {
	var out []string
	for _, c := range measurements {
		if text := f(c); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// failedRuns lists the runs that failed.
func failedRuns(measurements []Measurement) string {
	var b strings.Builder
	for _, c := range measurements {
		if c.Error != "" {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(c.stepArgs(), " "), firstLine(c.Error))
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
	var measurements []Measurement
	if err := json.Unmarshal(data, &measurements); err != nil {
		return fmt.Errorf("reading the published results: %w", err)
	}
	var names []string
	for _, f := range figures {
		names = append(names, f.name)
		if f.name == name {
			_, err := fmt.Fprintf(out, "%s\n\n%s", f.title, f.table(measurements))
			return err
		}
	}
	return fmt.Errorf("unknown figure %q; the figures are %s", name, strings.Join(names, ", "))
}

// figure is a table, and optionally drawings, computed from measurements.
type figure struct {
	name, title string
	description string
	table       func(measurements []Measurement) string
	drawings    func(measurements []Measurement) []drawing // nil if there are none
	printOnly   bool                                       // the page leaves it out
}

var figures = []figure{
	{"goals", "Goals and results", "The table shows medians over all runs.", goalTable, nil, false},
	{"planning", "Planning", `For the descheduler, a cycle is the second loop of a dry run, because the descheduler
is still filling its cache in the first loop; planning is the time of its strategies, and the
CPU time omits the first loop. For Evenkeel, a cycle takes a snapshot and plans, and planning
computes goals and a plan.
` + "`evenkeel-once` is a dry run of the controller (`evenkeel run --once`). `evenkeel-plan`\n" +
		"is the command `evenkeel plan`, whose cycle includes reading the cluster. The CPU time is that of the whole\nprocess, and MiB is its peak memory (VmHWM). Cells with several numbers show median (min-max).",
		planningTable, drawPlanning, false},
	{"requests", "Planning: API requests", "The requests are counted in the audit log. A watch counts once.", dryRunTable("requests", requestCount), nil, true},
	{"live-memory", "Evicting: peak memory", "The table shows peak resident memory while a few pods are evicted. `evenkeel-dry` is a\ndry run with the same eviction limit.", liveMemoryTable, drawLiveMemory, false},
	{"real", "Evicting until quiet", "Each program is started up to six times, until a start causes no evictions. Before each\nstart, all replacements must be Ready.", evictionRunTable, drawEvictionRuns, false},
	{"rounds", "Evicting: every round", "", roundsTable, nil, true},
	{"predicted", "The plan's predictions and the results", "The table compares the plan's predictions with the cluster after the first pass. The\ndescheduler makes no predictions.",
		predictionTable, drawHistograms, false},
}
