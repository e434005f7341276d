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

// metricsSample holds the metrics of a process at one moment.
type metricsSample struct {
	passes        int // passes that were allowed to evict
	goroutines    int
	liveBytes     float64 // live heap in bytes after the last garbage collection
	residentBytes float64 // bytes
}

func (s metricsSample) String() string {
	return fmt.Sprintf("pass %d: %d goroutines, %.2f MB live, %.1f MB resident", s.passes, s.goroutines, s.liveBytes/1e6,
		s.residentBytes/1e6)
}

func scrapeMetrics(ctx context.Context, client *http.Client, address string) (metricsSample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return metricsSample{}, err
	}
	r, err := client.Do(req)
	if err != nil {
		return metricsSample{}, fmt.Errorf("reading metrics: %w", err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return metricsSample{}, fmt.Errorf("reading metrics: %s", r.Status)
	}
	return readSample(r.Body)
}

// readSample parses the Prometheus text format. The garbage collector starts the next cycle at (100+GOGC)% of the live
// heap that the last cycle found. The metric of the next cycle therefore yields the live heap without a forced
// collection. Stacks are too small to matter in this calculation.
func readSample(in io.Reader) (s metricsSample, err error) {
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
			s.liveBytes = value * 100 / (100 + gogc)
		case "process_resident_memory_bytes":
			s.residentBytes = value
		default:
			continue
		}
		if err != nil {
			return metricsSample{}, fmt.Errorf("reading metrics: %s: %w", name, err)
		}
		seen[name] = true
	}
	for _, want := range []string{"go_goroutines", "go_memstats_next_gc_bytes", "process_resident_memory_bytes"} {
		if !seen[want] {
			return metricsSample{}, fmt.Errorf("reading metrics: metric %s is missing", want)
		}
	}
	return s, nil
}

// windowPasses is the number of passes per window. Each window is long enough to contain idle moments, which have the
// fewest goroutines and the smallest heap.
const windowPasses = 10

// warmUpPasses returns the number of passes after which the process should have stopped growing.
func warmUpPasses(passes int) int { return max(passes/5, windowPasses) }

// growthFigures compare early and late passes of a process.
type growthFigures struct {
	passes, from  int
	early, late   int     // goroutines
	liveBytes     float64 // live heap in bytes at the end
	growthPerPass float64 // growth of the live heap in bytes per pass
	residentBytes float64 // bytes at the end
}

func (f growthFigures) String() string {
	return fmt.Sprintf("%d passes, measured from pass %d: goroutines %d, then %d; "+
		"live heap grows by %.0f bytes per pass to %.2f MB; %.1f MB resident",
		f.passes, f.from, f.early, f.late, f.growthPerPass, f.liveBytes/1e6, f.residentBytes/1e6)
}

// computeGrowth computes the figures from the minima of each window after the warm-up. growthPerPass is the slope of a
// least-squares line through the minima of the live heap. For goroutines, early is the maximum over the first third of
// the windows, and late is the minimum over the last third. The comparison tolerates a new connection with two
// goroutines, but detects a leak that grows.
func computeGrowth(samples []metricsSample, from int) growthFigures {
	lows := windowMinima(samples, from)
	if len(lows) < 2 {
		return growthFigures{from: from}
	}
	last := lows[len(lows)-1]
	f := growthFigures{passes: samples[len(samples)-1].passes, from: from, liveBytes: last.liveBytes,
		residentBytes: last.residentBytes, late: last.goroutines}
	for i := range max(1, len(lows)/3) {
		f.early = max(f.early, lows[i].goroutines)
		f.late = min(f.late, lows[len(lows)-1-i].goroutines)
	}
	f.growthPerPass = heapGrowthPerPass(lows)
	return f
}

func heapGrowthPerPass(lows []metricsSample) float64 {
	var x, y, xx, xy float64
	for _, l := range lows {
		at := float64(l.passes)
		x, y, xx, xy = x+at, y+l.liveBytes, xx+at*at, xy+at*l.liveBytes
	}
	n := float64(len(lows))
	return (n*xy - x*y) / (n*xx - x*x)
}

// windowMinima returns the minima of each complete window; passes is the first pass of the window.
func windowMinima(samples []metricsSample, from int) (lows []metricsSample) {
	for _, s := range samples {
		if s.passes < from {
			continue
		}
		at := s.passes - (s.passes-from)%windowPasses
		if n := len(lows); n == 0 || lows[n-1].passes != at {
			s.passes = at
			lows = append(lows, s)
			continue
		}
		l := &lows[len(lows)-1]
		l.goroutines, l.liveBytes, l.residentBytes = min(l.goroutines, s.goroutines), min(l.liveBytes, s.liveBytes),
			min(l.residentBytes, s.residentBytes)
	}
	if len(samples) > 0 && len(lows) > 0 && samples[len(samples)-1].passes < lows[len(lows)-1].passes+windowPasses-1 {
		lows = lows[:len(lows)-1] // the last window is incomplete; its idle moments may be missing
	}
	return lows
}

// The live heap may grow by bytesPerPass per pass, or by bytesInAll in the whole run, whichever is larger. Window
// minima vary by about 0.3 MB with the number of pods and with cached events. The limits allow twice this variation: 20
// kB per pass over 30 passes, 1.5 kB per pass over 400 passes.
const (
	bytesPerPass = 2_000
	bytesInAll   = 600_000
)

// exceededLimits returns a message for each figure that exceeds its limit.
func (f growthFigures) exceededLimits() (out []string) {
	if f.passes <= f.from {
		return []string{"too few passes to measure growth"}
	}
	if f.late > f.early {
		out = append(out, fmt.Sprintf("%d goroutines leaked", f.late-f.early))
	}
	if limit := max(bytesPerPass, bytesInAll/float64(f.passes-f.from)); f.growthPerPass > limit {
		out = append(out, fmt.Sprintf("the live heap grows by %.0f bytes per pass, want at most %.0f", f.growthPerPass, limit))
	}
	return out
}

// gogc is the GOGC value of the process, so that the garbage collector runs often. With several collections per pass,
// some happen at idle moments.
const gogc = 20
