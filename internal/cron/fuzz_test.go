package cron

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// year2000 is the start of the year 2000, in seconds since 1970.
const year2000 = 946684800

// FuzzWindow checks that Open and Until of a window agree at every instant. It also checks
// Windows: they are open until just before Until, and closed at Until.
func FuzzWindow(f *testing.F) {
	for _, text := range []string{"0 22 * * 1-5 6h Europe/Berlin", "*/10 * * * * 30m", "@daily 24h", "@weekly 48h", "@every 90m 1h",
		"30 2 * * * 1h Europe/Berlin", "0,30 2 * * * 1h Europe/Berlin", "0 0 29 2 * 168h", "30 1,2 * * * 90m America/St_Johns",
		"15 * 31 * * 1m Australia/Lord_Howe"} {
		for _, at := range []string{"2026-03-29T01:00:00Z", "2026-10-25T00:35:00Z", "2026-10-25T01:35:00Z", "2026-10-25T02:15:00Z",
			"2028-02-29T12:00:00Z"} {
			v := must.Get(time.Parse(time.RFC3339, at))(f)
			f.Add(text, "0 8 * * 1-5 10h", v.Unix()-year2000, int64(0))
			f.Add(text, "0 2 * * * 30m Europe/Berlin", v.Unix()-year2000, int64(999999999))
		}
	}
	f.Fuzz(func(t *testing.T, one, two string, seconds, nanos int64) {
		// The range is 2000 to 2100, for which the time zone database has rules.
		now := time.Unix(year2000+int64(uint64(seconds)%3155760000), int64(uint64(nanos)%1e9))
		w, err := ParseWindow(one, time.UTC)
		if err != nil {
			return
		}
		checkWindow(t, w, now)
		if _, open := (Windows{Deny: []Window{w}}).Open(now); open && w.Open(now) {
			t.Fatalf("%s at %s: the window is open but does not deny", w, now)
		}
		if again, err := ParseWindow(w.String(), time.UTC); err != nil || again.Open(now) != w.Open(now) ||
			!again.Until(now).Equal(w.Until(now)) {
			t.Fatalf("%q has the string %q, which does not parse to the same window: %v", one, w, err)
		}
		other, err := ParseWindow(two, time.UTC)
		if err != nil {
			return
		}
		for _, ws := range []Windows{{}, {Allow: []Window{w}}, {Allow: []Window{w, other}}, {Deny: []Window{w}},
			{Allow: []Window{w}, Deny: []Window{other}}, {Allow: []Window{other}, Deny: []Window{w, other}}} {
			checkWindows(t, ws, now)
		}
	})
}

// checkWindow checks that the window is open exactly if it has an end after now. The end is at
// most the length ahead, unless the window opens again. The window is open before its end and
// closed at its end.
func checkWindow(t *testing.T, w Window, now time.Time) {
	t.Helper()
	until := w.Until(now)
	if w.Open(now) != !until.IsZero() {
		t.Fatalf("%s at %s: got open %v and end %s", w, now, w.Open(now), until)
	}
	if until.IsZero() {
		return
	}
	if !until.After(now) || until.After(now.Add(w.length)) {
		t.Fatalf("%s at %s: the end %s is out of range", w, now, until)
	}
	if last := until.Add(-1); !w.Open(last) {
		t.Fatalf("%s at %s: the end is %s, but the window is closed at %s", w, now, until, last)
	}
	if w.Open(until) && !w.Until(until).After(until) {
		t.Fatalf("%s at %s: the window is open at its end %s without a later end", w, now, until)
	}
	if mid := now.Add(until.Sub(now) / 2); !w.Open(mid) {
		t.Fatalf("%s: the window is open at %s until %s, but closed at %s", w, now, until, mid)
	}
}

// checkWindows checks that the windows are open until just before Until. At Until they must be
// closed, unless Until is about an hour ahead. If Until is zero, they must be open for a day.
func checkWindows(t *testing.T, ws Windows, now time.Time) {
	t.Helper()
	why, open := ws.Open(now)
	if open != (why == "") {
		t.Fatalf("%+v at %s: got open %v with the reason %q", ws, now, open, why)
	}
	if !open {
		return
	}
	until := ws.Until(now)
	end := until
	if until.IsZero() {
		end = now.Add(closingHorizon)
	} else if _, open := ws.Open(until); open && until.Before(now.Add((maxHandovers-1)*time.Minute)) || !until.After(now) {
		t.Fatalf("allow %v deny %v at %s: the windows are still open at their end %s", ws.Allow, ws.Deny, now, until)
	}
	for _, at := range []time.Time{end.Add(-1), now.Add(end.Sub(now) / 2), now.Add(end.Sub(now) / 7)} {
		if why, open := ws.Open(at); !open {
			t.Fatalf("allow %v deny %v at %s: the end is %s, but the windows are closed at %s: %s", ws.Allow, ws.Deny, now, until, at, why)
		}
	}
}
