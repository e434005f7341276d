package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// comparison holds the flags of `bench peer`. Each step runs in a separate process with the same flags. The fields
// nodes, pods and work apply to the current cluster size.
type comparison struct {
	settings
	dryOn, realOn, liveOn []clusterSize
	dryRuns, realRuns     int
	liveRuns              int
	liveMaxEvictions      int
	retry                 bool
	commit                string // of the evenkeel program; empty if unknown
	dryTarget             string
	programs, targets     []string // empty: all
}

// clusterSize is the size of a cluster, and its shape (see newObjects).
type clusterSize struct {
	nodes, pods int
	shape       string
}

func (z clusterSize) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%d/%d/%s", z.nodes, z.pods, z.shape), "/")
}

func parseSizes(text string) ([]clusterSize, error) {
	var out []clusterSize
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		var z clusterSize
		n, _ := fmt.Sscanf(strings.ReplaceAll(part, "/", " "), "%d %d %s", &z.nodes, &z.pods, &z.shape)
		known := strings.HasPrefix(z.shape, snapshotShape) || z.nodes >= zones && z.pods >= perApp && z.pods%perApp == 0 &&
			(z.shape == "" || z.shape == mixedShape)
		if n < 2 || !known || z.String() != part {
			return nil, fmt.Errorf("invalid size %q: want NODES/PODS or NODES/PODS/%s, such as 500/10000, with pods in multiples of %d",
				part, mixedShape, perApp)
		}
		out = append(out, z)
	}
	return out, nil
}

// forSize returns the settings for one cluster size.
func (s comparison) forSize(z clusterSize) comparison {
	s.nodes, s.pods, s.shape = z.nodes, z.pods, z.shape
	s.work = filepath.Join(s.work, strings.ReplaceAll(z.String(), "/", "-"))
	return s
}

// stepArgs returns the command line arguments of the step that makes a measurement.
func (c Measurement) stepArgs() []string {
	return []string{c.Phase, c.size().String(), c.Target, c.Program, fmt.Sprint(c.Run)}
}

// controlPlaneKey identifies the control plane of a measurement. Each real run needs its own control plane;
// runs that hardly change the cluster share one control plane per size.
func (c Measurement) controlPlaneKey() string {
	if c.Phase == realPhase {
		return strings.Join(c.stepArgs(), " ")
	}
	return strings.Join(c.stepArgs()[:2], " ")
}

// plannedMeasurements returns all measurements to make, in order. The programs take turns, so that
// other load on the machine affects all of them.
func plannedMeasurements(s comparison) ([]Measurement, error) {
	var out []Measurement
	add := func(phase string, on []clusterSize, among []contender, runs int) error {
		for _, z := range on {
			names := targetsOn(z)
			if i := slices.IndexFunc(names, func(t balanceTarget) bool { return t.Name == s.dryTarget }); phase != realPhase {
				names = names[max(0, i):][:1]
			}
			for run := 1; run <= runs; run++ {
				for _, t := range names {
					for _, p := range among {
						if !s.selected(phase, t, p) {
							continue
						}
						c, err := s.newMeasurement(phase, z, t, p, run)
						if err != nil {
							return err
						}
						out = append(out, c)
					}
				}
			}
		}
		return nil
	}
	if !slices.ContainsFunc(targets, func(t balanceTarget) bool { return t.Name == s.dryTarget }) {
		return nil, fmt.Errorf("unknown target %q", s.dryTarget)
	}
	return out, errors.Join(
		add(dryPhase, s.dryOn, dryContenders, s.dryRuns),
		add(livePhase, s.liveOn, liveContenders, s.liveRuns),
		add(realPhase, s.realOn, realContenders, s.realRuns))
}

// targetsOn returns the targets for a cluster. A snapshot can have any target.
func targetsOn(z clusterSize) (out []balanceTarget) {
	for _, t := range targets {
		if t.shape == z.shape || strings.HasPrefix(z.shape, snapshotShape) {
			out = append(out, t)
		}
	}
	return out
}

// selected reports whether a program and a target are selected by the flags. Dry runs have a separate flag for the
// target.
func (s comparison) selected(phase string, t balanceTarget, p contender) bool {
	among := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	return among(s.programs, p.Name) && (phase != realPhase || among(s.targets, t.Name))
}

func (s comparison) newMeasurement(phase string, z clusterSize, t balanceTarget, p contender, run int) (Measurement, error) {
	b, err := fileFingerprint(s.binaryPath(p))
	o := s.programConfig(phase, p, t)
	c := Measurement{Phase: phase, Nodes: z.nodes, Pods: z.pods, Cluster: z.shape, Target: t.Name, Program: p.Name, Run: run,
		Build: b, Policy: o.fingerprint(), contender: p, target: t}
	if !p.Peer {
		c.Commit = s.commit
	}
	return c, err
}

func (s comparison) programConfig(phase string, p contender, t balanceTarget) programConfig {
	o := programConfig{contender: p, balanceTarget: t, DryRun: phase == dryPhase || p.Dry != ""}
	if phase == livePhase {
		o.MaxEvictions = s.liveMaxEvictions
	}
	return o
}

func (s comparison) binaryPath(p contender) string {
	if p.Peer {
		return s.peer
	}
	return s.evenkeel
}

// pairTime is the longest time between the measurements that are compared with each other: those of all programs in
// one run.
const pairTime = time.Hour

// isPairOf reports whether two measurements are compared with each other.
func (c Measurement) isPairOf(o Measurement) bool {
	o.Program = c.Program
	return c.isRepetitionOf(o) && c.Run == o.Run
}

// outstandingMeasurements returns the planned measurements that have no result of this build and configuration. If
// such a measurement belongs to a pair, or if a pair took longer than pairTime, the older results of the pair are
// measured again. The flag retry also repeats failed runs.
func outstandingMeasurements(s comparison, now time.Time) (out []Measurement, err error) {
	all, err := plannedMeasurements(s)
	if err != nil {
		return nil, err
	}
	stored := make([]Measurement, len(all)) // without a time if it must be measured
	for i, c := range all {
		old, err := readMeasurement(filepath.Join(s.forSize(c.size()).work, c.fileName()))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case old.Build == c.Build && old.Policy == c.Policy && !(s.retry && old.Error != ""):
			stored[i] = old
		}
	}
	for i, c := range all {
		at, apart := stored[i].MeasuredAt, false
		for j, o := range all {
			other := stored[j].MeasuredAt
			apart = apart || c.isPairOf(o) && (other.IsZero() || other.Sub(at).Abs() > pairTime)
		}
		if at.IsZero() || apart && now.Sub(at) > pairTime {
			out = append(out, c)
		}
	}
	return out, nil
}
