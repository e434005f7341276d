package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// The phases of the comparison with the peer.
const (
	dry  = "dry"  // planning alone
	full = "real" // evicting until quiet
	live = "live" // evicting a few, for the memory
)

// Cell is one program on one cluster, once. It is stored as it is measured.
type Cell struct {
	Phase   string `json:"phase"`
	Nodes   int    `json:"nodes"`
	Pods    int    `json:"pods"`
	Target  string `json:"target"`
	Program string `json:"program"`
	Run     int    `json:"run"`
	// Build and Policy tell which program and which configuration was measured.
	Build  string `json:"build"`
	Policy string `json:"policy"`

	used
	// CycleSeconds and CycleCPUSeconds are of one cycle with the cluster already
	// known: the peer's second loop, Evenkeel's pass.
	CycleSeconds    float64 `json:"cycleSeconds,omitempty"`
	CycleCPUSeconds float64 `json:"cycleCPUSeconds,omitempty"`
	// PlannerSeconds is the part of it that decides: the peer's strategies,
	// Evenkeel's goals and planner.
	PlannerSeconds float64 `json:"plannerSeconds,omitempty"`
	Requests       int     `json:"apiRequests,omitempty"`
	// Evictions are planned in a dry run, accepted by the API server in a real one.
	Evictions    int            `json:"evictions"`
	ByStrategy   map[string]int `json:"byStrategy,omitempty"`
	MinEvictions int            `json:"minEvictions,omitempty"`
	// Loops are the evictions of each of the peer's loops.
	Loops []int `json:"loops,omitempty"`

	Start    *State    `json:"start,omitempty"`
	Rounds   []Round   `json:"rounds,omitempty"`
	Foretold *Foretold `json:"foretold,omitempty"`

	// Error is how the program ended, if not well.
	Error      string `json:"error,omitempty"`
	LoadBefore string `json:"loadAverageBefore"`
	LoadAfter  string `json:"loadAverageAfter"`

	// MeasuredAt is when the cell was done, Machine on what.
	MeasuredAt time.Time `json:"measuredAt"`
	Machine    string    `json:"machine"`
}

// same reports whether two cells are runs of the same measurement.
func (c Cell) same(o Cell) bool {
	return c.Phase == o.Phase && c.Nodes == o.Nodes && c.Pods == o.Pods && c.Target == o.Target && c.Program == o.Program
}

// file names a cell within the folder of its size.
func (c Cell) file() string {
	return fmt.Sprintf("%s-%s-%s-%d.json", c.Phase, c.Target, c.Program, c.Run)
}

// store writes a cell that was measured into the folder of its size.
func (c Cell) store(folder string) error {
	c.MeasuredAt, c.Machine = time.Now().UTC().Truncate(time.Second), machine()
	return store(filepath.Join(folder, c.file()), c)
}

// machine tells the cores and the memory of this one.
func machine() string {
	memory := ""
	data, _ := os.ReadFile("/proc/meminfo")
	if fields := strings.Fields(string(data)); len(fields) > 1 { // MemTotal: N kB
		kib, _ := strconv.ParseFloat(fields[1], 64)
		memory = fmt.Sprintf(", %.0f GiB", kib/(1<<20))
	}
	return fmt.Sprintf("%d cores%s", runtime.NumCPU(), memory)
}

// wanted reports whether a cell is still to be measured. One that was measured is
// not, unless what ended badly is to be tried again (retry) or what another build
// or configuration did is to be replaced (renew).
func wanted(s comparison, c Cell) (bool, error) {
	old, err := readCell(filepath.Join(s.work, c.file()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}
	return s.retry && old.Error != "" || s.renew && (old.Build != c.Build || old.Policy != c.Policy), nil
}

func readCell(path string) (Cell, error) {
	var c Cell
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	return c, nil
}

// fingerprint marks a program: the start of its hash.
func fingerprint(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("looking at the program to measure: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12], nil
}
