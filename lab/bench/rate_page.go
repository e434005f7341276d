package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// publishRates writes the results as JSON and as a page, and prints the page.
func publishRates(s settings, out io.Writer) error {
	var results []Result
	for _, m := range managers {
		for _, p := range programs {
			data, err := os.ReadFile(s.resultPath(p + "/" + m))
			if errors.Is(err, fs.ErrNotExist) {
				continue // not measured yet
			}
			if err != nil {
				return fmt.Errorf("reading a result: %w", err)
			}
			var r Result
			if err := json.Unmarshal(data, &r); err != nil {
				return fmt.Errorf("reading a result: %w", err)
			}
			results = append(results, r)
		}
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("creating the folder of benchmarks: %w", err)
	}
	name := fmt.Sprintf("rate-%d-%d", s.nodes, s.pods)
	if s.maxEvictions > 0 {
		name += fmt.Sprintf("-at-most-%d", s.maxEvictions)
	}
	if err := writeJSON(filepath.Join(s.out, name+".json"), results); err != nil {
		return err
	}
	page := rateTable(s, results)
	fmt.Fprint(out, page)
	return os.WriteFile(filepath.Join(s.out, name+".md"), []byte(page), 0o644)
}

func rateTable(s settings, results []Result) string {
	var b strings.Builder
	command := "`make bench-rate`"
	fmt.Fprintf(&b, "# Evictions per second: %d nodes, %d pods\n\n", s.nodes, s.pods)
	if s.maxEvictions > 0 {
		command = fmt.Sprintf("`make bench-rate BENCH=\"-at-most %d\"`", s.maxEvictions)
		fmt.Fprintf(&b, "Each program may evict %d pods.\n\n", s.maxEvictions)
	}
	fmt.Fprintf(&b, `Created by %s with a real control plane and fake nodes. Both programs run one
after the other from the same start state. "In waves" is the rate from the first to the
last accepted eviction (201 in the audit log) of each wave of at least %d evictions. The
descheduler has no waves, so its rate is from its first to its last eviction. "Of the
pass" is the rate from the start of the program to its end. Evenkeel waits until every
replacement is Ready; the descheduler does not.

| controller-manager | program | evictions | waves | in waves, 1/s | first to last, 1/s | of the pass, 1/s | seconds | load average before, after |
|---|---|---|---|---|---|---|---|---|
`, command, minWaveEvictions)
	peer := map[string]float64{}
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f%s | %.1f | %.1f | %.0f | %s, %s |\n",
			r.ControllerManager, r.Program, r.Evictions, len(r.Waves), r.PerSecond,
			formatSpeedup(r.PerSecond, peer[r.ControllerManager]), r.OverallRate, r.PassRate, r.Seconds, r.LoadBefore, r.LoadAfter)
		if r.Program == "peer" {
			peer[r.ControllerManager] = r.PerSecond
		}
	}
	for _, r := range results {
		if r.Error != "" {
			fmt.Fprintf(&b, "\n%s with %s settings failed: %s\n", r.Program, r.ControllerManager, r.Error)
		}
	}
	return b.String()
}

func formatSpeedup(rate, peer float64) string {
	if peer == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f x)", rate/peer)
}
