package schedule_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc := must.Get(cron.LoadZone(name))(t)
	return loc
}

func parse(t testing.TB, expr string, loc *time.Location) cron.Schedule {
	t.Helper()
	s := must.Get(cron.Parse(expr, loc))(t)
	return s
}

// at returns a time on 1 January 2026, or on another day of that month, such as "2 15:04:05".
func at(text string) time.Time {
	day, clock, found := strings.Cut(text, " ")
	if !found {
		day, clock = "1", text
	}
	d, err := strconv.Atoi(day)
	if err != nil {
		panic(err)
	}
	c, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 1, d, c.Hour(), c.Minute(), c.Second(), 0, time.UTC)
}

// field is a set of values that one field of a cron expression selects, and whether the field is a star.
type field struct {
	values [60]bool
	star   bool
}

// readField reads the subset of the syntax that the test uses: *, */n, a-b and lists of numbers.
func readField(text string, from, to int) (f field) {
	f.star = strings.HasPrefix(text, "*")
	for _, part := range strings.Split(text, ",") {
		low, high, step := from, to, 1
		switch {
		case strings.HasPrefix(part, "*/"):
			step, _ = strconv.Atoi(part[2:])
		case strings.Contains(part, "-"):
			a, b, _ := strings.Cut(part, "-")
			low, _ = strconv.Atoi(a)
			high, _ = strconv.Atoi(b)
		case part != "*":
			low, _ = strconv.Atoi(part)
			high = low
		}
		for v := low; v <= high; v += step {
			f.values[v] = true
		}
	}
	return f
}

// reference decides minute by minute whether an expression fires, from the local reading of the clock alone.
type reference struct {
	minute, hour, day, month, weekday field
	namesHours                        bool
	read                              map[string]bool // readings of the last hours
	order                             []string
}

func newReference(expr string) *reference {
	f := strings.Fields(expr)
	return &reference{minute: readField(f[0], 0, 59), hour: readField(f[1], 0, 23), day: readField(f[2], 1, 31),
		month: readField(f[3], 1, 12), weekday: readField(f[4], 0, 6), namesHours: !strings.HasPrefix(f[1], "*"), read: map[string]bool{}}
}

// fires reports whether the expression fires in a minute. The caller passes all minutes in order. An expression that
// names hours fires once at a reading that occurs twice.
func (r *reference) fires(local time.Time) bool {
	if !r.minute.values[local.Minute()] || !r.hour.values[local.Hour()] {
		return false
	}
	day := r.day.values[local.Day()] && r.weekday.values[int(local.Weekday())]
	if !r.day.star && !r.weekday.star {
		day = r.day.values[local.Day()] || r.weekday.values[int(local.Weekday())]
	}
	if !day || !r.month.values[int(local.Month())] {
		return false
	}
	reading := local.Format("2006-01-02T15:04")
	repeated := r.read[reading]
	r.read[reading] = true
	if r.order = append(r.order, reading); len(r.order) > 300 {
		delete(r.read, r.order[0])
		r.order = r.order[1:]
	}
	return !repeated || !r.namesHours
}

// yearsCase compares one expression with its reference.
type yearsCase struct {
	expr            string
	ref             *reference
	jittered, plain schedule.Rule
	next, nextPlain time.Time
	firings         int
}

// check compares the firing at m with the expected one.
func (c *yearsCase) check(t *testing.T, m time.Time, loc *time.Location) {
	if c.firings++; c.firings == 1 {
		c.next = c.jittered.NextStart(m.Add(-1))
	}
	if !c.nextPlain.Equal(m) {
		t.Fatalf("%s: want a firing at %s, got %s", c.expr, m.In(loc), c.nextPlain.In(loc))
	}
	if c.next.Before(m) || !c.next.Before(m.Add(c.jittered.Jitter)) {
		t.Fatalf("%s: the run of the firing at %s starts at %s, want within %s", c.expr, m.In(loc), c.next.In(loc), c.jittered.Jitter)
	}
	c.next, c.nextPlain = c.jittered.NextStart(c.next), c.plain.NextStart(c.nextPlain)
}

// TestTenYearsOfMinutes compares NextStart, with jitter and without, with a reference that looks at every minute of ten
// years.
func TestTenYearsOfMinutes(t *testing.T) {
	exprs := []string{"17 * * * *", "30 2 * * *", "0 0 1 * *", "45 1 * * 0", "5 9-17 * * 1-5", "0 3 29 2 *", "15 */6 13 * 5"}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := from.AddDate(10, 0, 0)
	for _, name := range []string{"Etc/UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, name)
			var cases []*yearsCase
			for _, expr := range exprs {
				c := &yearsCase{expr: expr, ref: newReference(expr), plain: schedule.Rule{Name: "zones", Firings: parse(t, expr, loc)}}
				c.jittered = c.plain
				c.jittered.Jitter = 20 * time.Minute
				c.nextPlain = c.plain.NextStart(from.Add(-1))
				c.ref.prime(from, loc)
				cases = append(cases, c)
			}
			for m := from; m.Before(end); m = m.Add(time.Minute) {
				local := m.In(loc)
				for _, c := range cases {
					if c.ref.fires(local) {
						c.check(t, m, loc)
					}
				}
			}
			for _, c := range cases {
				if c.nextPlain.Before(end) || c.firings == 0 {
					t.Errorf("%s: %d firings; the next one is at %s, want it after %s", c.expr, c.firings, c.nextPlain, end)
				}
			}
		})
	}
}

// prime lets the reference read the hours before the period.
func (r *reference) prime(from time.Time, loc *time.Location) {
	for m := from.Add(-5 * time.Hour); m.Before(from); m = m.Add(time.Minute) {
		r.fires(m.In(loc))
	}
}

// The delay is the same in every process, and differs between strategies and between firings.
func TestJitterIsDeterministicAndSpread(t *testing.T) {
	const jitter = 10 * time.Minute
	delays := map[time.Duration]bool{}
	var least, most time.Duration = jitter, 0
	for i := range 200 {
		for _, name := range []string{"zones", "hot"} {
			r := schedule.Rule{Name: name, Jitter: jitter}
			f := at("00:00:00").Add(time.Duration(i) * time.Hour)
			d := r.Start(f).Sub(f)
			if again := r.Start(f.In(zone(t, "Europe/Berlin"))).Sub(f); again != d || d < 0 || d >= jitter {
				t.Fatalf("delay %s, and %s in another zone; want the same, from 0s to below %s", d, again, jitter)
			}
			delays[d], least, most = true, min(least, d), max(most, d)
		}
	}
	if len(delays) != 400 || least > jitter/20 || most < jitter*19/20 {
		t.Errorf("%d distinct delays from %s to %s; want 400 over all of %s", len(delays), least, most, jitter)
	}
	// A later release must not change the delays, because replicas of two releases run side by side during an upgrade.
	r := schedule.Rule{Name: "zones", Jitter: jitter}
	if got := r.Start(at("10:00:00")).Format("15:04:05.000"); got != pinnedStart {
		t.Errorf("the run of 10:00 starts at %s, want %s", got, pinnedStart)
	}
}

const pinnedStart = "10:00:04.456"

// Every firing has exactly one start, wherever the caller begins to ask.
func TestNextStartVisitsEveryFiring(t *testing.T) {
	loc := zone(t, "Europe/Berlin")
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.SampledFrom([]int{2, 3, 5, 10, 15, 30}).Draw(t, "minutes")
		r := schedule.Rule{Name: "s", Jitter: time.Duration(rapid.IntRange(0, minutes*60-1).Draw(t, "jitter")) * time.Second}
		s, err := cron.Parse(fmt.Sprintf("*/%d * * * *", minutes), loc)
		if err != nil {
			t.Fatal(err)
		}
		r.Firings = s
		from := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "offset")) * time.Second)
		var want []time.Time
		for f := s.Next(from.Add(-time.Hour)); f.Before(from.Add(3 * time.Hour)); f = s.Next(f) {
			if start := r.Start(f); start.After(from) && start.Before(from.Add(2*time.Hour)) {
				want = append(want, start)
			}
		}
		next := from
		for _, w := range want {
			if next = r.NextStart(next); !next.Equal(w) {
				t.Fatalf("got the start %s, want %s", next, w)
			}
		}
	})
}
