package cron

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// A deny window whose start is skipped opens at the clock change, and one whose start occurs twice
// opens twice. An allow window does not open at a skipped start, and opens once at a repeated start.
func TestWindowsAtClockChanges(t *testing.T) {
	for _, c := range []struct {
		window, now string
		deny, allow bool
	}{
		// At 01:00 UTC, local time in Berlin skips from 02:00 to 03:00.
		{"0 2 * * * 6h Europe/Berlin", "2026-03-29T00:59:59Z", false, false},
		{"0 2 * * * 6h Europe/Berlin", "2026-03-29T01:00:00Z", true, false},
		{"0 2 * * * 6h Europe/Berlin", "2026-03-29T03:00:00Z", true, false},
		{"0 2 * * * 6h Europe/Berlin", "2026-03-29T07:00:00Z", false, false},
		{"59 2 * * * 1h Europe/Berlin", "2026-03-29T01:30:00Z", true, false},
		{"0 3 * * * 1h Europe/Berlin", "2026-03-29T01:30:00Z", true, true},
		{"0 2 * * 1 6h Europe/Berlin", "2026-03-29T03:00:00Z", false, false}, // a Sunday
		// In Berlin, the hour from 02:00 to 03:00 occurs twice, from 00:00 and from 01:00 UTC.
		{"0 2 * * * 1h Europe/Berlin", "2026-10-25T00:30:00Z", true, true},
		{"0 2 * * * 1h Europe/Berlin", "2026-10-25T01:30:00Z", true, false},
		{"0 2 * * * 1h Europe/Berlin", "2026-10-25T02:00:00Z", false, false},
		// At 04:00 UTC on Sunday, 2026-09-06, local time in Santiago skips from 00:00 to 01:00.
		{"0 0 * * 0 3h America/Santiago", "2026-09-06T03:59:00Z", false, false},
		{"0 0 * * 0 3h America/Santiago", "2026-09-06T04:30:00Z", true, false},
		{"0 23 * * 6 30m America/Santiago", "2026-04-05T03:15:00Z", true, false},
		// The clock changes of Lord Howe Island are half an hour. Local time skips from 02:00 to 02:30
		// at 15:30 UTC. The half hour from 01:30 to 02:00 occurs twice.
		{"15 2 * * * 10m Australia/Lord_Howe", "2026-10-03T15:35:00Z", true, false},
		{"45 1 * * * 10m Australia/Lord_Howe", "2026-04-04T14:50:00Z", true, true},
		{"45 1 * * * 10m Australia/Lord_Howe", "2026-04-04T15:20:00Z", true, false},
	} {
		w, now := parseWindow(t, c.window), parseTime(t, c.now)
		_, denied := Windows{Deny: []Window{w}}.Open(now)
		_, allowed := Windows{Allow: []Window{w}}.Open(now)
		if !denied != c.deny || allowed != c.allow {
			t.Errorf("%s at %s: got deny %v, allow %v; want %v, %v", c.window, c.now, !denied, allowed, c.deny, c.allow)
		}
	}
}

// A deny window whose start is skipped ends the permitted time at the clock change.
func TestDenyWindowEndsPassAtClockChange(t *testing.T) {
	w := Windows{Deny: []Window{parseWindow(t, "30 2 * * * 1h Europe/Berlin")}}
	if got, want := w.Until(parseTime(t, "2026-03-28T23:00:00Z")), parseTime(t, "2026-03-29T01:00:00Z"); !got.Equal(want) {
		t.Errorf("got end %s, want %s", got, want)
	}
}

// wallReading describes the local time of one minute.
type wallReading struct {
	real                time.Time
	wall                string // 2026-03-29 01:59
	repeated, afterSkip bool   // a repeated time whose previous occurrence is not the minute before
}

func wallReadings(loc *time.Location, from time.Time, minutes int) []wallReading {
	seen := map[string]bool{}
	var out []wallReading
	for i := range minutes {
		real := from.Add(time.Duration(i) * time.Minute)
		wall := real.In(loc).Format("2006-01-02 15:04")
		r := wallReading{real: real, wall: wall, repeated: seen[wall]}
		if i > 0 {
			r.afterSkip = wallMinutes(wall)-wallMinutes(out[i-1].wall) > 1
		}
		seen[wall] = true
		out = append(out, r)
	}
	return out
}

func wallMinutes(wall string) int64 {
	x, err := time.Parse("2006-01-02 15:04", wall)
	if err != nil {
		panic(err)
	}
	return x.Unix() / 60
}

// expectedStarts returns the expected firings of an expression with lists of minutes and hours.
func expectedStarts(fields string, rs []wallReading, twice, jumps bool) map[int64]bool {
	names := map[string]bool{}
	f := strings.Fields(fields)
	for _, h := range strings.Split(f[1], ",") {
		for _, m := range strings.Split(f[0], ",") {
			names[fmt.Sprintf("%02s:%02s", h, m)] = true
		}
	}
	out := map[int64]bool{}
	for i, r := range rs {
		if names[r.wall[11:]] && (twice || !r.repeated) {
			out[r.real.Unix()] = true
		}
		if !jumps || !r.afterSkip {
			continue
		}
		for m := wallMinutes(rs[i-1].wall) + 1; m < wallMinutes(r.wall); m++ {
			if names[time.Unix(m*60, 0).UTC().Format("15:04")] {
				out[r.real.Unix()] = true
			}
		}
	}
	return out
}

// The test compares nextFiring and lastFiring with local time, minute by minute, around every clock
// change of four time zones in 2026.
func TestClockAgreesWithLocalTime(t *testing.T) {
	for zone, days := range map[string][]string{
		"Europe/Berlin": {"2026-03-28", "2026-10-24"}, "America/Santiago": {"2026-04-04", "2026-09-05"},
		"Australia/Lord_Howe": {"2026-04-04", "2026-10-03"}, "America/St_Johns": {"2026-03-07", "2026-10-31"}, "Asia/Tokyo": {"2026-03-28"},
	} {
		loc := must.Get(time.LoadLocation(zone))(t)
		for _, day := range days {
			rs := wallReadings(loc, parseTime(t, day+"T00:00:00Z"), 3*24*60)
			for _, fields := range []string{"0 2", "30 2", "15 2", "45 1", "0 0", "30 23", "59 2", "0,30 1,2,3", "0 12", "10,50 0,2,23"} {
				for _, mode := range []struct{ twice, jumps bool }{{false, false}, {true, true}, {true, false}} {
					s := must.Get(Parse(fields+" * * *", loc))(t)
					c := s.clock()
					c.includeRepeated, c.includeSkipped = mode.twice, mode.jumps
					expectWallTimes(t, fmt.Sprintf("%s in %s, %+v", fields, zone, mode), c, rs, expectedStarts(fields, rs, mode.twice, mode.jumps))
				}
			}
		}
	}
}

func expectWallTimes(t *testing.T, name string, c clock, rs []wallReading, starts map[int64]bool) {
	t.Helper()
	var last time.Time
	for i, r := range rs {
		if starts[r.real.Unix()] {
			last = r.real
			if next := c.nextFiring(rs[max(0, i-1)].real.Add(17 * time.Second)); i > 0 && !next.Equal(r.real) {
				t.Fatalf("%s: got %[3]s as next after %[2]s, want %[4]s", name, rs[i-1].wall, next, r.real)
			}
			if next := c.nextFiring(r.real.Add(-1)); !next.Equal(r.real) {
				t.Fatalf("%s: got %[3]s as next just before %[2]s", name, r.real, next)
			}
			if next := c.nextFiring(r.real); !next.After(r.real) {
				t.Fatalf("%s: got %[3]s as next at %[2]s", name, r.real, next)
			}
		}
		if i == 0 {
			last = time.Time{} // earlier minutes are not simulated
		}
		got := c.lastFiring(r.real.Add(59*time.Second), rs[0].real)
		if !got.Equal(last) && !(got.IsZero() && last.IsZero()) {
			t.Fatalf("%s: got %[4]s as last at %[2]s (%[3]s), want %[5]s", name, r.real, r.wall, got, last)
		}
	}
}

func TestDescribeNextOpening(t *testing.T) {
	set := func(allow, deny string) Windows {
		var w Windows
		for _, text := range strings.Split(allow, ";") {
			if text != "" {
				w.Allow = append(w.Allow, parseWindow(t, text))
			}
		}
		if deny != "" {
			w.Deny = []Window{parseWindow(t, deny)}
		}
		return w
	}
	for _, c := range []struct {
		name string
		all  []Windows
		want string
	}{
		{"one", []Windows{set("0 3 * * * 1h", "")}, "evictions may happen from 2026-01-05T03:00:00Z"},
		{"the first of two windows", []Windows{set("0 9 * * * 1h;0 5 * * * 1h", "")}, "evictions may happen from 2026-01-05T05:00:00Z"},
		{"two windows that never overlap", []Windows{set("0 3 * * * 1h", ""), set("0 5 * * * 1h", "")},
			"never within a year: these windows do not overlap"},
		{"two windows that overlap on Sundays", []Windows{set("0 3 * * * 1h", ""), set("30 3 * * 0 1h", "")},
			"evictions may happen from 2026-01-11T03:30:00Z"},
		{"the deny window covers the whole allow window", []Windows{set("0 2 * * * 1h", "0 2 * * * 2h")},
			"never within a year: these windows do not overlap"},
		{"the deny window covers half of the allow window", []Windows{set("0 2 * * * 1h", "0 2 * * * 30m")},
			"evictions may happen from 2026-01-05T02:30:00Z"},
		{"the deny window covers it on the transition day, too", []Windows{set("0 3 * * * 1h Europe/Berlin", "30 2 * * * 2h Europe/Berlin")},
			"never within a year: these windows do not overlap"},
		{"always denied", []Windows{set("", "* * * * * 2h")}, "evictions may not happen before "},
		{"in a leap year", []Windows{set("0 0 29 2 * 1h", "")}, "not within a year"},
	} {
		got := DescribeNextOpening(parseTime(t, "2026-01-05T00:00:00Z"), c.all...)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if EverOpen(parseTime(t, "2026-01-05T00:00:00Z"), c.all...) == strings.Contains(got, "within a year") {
			t.Errorf("%s: EverOpen and DescribeNextOpening disagree: %q", c.name, got)
		}
	}
}

// costlyWindows returns 20 copies of a window, the maximum number in an annotation.
func costlyWindows(tb testing.TB, text string) Windows {
	tb.Helper()
	var w Windows
	for range 20 {
		one := must.Get(ParseWindow(text, time.UTC))(tb)
		w.Allow = append(w.Allow, one)
	}
	return w
}

func BenchmarkWindows(b *testing.B) {
	now := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{"a minute each": "* * * * * 1m", "a week each": "* * * * * 168h Europe/Berlin"} {
		w := costlyWindows(b, text)
		b.Run("Until/"+name, func(b *testing.B) {
			for b.Loop() {
				w.Until(now)
			}
		})
	}
	three, five := costlyWindows(b, "0 3 * * * 1h"), costlyWindows(b, "0 5 * * * 1h")
	b.Run("Opening/never", func(b *testing.B) {
		for b.Loop() {
			DescribeNextOpening(now, three, five)
		}
	})
}

// Until must be fast even for an annotation with 20 windows that open every minute.
func TestUntilIsFastForManyWindows(t *testing.T) {
	now := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
	for _, text := range []string{"* * * * * 1m", "* * * * * 168h Europe/Berlin", "0-58 * * * * 1m"} {
		w, start := costlyWindows(t, text), time.Now()
		for range 20 {
			w.Until(now)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: 20 calls of Until with 20 windows took %s", text, took)
		}
	}
}

// TestNextInDistantLeapYears checks schedules beyond the table of the time zone, where time.ZoneBounds
// ends a leap year a day early. The search must end and find the last day of the year.
func TestNextInDistantLeapYears(t *testing.T) {
	for _, tc := range []struct{ expr, zone, after, want string }{
		{"* */5 3 2 *", "Europe/Berlin", "2048-10-25T02:06:19+01:00", "2049-02-03T00:00:00+01:00"},
		{"30 12 31 12 *", "Europe/Berlin", "2048-10-25T02:06:19+01:00", "2048-12-31T12:30:00+01:00"},
		{"* 9,14 * 7 */2", "Europe/Dublin", "2044-12-06T06:28:00Z", "2045-07-01T08:00:00Z"},
	} {
		zone := must.Get(time.LoadLocation(tc.zone))(t)
		s := must.Get(Parse(tc.expr, zone))(t)
		after := must.Get(time.Parse(time.RFC3339, tc.after))(t)
		if got := s.Next(after).Format(time.RFC3339); got != tc.want {
			t.Errorf("%s in %s after %s: %s, want %s", tc.expr, tc.zone, tc.after, got, tc.want)
		}
	}
}
