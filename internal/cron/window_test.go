package cron

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func parseTime(t *testing.T, s string) time.Time {
	t.Helper()
	v := must.Get(time.Parse(time.RFC3339, s))(t)
	return v
}

func parseWindow(t *testing.T, text string) Window {
	t.Helper()
	w := must.Get(ParseWindow(text, time.UTC))(t)
	return w
}

func TestWindowOpensAndCloses(t *testing.T) {
	for _, c := range []struct{ window, now, until string }{
		{"0 22 * * * 6h", "2026-01-05T21:59:59Z", ""},
		{"0 22 * * * 6h", "2026-01-05T22:00:00Z", "2026-01-06T04:00:00Z"},
		{"0 22 * * * 6h", "2026-01-06T03:59:59Z", "2026-01-06T04:00:00Z"},
		{"0 22 * * * 6h", "2026-01-06T04:00:00Z", ""},
		{"0 22 * * * 6h Europe/Berlin", "2026-01-05T21:00:00Z", "2026-01-06T03:00:00Z"},
		{"0 22 * * * 6h Europe/Berlin", "2026-07-05T20:00:00Z", "2026-07-06T02:00:00Z"},
		{"@weekly 48h", "2026-01-05T12:00:00Z", "2026-01-06T00:00:00Z"}, // from Sunday 2026-01-04
		{"*/10 * * * * 30m", "2026-01-05T12:05:00Z", "2026-01-05T12:30:00Z"},
		// At 02:00 the clock skips an hour, and the window does not open at 02:30.
		{"30 2 * * * 1h Europe/Berlin", "2026-03-29T01:00:00Z", ""},
		// At 03:00 the clock repeats an hour. The window opens at the first 02:30 only.
		{"30 2 * * * 30m Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"},
		{"30 2 * * * 30m Europe/Berlin", "2026-10-25T01:45:00Z", ""},
		{"0,30 2 * * * 1h Europe/Berlin", "2026-10-25T00:35:00Z", "2026-10-25T01:30:00Z"},
		{"0,30 2 * * * 1h Europe/Berlin", "2026-10-25T01:35:00Z", ""},
	} {
		w, now := parseWindow(t, c.window), parseTime(t, c.now)
		got := ""
		if u := w.Until(now); !u.IsZero() {
			got = u.UTC().Format(time.RFC3339)
		}
		if got != c.until || w.Open(now) != (c.until != "") {
			t.Errorf("%s at %s: got open %v until %q, want %q", c.window, c.now, w.Open(now), got, c.until)
		}
	}
}

func TestWindowsDefaultToDenyOnceOneIsAllowed(t *testing.T) {
	night, lunch := parseWindow(t, "0 22 * * * 6h"), parseWindow(t, "0 12 * * * 1h")
	early := parseWindow(t, "0 4 * * * 2h")
	for _, c := range []struct {
		name  string
		w     Windows
		now   string
		open  bool
		until string
	}{
		{"none", Windows{}, "2026-01-05T12:30:00Z", true, ""},
		{"allowed", Windows{Allow: []Window{night}}, "2026-01-05T23:00:00Z", true, "2026-01-06T04:00:00Z"},
		{"not allowed", Windows{Allow: []Window{night}}, "2026-01-05T12:00:00Z", false, ""},
		{"one allow window follows another without a gap", Windows{Allow: []Window{night, early}}, "2026-01-05T23:00:00Z", true,
			"2026-01-06T06:00:00Z"},
		{"denied", Windows{Deny: []Window{lunch}}, "2026-01-05T12:30:00Z", false, ""},
		{"denied later", Windows{Deny: []Window{lunch}}, "2026-01-05T11:30:00Z", true, "2026-01-05T12:00:00Z"},
		{"deny beats allow", Windows{Allow: []Window{lunch}, Deny: []Window{lunch}}, "2026-01-05T12:30:00Z", false, ""},
		{"a deny window cuts an allow window", Windows{Allow: []Window{parseWindow(t, "0 8 * * * 10h")}, Deny: []Window{lunch}},
			"2026-01-05T09:00:00Z", true, "2026-01-05T12:00:00Z"},
		{"overlapping windows are always open", Windows{Allow: []Window{parseWindow(t, "0 * * * * 2h")}}, "2026-01-05T09:00:00Z", true, ""},
	} {
		now := parseTime(t, c.now)
		why, open := c.w.Open(now)
		if open != c.open || open != (why == "") {
			t.Errorf("%s: got open %v (%s), want %v", c.name, open, why, c.open)
		}
		if !open {
			continue
		}
		got := ""
		if u := c.w.Until(now); !u.IsZero() {
			got = u.UTC().Format(time.RFC3339)
		}
		if got != c.until {
			t.Errorf("%s: got end %q, want %q", c.name, got, c.until)
		}
	}
}

func TestWindowsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"": `"" is not a window (want cron fields, a duration and perhaps a time zone, such as "0 22 * * 1-5 6h ` +
			`Europe/Berlin")`,
		"0 22 * * *": `"0 22 * * *" is not a window (want cron fields, a duration and perhaps a time zone, such as "0 22 * * 1-5 ` +
			`6h Europe/Berlin")`,
		"0 22 * * * six":      `"0 22 * * * six" is not a window: "six" is not a duration (want a number and a unit, such as 6h)`,
		"0 22 * * * 0s":       "a window of 0s makes no sense (want 1m to 168h)",
		"0 22 * * * 200h":     "a window of 200h makes no sense (want 1m to 168h)",
		"0 22 * * * 6h Mars":  `"Mars" is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)`,
		"0 0 30 2 * 6h":       `"0 0 30 2 *" never fires: no year has such a day`,
		"0 22 * * * 6h Local": `"Local" is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)`,
		"@never 6h": `"@never" is not a cron expression: "@never" is unknown (want @hourly, @daily, @weekly, @monthly, @yearly, ` +
			`or @every with a duration, such as @every 90m)`,
		"TZ=UTC 0 22 * * * 6h a": `"TZ=UTC 0 22 * * * 6h a" is not a window (want cron fields, a duration and perhaps a time zone, such as ` +
			`"0 22 * * 1-5 6h Europe/Berlin")`,
	} {
		if _, err := ParseWindow(text, time.UTC); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestAWindowOpensAtNamedTimes(t *testing.T) {
	for _, expr := range []string{"@every 90m", " @every 24h", "@every"} {
		if _, err := NewWindow(expr, time.Hour, time.UTC); err == nil || !strings.Contains(err.Error(), "names no times") {
			t.Errorf("%q: %v", expr, err)
		}
	}
}
