package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// minWaveEvictions is the smallest size of a wave that counts for the rate.
const minWaveEvictions = 64

// Result is the eviction rate of one program.
type Result struct {
	Program           string  `json:"program"`
	ControllerManager string  `json:"controllerManager"`
	Evictions         int     `json:"evictions"`
	PerSecond         float64 `json:"evictionsPerSecond"`
	// OverallRate is the rate from the first to the last eviction, including verification between waves. PassRate is
	// the rate over the whole pass, which also includes the time before and after the evictions.
	OverallRate float64 `json:"evictionsPerSecondOverall"`
	PassRate    float64 `json:"evictionsPerSecondOfThePass"`
	// ReplacementRate is the rate from the first to the last binding of a replacement in each wave, or in the whole
	// pass without waves: how fast the controller-manager makes replacements while it has some to make. 0 is not
	// measured.
	ReplacementRate float64 `json:"replacementsPerSecond,omitempty"`
	Seconds         float64 `json:"seconds"`
	Waves           []Wave  `json:"waves,omitempty"`
	// Error describes how the program failed; empty if it did not.
	Error      string `json:"error,omitempty"`
	LoadBefore string `json:"loadAverageBefore"`
	LoadAfter  string `json:"loadAverageAfter"`
}

// Wave holds the rate of one wave, from its first to its last accepted eviction.
type Wave struct {
	Number    int     `json:"number"`
	Evictions int     `json:"evictions"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"evictionsPerSecond"`
}

// computeRates computes all rates; a sequence of n evictions has n-1 gaps. With waves, PerSecond is the number of gaps
// in all waves of at least minWaveEvictions evictions, divided by their time. Without waves, PerSecond equals
// OverallRate. bound are the bindings of the replacements: those of a wave end when the next wave begins.
func (r *Result) computeRates(all, bound []accepted, waveOf map[string]int) {
	r.Evictions = len(all)
	r.OverallRate = perSecond(countGaps(all))
	if r.Seconds > 0 {
		r.PassRate = float64(len(all)) / r.Seconds
	}
	byWave := map[int][]accepted{}
	for _, e := range all {
		if w := waveOf[e.pod]; w > 0 {
			byWave[w] = append(byWave[w], e)
		}
	}
	if len(byWave) == 0 {
		r.PerSecond, r.ReplacementRate = r.OverallRate, perSecond(countGaps(bound))
		return
	}
	numbers := slices.Sorted(maps.Keys(byWave))
	boundIn := func(k int) (out []accepted) {
		for _, b := range bound {
			if !b.answered.Before(first(byWave[numbers[k]])) && (k+1 == len(numbers) || b.answered.Before(first(byWave[numbers[k+1]]))) {
				out = append(out, b)
			}
		}
		return out
	}
	var evicted, replaced gaps
	for k, number := range numbers {
		in := byWave[number]
		n, d := countGaps(in)
		r.Waves = append(r.Waves, Wave{number, len(in), d.Seconds(), perSecond(n, d)})
		if len(in) >= minWaveEvictions {
			evicted.add(n, d)
			replaced.add(countGaps(boundIn(k)))
		}
	}
	r.PerSecond, r.ReplacementRate = perSecond(evicted.n, evicted.took), perSecond(replaced.n, replaced.took)
}

// gaps is a number of gaps between requests, and their time.
type gaps struct {
	n    int
	took time.Duration
}

func (g *gaps) add(n int, d time.Duration) { g.n, g.took = g.n+n, g.took+d }

func byAnswer(a, b accepted) int { return a.answered.Compare(b.answered) }

func first(in []accepted) time.Time { return slices.MinFunc(in, byAnswer).answered }

func countGaps(in []accepted) (int, time.Duration) {
	if len(in) == 0 {
		return 0, 0
	}
	return len(in) - 1, slices.MaxFunc(in, byAnswer).answered.Sub(first(in))
}

func perSecond(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// accepted is an eviction or a binding that the API server accepted.
type accepted struct {
	pod      string // namespace/name
	answered time.Time
}

func acceptedRequests(events []auditv1.Event, subresource string) (out []accepted) {
	for _, e := range events {
		if e.Verb == "create" && e.ObjectRef != nil && e.ObjectRef.Subresource == subresource &&
			e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusCreated {
			out = append(out, accepted{e.ObjectRef.Namespace + "/" + e.ObjectRef.Name, e.StageTimestamp.Time})
		}
	}
	return out
}

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
		fmt.Fprintf(&b, "Each program may evict up to %d pods.\n\n", s.maxEvictions)
	}
	fmt.Fprintf(&b, `%s creates this page with a real control plane and fake
nodes. Both programs start from the same state.

"In waves" counts waves of at least %d evictions, from the first to the last accepted one.
The descheduler (peer) has no waves, so all its evictions count.
"Of the pass" is the rate from the start of the program to its end. Evenkeel waits until every
replacement is Ready; the descheduler does not. "Replacements" is the rate of their bindings,
from the first to the last of each wave or pass.

| controller-manager | program | evictions | waves | in waves, 1/s | first to last, 1/s | of the pass, 1/s | replacements, 1/s | seconds | load average before, after |
|---|---|---|---|---|---|---|---|---|---|
`, command, minWaveEvictions)
	peer := map[string]Result{}
	for _, r := range results {
		before := peer[r.ControllerManager]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f%s | %.1f | %.1f%s | %s | %.0f | %s, %s |\n",
			r.ControllerManager, r.Program, r.Evictions, len(r.Waves), r.PerSecond, formatSpeedup(r.PerSecond, before.PerSecond),
			r.OverallRate, r.PassRate, formatSpeedup(r.PassRate, before.PassRate), formatRate(r.ReplacementRate), r.Seconds,
			r.LoadBefore, r.LoadAfter)
		if r.Program == "peer" {
			peer[r.ControllerManager] = r
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

func formatRate(rate float64) string {
	if rate == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", rate)
}
