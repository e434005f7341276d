// Package drills runs the shipped binary against a real control plane while something breaks: the network, the process
// itself (kill -9), the leader's connection, a component, a credential or a permission. After each drill, package
// auditverifier checks independently what the processes did.
//
// A seed determines all failures and their times. A drill fails if the verifier finds a violation.
package drills

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// Options select what to run.
type Options struct {
	// Evenkeel and Kwok are the paths of the programs. Programs is the folder of those of the control plane (see
	// controlplane.Options).
	Evenkeel, Kwok, Programs string
	// Run selects drills by name; nil selects all.
	Run *regexp.Regexp
	// Short runs a few repetitions of the cheap drills only.
	Short bool
	// Reps overrides the repetitions of every drill; 0 keeps each drill's own number.
	Reps int
	Seed uint64
	// Results is the file with the results of the drills that passed. Run skips the drills in this file. If Results is
	// empty, no file is used.
	Results string
	// Run writes the result table to Table and progress lines to Progress.
	Table, Progress io.Writer
	// Keep is a folder for the files of processes that violated a rule; if empty, the files are deleted.
	Keep string
}

// drill is one kind of failure.
type drill struct {
	name        string
	reps, short int // repetitions; short is 0 if the drill is not part of the short form
	limit       time.Duration
	run         func(context.Context, *drillRun) error
}

func allDrills() []drill {
	list := []drill{
		{"faulty-proxy", 100, 3, 90 * time.Minute, runFaultyPasses},
		{"kill-9", 60, 1, 90 * time.Minute, killPasses},
		{"hour-across-kills", 6, 0, 20 * time.Minute, checkHourLimitAcrossKills},
		{"leader-cut-off", 20, 0, 80 * time.Minute, cutOffLeader},
	}
	for _, name := range components {
		d := drill{"stop-" + name, 4, 0, 30 * time.Minute, stopComponent(name)}
		if name == controlplane.Scheduler {
			d.short = 1
		}
		list = append(list, d)
	}
	return append(list,
		drill{"token", 3, 0, 20 * time.Minute, deleteTokenPods},
		drill{"permission", 5, 1, 20 * time.Minute, revokePermissions},
		drill{"records", 200, 4, 60 * time.Minute, keepRecords},
		drill{"growth", 500, 0, 60 * time.Minute, runGrowth})
}

// Names returns the names of all drills in the order in which they run.
func Names() []string {
	var names []string
	for _, d := range allDrills() {
		names = append(names, d.name)
	}
	return names
}

// ErrViolated means that at least one drill found a violation.
var ErrViolated = errors.New("at least one drill failed")

// Run runs the selected drills in turn on one cluster and writes the table.
func Run(ctx context.Context, o Options) error {
	if _, err := os.Stat(o.Evenkeel); err != nil {
		return fmt.Errorf("finding the evenkeel binary: %w", err)
	}
	rows, err := readResults(o.Results)
	if err != nil {
		return err
	}
	var todo []drill
	for _, d := range allDrills() {
		if o.Run != nil && !o.Run.MatchString(d.name) || o.Short && d.short == 0 {
			continue
		}
		if !slices.ContainsFunc(rows, func(r drillResult) bool { return r.Name == d.name }) {
			todo = append(todo, d)
		}
	}
	if len(todo) > 0 {
		a, err := newEnvironment(ctx, o)
		if err != nil {
			return err
		}
		defer a.close()
		for _, d := range todo {
			r, err := a.runDrill(ctx, d)
			if err != nil {
				writeTable(o.Table, rows)
				return fmt.Errorf("drill %s: %w", d.name, err)
			}
			rows = append(rows, r)
			if err := writeResults(o.Results, rows); err != nil {
				return err
			}
		}
	}
	writeTable(o.Table, rows)
	if slices.ContainsFunc(rows, drillResult.failed) {
		return ErrViolated
	}
	return nil
}

// runDrill runs one drill in its own namespace.
func (a *environment) runDrill(ctx context.Context, d drill) (drillResult, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	reps := d.reps
	if a.options.Short {
		reps = d.short
	}
	if a.options.Reps > 0 {
		reps = a.options.Reps
	}
	h := fnv.New64a()
	h.Write([]byte(d.name))
	s := &drillRun{environment: a, name: d.name, namespace: "drill-" + d.name, reps: reps,
		random: rand.New(rand.NewPCG(a.options.Seed, h.Sum64())),
		rules:  defaultRules(), users: map[string]bool{}, notes: map[string]int{}}
	begun := time.Now()
	if err := seed.CreateNamespace(ctx, a.cluster.Client, s.namespace); err != nil {
		return drillResult{}, err
	}
	if _, err := a.cluster.AuditSince(&a.auditRead); err != nil { // skip events of earlier drills
		return drillResult{}, err
	}
	a.recorder.Reset(s.namespace)
	err := d.run(ctx, s)
	for _, p := range s.processes {
		p.kill()
	}
	if err != nil {
		return drillResult{}, errors.Join(err, a.checkComponents())
	}
	v, reports, err := s.verify(ctx)
	if err != nil {
		return drillResult{}, err
	}
	r := drillResult{Name: d.name, Seed: a.options.Seed, Reps: s.completed, Processes: len(s.processes),
		Requested: v.Requested, Evictions: v.Evictions, Reports: reports,
		Seconds: int(time.Since(begun).Seconds()), Violations: map[auditverifier.Kind]int{}, Notes: s.notes}
	for _, x := range v.Violations {
		r.Violations[x.Kind]++
		fmt.Fprintf(a.options.Progress, "drills: VIOLATION in %s (seed %d): %s\n", d.name, a.options.Seed, x)
	}
	s.keepFiles(v)
	return r, nil
}
