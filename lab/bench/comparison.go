package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// comparison holds the flags of `bench peer`. Each step runs in a separate process with the same flags. The fields
// nodes, pods and work apply to the current cluster size.
type comparison struct {
	settings
	dryOn, realOn, liveOn []clusterSize
	dryRuns, realRuns     int
	liveMaxEvictions      int
	retry, renew          bool
	dryTarget             string
	programs, targets     []string // empty: all
}

type clusterSize struct{ nodes, pods int }

func (z clusterSize) String() string { return fmt.Sprintf("%d/%d", z.nodes, z.pods) }

func parseSizes(text string) ([]clusterSize, error) {
	var out []clusterSize
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		var z clusterSize
		n, err := fmt.Sscanf(part, "%d/%d", &z.nodes, &z.pods)
		if n != 2 || err != nil || z.nodes < zones || z.pods < perApp || z.pods%perApp != 0 {
			return nil, fmt.Errorf("invalid size %q: want NODES/PODS such as 500/10000, with pods in multiples of %d", part, perApp)
		}
		out = append(out, z)
	}
	return out, nil
}

// forSize returns the settings for one cluster size.
func (s comparison) forSize(z clusterSize) comparison {
	s.nodes, s.pods = z.nodes, z.pods
	s.work = filepath.Join(s.work, fmt.Sprintf("%d-%d", z.nodes, z.pods))
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
	add := func(phase string, on []clusterSize, names []balanceTarget, among []contender, runs int) error {
		for _, z := range on {
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
	i := slices.IndexFunc(targets, func(t balanceTarget) bool { return t.Name == s.dryTarget })
	if i < 0 {
		return nil, fmt.Errorf("unknown target %q", s.dryTarget)
	}
	t := targets[i]
	return out, errors.Join(
		add(dryPhase, s.dryOn, []balanceTarget{t}, dryContenders, s.dryRuns),
		add(livePhase, s.liveOn, []balanceTarget{t}, liveContenders, 1),
		add(realPhase, s.realOn, targets, realContenders, s.realRuns))
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
	return Measurement{Phase: phase, Nodes: z.nodes, Pods: z.pods, Target: t.Name, Program: p.Name, Run: run,
		Build: b, Policy: o.fingerprint(), contender: p, target: t}, err
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

// mustMeasure reports whether a measurement has no result yet, or a flag asks to measure it again.
// The flag retry repeats failed runs; renew repeats runs of another build or configuration.
func mustMeasure(s comparison, c Measurement) (bool, error) {
	old, err := readMeasurement(filepath.Join(s.work, c.fileName()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	return s.retry && old.Error != "" || s.renew && (old.Build != c.Build || old.Policy != c.Policy), nil
}
