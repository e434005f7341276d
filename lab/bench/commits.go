package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// commitComparison holds the flags of `bench commits`.
type commitComparison struct {
	base, pkg   string
	cases, copy []string
	count       int
}

// benchmarkResult holds the values of one benchmark by unit, one value per run.
type benchmarkResult map[string][]float64

// runCommits compares the benchmarks of an earlier commit with those of the working tree. Both commits take turns for
// each case, so that other load on the machine affects both.
func runCommits(ctx context.Context, args []string, out *os.File) (err error) {
	var s commitComparison
	fs := flag.NewFlagSet("bench commits", flag.ContinueOnError)
	list := func(into *[]string, name, value, usage string) {
		*into = strings.Split(value, ",")
		fs.Func(name, usage+" (default "+value+")", func(v string) error { *into = strings.Split(v, ","); return nil })
	}
	fs.StringVar(&s.base, "base", "", "earlier commit")
	fs.StringVar(&s.pkg, "package", "./planner", "package of the benchmarks")
	list(&s.cases, "cases", "PlanScale/nodes=500$,PlanScale/nodes=1000$,PlanScale/nodes=2000$,PlanScale/nodes=5000$/pods=100000$,"+
		"PlanScale/nodes=5000$/pods=150000$,PlanScale/nodes=15000$", "patterns of -test.bench, in the order in which they run")
	list(&s.copy, "copy", "planner/scale_test.go,verify/simulation/five_sizes.go",
		"files of the working tree with which the earlier commit is built, so that both run the same benchmarks")
	fs.IntVar(&s.count, "count", 3, "repetitions")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if s.base == "" {
		return errors.New("set -base COMMIT")
	}
	folder, err := os.MkdirTemp("", "bench-commits-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	tests, err := s.build(ctx, folder)
	if err != nil {
		return err
	}
	results := map[string][2]benchmarkResult{} // by name: base and working tree
	var names []string
	for range s.count {
		for _, c := range s.cases {
			for i, test := range tests {
				text, err := command(ctx, filepath.Dir(test), test, "-test.run", "^$", "-test.bench", c, "-test.benchtime", "1x", "-test.timeout", "1h")
				if err != nil {
					return err
				}
				names = addBenchmarks(results, names, i, text)
			}
		}
	}
	return printCommits(out, names, results)
}

// build builds the test programs of the earlier commit and of the working tree.
func (s commitComparison) build(ctx context.Context, folder string) (tests [2]string, err error) {
	tree := filepath.Join(folder, "tree")
	if _, err := command(ctx, ".", "git", "worktree", "add", "--quiet", "--detach", tree, s.base); err != nil {
		return tests, err
	}
	defer func() {
		_, removed := command(context.WithoutCancel(ctx), ".", "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	for _, f := range s.copy {
		if f == "" {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			return tests, err
		}
		if err := os.WriteFile(filepath.Join(tree, f), data, 0o644); err != nil {
			return tests, err
		}
	}
	for i, dir := range []string{tree, "."} {
		tests[i] = filepath.Join(folder, fmt.Sprintf("%d.test", i))
		if _, err := command(ctx, dir, "go", "test", "-c", "-trimpath", "-o", tests[i], s.pkg); err != nil {
			return tests, err
		}
	}
	return tests, nil
}

// command runs a program in a folder and returns its standard output.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

var processorSuffix = regexp.MustCompile(`-\d+$`)

// addBenchmarks adds the values in the output of a test program, and returns all names in order.
func addBenchmarks(results map[string][2]benchmarkResult, names []string, commit int, text string) []string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processorSuffix.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		of, known := results[name]
		if !known {
			names, of = append(names, name), [2]benchmarkResult{{}, {}}
			results[name] = of
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				of[commit][fields[i+1]] = append(of[commit][fields[i+1]], v)
			}
		}
	}
	return names
}

// median returns the median of the values of a unit; NaN without values.
func (r benchmarkResult) median(unit string) float64 {
	all := slices.Sorted(slices.Values(r[unit]))
	n := len(all)
	if n == 0 {
		return math.NaN()
	}
	return (all[(n-1)/2] + all[n/2]) / 2
}

// printCommits prints the medians and their ratios, and how the CPU time grows with the size of the cluster.
func printCommits(out io.Writer, names []string, results map[string][2]benchmarkResult) error {
	var rows [][]string
	for _, name := range names {
		of := results[name]
		row := []string{name, formatNumber(of[0].median("cpu-ns/op") / 1e9), formatNumber(of[1].median("cpu-ns/op") / 1e9)}
		for _, unit := range []string{"cpu-ns/op", "ns/op", "B/op"} {
			row = append(row, formatNumber(of[1].median(unit)/of[0].median(unit)))
		}
		rows = append(rows, append(row, formatNumber(of[0].median("moves")), formatNumber(of[1].median("moves")), fmt.Sprint(len(of[1]["ns/op"]))))
	}
	fmt.Fprintf(out, "Medians. A ratio is the working tree divided by the earlier commit.\n\n%s\n", renderTable([]string{"benchmark", "CPU s, earlier",
		"CPU s, now", "ratio of CPU", "of elapsed time", "of allocated bytes", "moves, earlier", "moves, now", "runs"}, rows))
	_, err := fmt.Fprintf(out, "The exponent of growth: CPU time is proportional to the number of pods to this power.\n\n%s",
		renderTable([]string{"benchmarks", "sizes", "earlier", "now"}, growthRows(names, results)))
	return err
}

var sizeInName = regexp.MustCompile(`nodes=(\d+)/pods=(\d+)`)

// growthRows returns the exponent of growth for each group of benchmarks that differ in their size only, with the same
// number of pods per node.
func growthRows(names []string, results map[string][2]benchmarkResult) (rows [][]string) {
	type point struct{ pods, cpu float64 }
	groups, order := map[string]*[2][]point{}, []string(nil)
	for _, name := range names {
		m := sizeInName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		nodes, _ := strconv.Atoi(m[1])
		pods, _ := strconv.Atoi(m[2])
		group := sizeInName.ReplaceAllString(name, fmt.Sprintf("%d pods per node", pods/max(1, nodes)))
		if groups[group] == nil {
			groups[group], order = &[2][]point{}, append(order, group)
		}
		for i, r := range results[name] {
			groups[group][i] = append(groups[group][i], point{math.Log(float64(pods)), math.Log(r.median("cpu-ns/op"))})
		}
	}
	slope := func(points []point) float64 { // least squares
		var x, y, xx, xy float64
		for _, p := range points {
			x, y, xx, xy = x+p.pods, y+p.cpu, xx+p.pods*p.pods, xy+p.pods*p.cpu
		}
		n := float64(len(points))
		return (n*xy - x*y) / (n*xx - x*x)
	}
	for _, g := range order {
		if n := len(groups[g][0]); n > 1 {
			rows = append(rows, []string{g, fmt.Sprint(n), formatNumber(slope(groups[g][0])), formatNumber(slope(groups[g][1]))})
		}
	}
	return rows
}
