package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestParseRejectsInvalidExpressions(t *testing.T) {
	for expr, want := range map[string]string{
		"0 0 30 2 *":  "never fires",
		"TZ=0":        "time zone",
		"CRON_TZ=UTC": "time zone",
		"TZ=TZ=TZ=":   "time zone",
		"@every -5s":  "more than once a minute",
		"@every 30s":  "more than once a minute",
		"@every":      `"@every" is not a cron expression: "@every" is unknown`,
		"@every soon": `"soon" is not a duration (want a number and a unit, such as @every 90m)`,
		"@never":      `"@never" is unknown (want @hourly, @daily, @weekly, @monthly, @yearly, or @every`,
		"":            "it is empty",
		"not a cron":  "it has 3 fields (want five: minute,",
		"hourly":      "it has one field (want five: minute,",
		"* * * * * *": "seconds are not supported",
		"0 22 * * FUNDAY": `"0 22 * * FUNDAY" is not a cron expression: "FUNDAY" is not a valid day of the week (want 0 to 6, where ` +
			`Sunday is 0, or SUN to SAT)`,
		"0 0 * * 7":           `"7" is not a valid day of the week (want 0 to 6, where Sunday is 0`,
		"0 0 * * mon-FUN":     `"mon-FUN" is not a valid day of the week`,
		"0 0 * 13 *":          `"13" is not a valid month (want 1 to 12, or JAN to DEC)`,
		"0 0 * jan-smarch *":  `"jan-smarch" is not a valid month`,
		"0 0 32 * *":          `"32" is not a valid day of the month (want 1 to 31)`,
		"0 0 0 * *":           `"0" is not a valid day of the month`,
		"0 25 * * *":          `"25" is not a valid hour (want 0 to 23)`,
		"0 8,25 * * *":        `"25" is not a valid hour`,
		"0 , * * *":           `"," names no hour (want 0 to 23)`,
		"61 * * * *":          `"61" is not a valid minute (want 0 to 59)`,
		"-5 * * * *":          `"-5" is not a valid minute`,
		"*/0 * * * *":         `"*/0" is not a valid minute (want 0 to 59, a range such as 1-5, or a step such as */5)`,
		"*/x * * * *":         `"*/x" is not a valid minute`,
		"1/2/3 * * * *":       `"1/2/3" is not a valid minute`,
		"5-1 * * * *":         `"5-1" is not a valid minute`,
		"1-2-3 * * * *":       `"1-2-3" is not a valid minute`,
		"99999999999 * * * *": `"99999999999" is not a valid minute`,
	} {
		if _, err := cron.Parse(expr, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", expr, err, want)
		}
	}
}

func TestNext(t *testing.T) {
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	at := func(s string) time.Time {
		x := must.Get(time.Parse(time.RFC3339, s))(t)
		return x
	}
	for _, c := range []struct {
		name, expr  string
		loc         *time.Location
		after, want string
	}{
		{"every ten minutes", "*/10 * * * *", time.UTC, "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"},
		{"in its zone", "0 8 * * *", berlin, "2026-01-01T00:00:00Z", "2026-01-01T07:00:00Z"},
		{"a time that the spring transition skips", "30 2 * * *", berlin, "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"},
		{"the first occurrence in autumn", "30 2 * * *", berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
		{"not the second occurrence in autumn", "30 2 * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		{"no second occurrence of several in autumn", "0,30 2 * * *", berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"},
		{"every hour fires twice in autumn, too", "0 * * * *", berlin, "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
	} {
		s := must.Get(cron.Parse(c.expr, c.loc))(t)
		if got := s.Next(at(c.after)); !got.Equal(at(c.want)) {
			t.Errorf("%s: got %[4]s, want %[5]s for %[2]s after %[3]s", c.name, c.expr, c.after, got.UTC().Format(time.RFC3339), c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 * * * *", "TZ=0", "@every 1m", "*/5 1-3 * jan mon", "? ? ? ? ?", "0 0 30 2 *", "hourly", "0 8 * *",
		"0 25 * * *", "0 0 29 2 1", "TZ=Mars/Base 0 * * * *", "@every -1s", "*/0 * * * *", "59-0 * * * *"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		s, err := cron.Parse(expr, time.UTC)
		if err != nil {
			for _, inside := range []string{"strconv", "parse", "panic", "descriptor", "%!"} {
				if words := strings.ReplaceAll(err.Error(), expr, ""); strings.Contains(words, inside) && !strings.Contains(expr, inside) {
					t.Fatalf("%q: the error %v mentions %s", expr, err, inside)
				}
			}
			if strings.HasSuffix(err.Error(), `want five fields, such as "0 * * * *"`) {
				t.Fatalf("%q: got the generic error %v, want a specific one", expr, err)
			}
			return
		}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if next := s.Next(start); !next.After(start) {
			t.Fatalf("%q: got %[3]s as next after %[2]s", expr, start, next)
		}
	})
}
