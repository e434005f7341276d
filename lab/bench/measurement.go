package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// The phases of the comparison with the descheduler.
const (
	dryPhase  = "dry"  // planning only
	realPhase = "real" // evicting until a round evicts nothing
	livePhase = "live" // evicting a few pods, to measure the memory
)

// Measurement is one measured run of one program on one cluster.
type Measurement struct {
	Phase   string `json:"phase"`
	Nodes   int    `json:"nodes"`
	Pods    int    `json:"pods"`
	Cluster string `json:"cluster,omitempty"` // the shape; see newObjects
	Target  string `json:"target"`
	Program string `json:"program"`
	Run     int    `json:"run"`

	contender contender
	target    balanceTarget

	// Build, Commit and Policy identify the program, its source and the configuration that were measured. The
	// descheduler has no commit.
	Build  string `json:"build"`
	Commit string `json:"commit,omitempty"`
	Policy string `json:"policy"`

	resourceUse
	// CycleSeconds and CycleCPUSeconds measure one cycle with a filled cache: the descheduler's second loop, or
	// Evenkeel's snapshot and plan.
	CycleSeconds    float64 `json:"cycleSeconds,omitempty"`
	CycleCPUSeconds float64 `json:"cycleCPUSeconds,omitempty"`
	// PlannerSeconds is the time of the descheduler's strategies, or of Evenkeel's goals and planner.
	PlannerSeconds float64 `json:"plannerSeconds,omitempty"`
	Requests       int     `json:"apiRequests,omitempty"`
	// Evictions counts planned evictions in a dry run, and evictions that the API server accepted in a real run.
	Evictions    int            `json:"evictions"`
	ByStrategy   map[string]int `json:"byStrategy,omitempty"`
	MinEvictions int            `json:"minEvictions,omitempty"`
	// Loops counts the evictions of each of the descheduler's loops.
	Loops []int `json:"loops,omitempty"`

	Start      *Imbalance  `json:"start,omitempty"`
	Rounds     []Round     `json:"rounds,omitempty"`
	Prediction *Prediction `json:"predicted,omitempty"`

	// Error describes how the program failed; empty if it did not.
	Error      string `json:"error,omitempty"`
	LoadBefore string `json:"loadAverageBefore"`
	LoadAfter  string `json:"loadAverageAfter"`

	// MeasuredAt is the time of the measurement; Machine describes the machine.
	MeasuredAt time.Time `json:"measuredAt"`
	Machine    string    `json:"machine"`
}

func (c Measurement) size() clusterSize { return clusterSize{c.Nodes, c.Pods, c.Cluster} }

func (c Measurement) isPeer() bool { return strings.HasPrefix(c.Program, "peer") }

// isRepetitionOf reports whether two measurements differ only in the number of the run.
func (c Measurement) isRepetitionOf(o Measurement) bool {
	return c.Phase == o.Phase && c.size() == o.size() && c.Target == o.Target && c.Program == o.Program
}

// fileName returns the file name of a measurement within the folder of its cluster size.
func (c Measurement) fileName() string {
	return fmt.Sprintf("%s-%s-%s-%d.json", c.Phase, c.Target, c.Program, c.Run)
}

// store writes a measurement to the folder of its cluster size.
func (c Measurement) store(folder string) error {
	c.MeasuredAt, c.Machine = time.Now().UTC().Truncate(time.Second), describeMachine()
	return writeJSON(filepath.Join(folder, c.fileName()), c)
}

// describeMachine describes this machine: its CPUs, memory and kernel, and the frequency governor if there is one.
func describeMachine() string {
	parts := []string{fmt.Sprintf("%d cores", runtime.NumCPU())}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			parts = append([]string{cpus[0].ModelName}, parts...)
		}
		if m, err := fs.Meminfo(); err == nil && m.MemTotal != nil {
			parts = append(parts, fmt.Sprintf("%.0f GiB", float64(*m.MemTotal)/(1<<20)))
		}
	}
	for _, from := range []struct{ title, file string }{{"Linux", "/proc/sys/kernel/osrelease"},
		{"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"}} {
		if text, err := os.ReadFile(from.file); err == nil {
			parts = append(parts, from.title+" "+strings.TrimSpace(string(text)))
		}
	}
	return strings.Join(parts, ", ")
}

func readMeasurement(path string) (Measurement, error) {
	var c Measurement
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	return c, nil
}

// fileFingerprint returns the start of a program's SHA-256.
func fileFingerprint(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the program to measure: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12], nil
}

// Round is one start of the program, and the stable state of the cluster afterwards.
type Round struct {
	Result
	CPUSeconds float64    `json:"cpuSeconds"`
	PeakBytes  int64      `json:"peakBytes"`
	Requests   int        `json:"apiRequests"`
	After      *Imbalance `json:"after"`
	// Outcomes counts the outcomes of moves in the report, by reason. LandedAsPredicted counts the
	// replacements that landed as predicted.
	Outcomes          map[string]int `json:"outcomes,omitempty"`
	LandedAsPredicted int            `json:"landedAsPredicted,omitempty"`
	// Unstable describes what did not become stable in time; empty if everything did.
	Unstable string `json:"unstable,omitempty"`
}
