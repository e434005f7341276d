package schedule_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

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
	expr    string
	ref     *reference
	firings cron.Schedule
	next    time.Time
	count   int
}

// check compares the firing at m with the expected one.
func (c *yearsCase) check(t *testing.T, m time.Time, loc *time.Location) {
	c.count++
	if !c.next.Equal(m) {
		t.Fatalf("%s: want a firing at %s, got %s", c.expr, m.In(loc), c.next.In(loc))
	}
	c.next = c.firings.Next(c.next)
}

// TestTenYearsOfMinutes compares firings with a reference that looks at every minute of ten years.
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
				c := &yearsCase{expr: expr, ref: newReference(expr), firings: parse(t, expr, loc)}
				c.next = c.firings.Next(from.Add(-1))
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
				if c.next.Before(end) || c.count == 0 {
					t.Errorf("%s: %d firings; the next one is at %s, want it after %s", c.expr, c.count, c.next, end)
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
