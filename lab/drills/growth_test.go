package drills

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestASampleIsRead(t *testing.T) {
	const text = `# HELP go_goroutines Number of goroutines that currently exist.
go_goroutines 281
go_memstats_next_gc_bytes 1.2e+07
process_resident_memory_bytes 4.5e+07
evenkeel_passes_total{mode="dryRun",stopped="none"} 9
evenkeel_passes_total{mode="live",stopped="none"} 40
evenkeel_passes_total{mode="live",stopped="BreakerOpen"} 2
`
	got, err := readSample(strings.NewReader(text))
	if want := (metricsSample{passes: 42, goroutines: 281, liveBytes: 1e7, residentBytes: 4.5e7}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, name := range []string{"go_goroutines", "go_memstats_next_gc_bytes", "process_resident_memory_bytes"} {
		if _, err := readSample(strings.NewReader(strings.ReplaceAll(text, name+" ", "other "))); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if _, err := readSample(strings.NewReader(strings.ReplaceAll(text, "281", "many"))); err == nil {
		t.Error("got no error for an invalid goroutine count")
	}
}

// syntheticSamples returns three samples per pass: busy, idle and busy. The number of goroutines and the live heap grow
// by the given amounts per pass.
func syntheticSamples(passes int, goroutines, bytes float64) (out []metricsSample) {
	for i := range passes {
		work := float64(i*7919%1000) * 3000
		quiet := metricsSample{passes: i, goroutines: 250 + int(goroutines*float64(i)), liveBytes: 5e6 + bytes*float64(i), residentBytes: 4e7}
		busy := quiet
		busy.goroutines, busy.liveBytes = busy.goroutines+i%9, busy.liveBytes+work
		out = append(out, busy, quiet, busy)
	}
	return out
}

func TestWhatGrowsIsFound(t *testing.T) {
	for _, c := range []struct {
		passes            int
		goroutines, bytes float64
		want              []string
	}{
		{passes: 501},
		{passes: 41, bytes: 19_000},
		{passes: 501, bytes: bytesPerPass / 2},
		{passes: 501, bytes: bytesPerPass * 1.1, want: []string{"heap"}},
		{passes: 41, bytes: 21_000, want: []string{"heap"}},
		{passes: 501, goroutines: 0.01, want: []string{"goroutines"}},
		{passes: 41, goroutines: 1, bytes: 1e5, want: []string{"goroutines", "heap"}},
		{passes: 5, want: []string{"too few"}},
	} {
		f := computeGrowth(syntheticSamples(c.passes, c.goroutines, c.bytes), warmUpPasses(c.passes-1))
		if f.passes != 0 && math.Abs(f.growthPerPass-c.bytes) > 1 {
			t.Errorf("%+v: heap grows by %.1f bytes per pass", c, f.growthPerPass)
		}
		got := f.exceededLimits()
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%+v: %q", c, got)
			}
		}
	}
}

// TestAnUnfinishedWindowDoesNotCount checks that an incomplete last window is ignored, because it may lack idle
// moments.
func TestAnUnfinishedWindowDoesNotCount(t *testing.T) {
	all := append(syntheticSamples(41, 0, 0), metricsSample{passes: 41, goroutines: 300, liveBytes: 9e6})
	if f := computeGrowth(all, 10); f.late != 250 || f.growthPerPass != 0 || f.passes != 41 {
		t.Errorf("%+v", f)
	}
}

func TestSchedulesDriftApart(t *testing.T) {
	text := configText(defaultRules(), driftingSchedules()...)
	for i := range driftingCount {
		if want := fmt.Sprintf(`zones-%d: {type: ZoneSpread, schedule: "@every %ds"}`, i+1, 60+i); !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
