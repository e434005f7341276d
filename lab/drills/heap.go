package drills

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// sample is what a process's metrics say at one moment.
type sample struct {
	passes     int // that could evict
	goroutines int
	live       float64 // bytes that the last collection found in use
	resident   float64 // bytes
}

func (s sample) String() string {
	return fmt.Sprintf("pass %d: %d goroutines, %.2f MB alive, %.1f MB resident", s.passes, s.goroutines, s.live/1e6, s.resident/1e6)
}

func scrape(ctx context.Context, client *http.Client, address string) (sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return sample{}, err
	}
	r, err := client.Do(req)
	if err != nil {
		return sample{}, fmt.Errorf("reading metrics: %w", err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return sample{}, fmt.Errorf("reading metrics: %s", r.Status)
	}
	return readSample(r.Body)
}

// readSample reads the text form of Prometheus. The collector begins anew when the
// heap is (100+GOGC)% of what its last run found alive, which is therefore known
// without asking for a collection; the stacks' share in it does not matter here.
func readSample(in io.Reader) (s sample, err error) {
	seen := map[string]bool{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		name, labels, _ := strings.Cut(name, "{")
		value, err := strconv.ParseFloat(text, 64)
		switch name {
		case "evenkeel_passes_total":
			if strings.Contains(labels, `mode="live"`) {
				s.passes += int(value)
			}
		case "go_goroutines":
			s.goroutines = int(value)
		case "go_memstats_next_gc_bytes":
			s.live = value * 100 / (100 + gogc)
		case "process_resident_memory_bytes":
			s.resident = value
		default:
			continue
		}
		if err != nil {
			return sample{}, fmt.Errorf("reading metrics: %s: %w", name, err)
		}
		seen[name] = true
	}
	for _, want := range []string{"go_goroutines", "go_memstats_next_gc_bytes", "process_resident_memory_bytes"} {
		if !seen[want] {
			return sample{}, fmt.Errorf("reading metrics: there is no %s", want)
		}
	}
	return s, nil
}

// window is how many passes are looked at together: among them are moments at which
// nothing is under way, and those have the fewest goroutines and the smallest heap.
const window = 10

// warmUp is after how many passes it should have stopped growing.
func warmUp(passes int) int { return max(passes/5, window) }

// figures compare a process early and late.
type figures struct {
	passes, from int
	early, late  int     // goroutines
	live         float64 // bytes at the end
	perPass      float64 // bytes by which the live heap grows with every pass
	resident     float64 // bytes at the end
}

func (f figures) String() string {
	return fmt.Sprintf("%d passes, from pass %d on: goroutines %d, then %d; live heap grows by %.0f bytes a pass to %.2f MB; %.1f MB resident",
		f.passes, f.from, f.early, f.late, f.perPass, f.live/1e6, f.resident/1e6)
}

// measure takes the lowest figures of each window after the warm-up; the growth of
// the heap is the slope of the line through them by least squares. Goroutines are
// compared between the first and the last third of the windows, to the advantage of
// the program: a connection, of two goroutines, may come and go, what is left behind
// adds up.
func measure(samples []sample, from int) figures {
	lows := lowest(samples, from)
	if len(lows) < 2 {
		return figures{from: from}
	}
	last := lows[len(lows)-1]
	f := figures{passes: samples[len(samples)-1].passes, from: from, live: last.live, resident: last.resident, late: last.goroutines}
	for i := range max(1, len(lows)/3) {
		f.early = max(f.early, lows[i].goroutines)
		f.late = min(f.late, lows[len(lows)-1-i].goroutines)
	}
	f.perPass = slope(lows)
	return f
}

func slope(lows []sample) float64 {
	var x, y, xx, xy float64
	for _, l := range lows {
		at := float64(l.passes)
		x, y, xx, xy = x+at, y+l.live, xx+at*at, xy+at*l.live
	}
	n := float64(len(lows))
	return (n*xy - x*y) / (n*xx - x*x)
}

// lowest has the lowest figures of each whole window, by its first pass.
func lowest(samples []sample, from int) (lows []sample) {
	for _, s := range samples {
		if s.passes < from {
			continue
		}
		at := s.passes - (s.passes-from)%window
		if n := len(lows); n == 0 || lows[n-1].passes != at {
			s.passes = at
			lows = append(lows, s)
			continue
		}
		l := &lows[len(lows)-1]
		l.goroutines, l.live, l.resident = min(l.goroutines, s.goroutines), min(l.live, s.live), min(l.resident, s.resident)
	}
	if len(samples) > 0 && len(lows) > 0 && samples[len(samples)-1].passes < lows[len(lows)-1].passes+window-1 {
		lows = lows[:len(lows)-1] // its quiet moments may not have come yet
	}
	return lows
}

// What the heap may grow by: so many bytes with every pass, or in a run that is too
// short to tell, so many in all. The lowest figures of windows differ by some 0.3 MB,
// with the pods that there are and with events, which are kept for minutes; twice
// that is allowed: over 30 passes 20 kB a pass. Over 400 it would be 1.5 kB.
const (
	bytesPerPass = 2_000
	bytesInAll   = 600_000
)

// wrong says what has grown.
func (f figures) wrong() (out []string) {
	if f.passes <= f.from {
		return []string{"too few passes were seen for a judgement"}
	}
	if f.late > f.early {
		out = append(out, fmt.Sprintf("%d goroutines were left behind", f.late-f.early))
	}
	if limit := max(bytesPerPass, bytesInAll/float64(f.passes-f.from)); f.perPass > limit {
		out = append(out, fmt.Sprintf("the heap grows by %.0f bytes a pass, want at most %.0f", f.perPass, limit))
	}
	return out
}
