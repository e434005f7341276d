// Command mutants changes the safety core of Evenkeel in small ways and checks that a test fails for each change. It
// reports each change that no test notices, a survivor.
//
// The choice of changes depends only on the seed and the source. The command never writes into the source tree: `go
// test -overlay` compiles the changed file from a temporary folder. A change that does not compile is skipped. The
// results file makes a run resumable: a change that a test noticed is not judged again.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := options{areas: SafetyCore}
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the choice")
	flag.IntVar(&o.count, "count", 150, "number of mutants that compile")
	flag.IntVar(&o.jobs, "jobs", 2, "mutants judged at the same time")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "time limit for the tests of one package; an endless loop is noticed too")
	flag.StringVar(&o.results, "results", "bin/mutants.jsonl", "file with the results of earlier runs")
	flag.StringVar(&o.equivalent, "equivalent", "tools/mutants/equivalent.txt", "mutants that change no behavior, with the reason")
	flag.StringVar(&o.only, "area", "", "judge mutants of this area only")
	flag.IntVar(&o.allowed, "allowed", 3, "highest number of survivors")
	flag.Parse()
	survivors, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	if survivors > o.allowed {
		os.Exit(1)
	}
}

type options struct {
	areas                     []Area
	seed                      uint64
	count, jobs, allowed      int
	timeout                   time.Duration
	results, equivalent, only string
}

// result is the verdict about one mutant, as the results file stores it.
type result struct {
	Area, ID, Where string
	Verdict         verdict
	// By is the package whose test noticed the mutant.
	By string `json:",omitempty"`
}

// run judges the mutants and returns the number of survivors that are not listed as equivalent.
func run(ctx context.Context, o options) (int, error) {
	queue, err := chooseMutants(o.areas, o.seed, o.only)
	if err != nil {
		return 0, err
	}
	if err := checkUnchanged(ctx, o.areas, o.timeout); err != nil {
		return 0, err
	}
	known, err := readResults(o.results)
	if err != nil {
		return 0, err
	}
	equivalent, err := readEquivalent(o.equivalent)
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(o.results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	all, err := judgeAll(ctx, o, queue, known, out)
	if err != nil {
		return 0, err
	}
	return summarize(all, equivalent), nil
}

// candidate is a mutant with the area it belongs to.
type candidate struct {
	Mutant
	area Area
}

// chooseMutants returns all mutants in random order. The areas take turns, so that each contributes equally. The order
// of two mutants of an area depends only on the seed and their names, so a change of the source elsewhere keeps it.
func chooseMutants(areas []Area, seed uint64, only string) (queue []candidate, err error) {
	var byArea [][]candidate
	for _, area := range areas {
		if only != "" && area.Name != only {
			continue
		}
		files, err := area.sourceFiles()
		if err != nil {
			return nil, err
		}
		var of []candidate
		for _, f := range files {
			mutants, err := Mutants(f)
			if err != nil {
				return nil, err
			}
			for _, m := range mutants {
				of = append(of, candidate{m, area})
			}
		}
		slices.SortFunc(of, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(rank(seed, a.ID()), rank(seed, b.ID())), cmp.Compare(a.ID(), b.ID()))
		})
		byArea = append(byArea, of)
	}
	for turn := 0; ; turn++ {
		before := len(queue)
		for _, of := range byArea {
			if turn < len(of) {
				queue = append(queue, of[turn])
			}
		}
		if len(queue) == before {
			return queue, nil
		}
	}
}

// rank returns a random number for the mutant of this name.
func rank(seed uint64, id string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, id)
	return rand.NewPCG(seed, h.Sum64()).Uint64()
}

// judgeAll judges mutants of the queue until count of them compiled, and returns these results in the queue's order.
func judgeAll(ctx context.Context, o options, queue []candidate, known map[string]result, out *os.File) ([]result, error) {
	var all []result
	compiled := 0
	for len(queue) > 0 && compiled < o.count {
		n := min(o.jobs, len(queue), o.count-compiled)
		batch := make([]result, n)
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i, c := range queue[:n] {
			wg.Go(func() {
				r, ok := known[c.ID()]
				if !ok || r.Verdict == survived { // a test may have been added
					r, errs[i] = judge(ctx, c, o.timeout)
				}
				batch[i] = r
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		queue = queue[n:]
		for _, r := range batch {
			if known[r.ID] != r {
				known[r.ID] = r
				if err := json.NewEncoder(out).Encode(r); err != nil {
					return nil, err
				}
			}
			if r.Verdict != invalid {
				compiled++
				all = append(all, r)
				fmt.Printf("%3d %-10s %-9s %s %s\n", compiled, r.Area, r.Verdict, r.Where, r.By)
			}
		}
	}
	return all, nil
}

// summarize prints the survivors and returns the number of those that are not equivalent.
func summarize(all []result, equivalent map[string]string) (real int) {
	killed := 0
	for _, r := range all {
		if r.Verdict != survived {
			killed++
			continue
		}
		if reason, ok := equivalent[r.ID]; ok {
			fmt.Printf("equivalent: %s\n  %s\n", r.Where, reason)
			continue
		}
		real++
		fmt.Printf("SURVIVED: %s\n", r.Where)
	}
	fmt.Printf("%d mutants: %d noticed, %d equivalent, %d survived\n", len(all), killed, len(all)-killed-real, real)
	return real
}

func readResults(path string) (map[string]result, error) {
	known := map[string]result{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for d.More() {
		var r result
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s: %w; delete the file to start again", path, err)
		}
		known[r.ID] = r
	}
	return known, nil
}

// readEquivalent reads pairs of lines: the ID of a mutant, and the indented reason why the mutant changes no behavior.
func readEquivalent(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reasons, id := map[string]string{}, ""
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			reasons[id] += strings.TrimSpace(line) + " "
		default:
			id = line
		}
	}
	for id, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("%s: %s has no reason", path, id)
		}
	}
	return reasons, nil
}
