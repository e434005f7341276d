package schedule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/schedule"
)

func TestRefusesWhatMakesNoSense(t *testing.T) {
	for expr, want := range map[string]string{
		"0 0 30 2 *":          "never fires",
		"TZ=0":                "time zone",
		"CRON_TZ=UTC":         "time zone",
		"TZ=TZ=TZ=":           "time zone",
		"* * * * * *":         "seconds are not supported",
		"0 0 * * 7":           "Sunday is 0",
		"@every -5s":          "more than once a minute",
		"@every 30s":          "more than once a minute",
		"@every":              "not a cron expression",
		"":                    "not a cron expression",
		"not a cron":          "not a cron expression",
		"61 * * * *":          "not a cron expression",
		"*/0 * * * *":         "not a cron expression",
		"5-1 * * * *":         "not a cron expression",
		"99999999999 * * * *": "not a cron expression",
	} {
		if _, err := schedule.Parse(expr, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", expr, err, want)
		}
	}
}

func TestNext(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		name, expr  string
		loc         *time.Location
		after, want string
	}{
		{"every ten minutes", "*/10 * * * *", time.UTC, "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"},
		{"in its zone", "0 8 * * *", berlin, "2026-01-01T00:00:00Z", "2026-01-01T07:00:00Z"},
		{"a time left out in spring", "30 2 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"},
		{"the first of two in autumn", "30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"not the second in autumn", "30 2 * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"nor any of several in autumn", "0,30 2 * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"},
		{"every hour also in autumn", "0 * * * *", berlin, "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
	} {
		s, err := schedule.Parse(c.expr, c.loc)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Next(at(c.after)); !got.Equal(at(c.want)) {
			t.Errorf("%s: %s after %s is %s, want %s", c.name, c.expr, c.after, got.UTC().Format(time.RFC3339), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 * * * *", "TZ=0", "@every 1m", "*/5 1-3 * jan mon", "? ? ? ? ?", "0 0 30 2 *", "hourly", "0 8 * *", "0 25 * * *", "0 0 29 2 1", "TZ=Mars/Base 0 * * * *", "@every -1s", "*/0 * * * *", "59-0 * * * *"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		s, err := schedule.Parse(expr, time.UTC)
		if err != nil {
			return
		}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if next := s.Next(start); !next.After(start) {
			t.Fatalf("%q: next after %s is %s", expr, start, next)
		}
	})
}
