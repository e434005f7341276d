package schedule_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
)

// process simulates the process that leads: it looks at the timetable once a second, and each pass takes a fixed time.
type process struct {
	table    *schedule.Timetable
	now      time.Time
	passTime time.Duration
	ready    time.Time // when a node last became Ready
	runs     []string  // "15:04:05 name"
	skipped  []string
}

func newProcess(t *testing.T, start string, rules ...schedule.Rule) *process {
	t.Helper()
	return &process{table: schedule.New(rules, at(start)), now: at(start), passTime: 10 * time.Second}
}

// until looks every second until the time, without a look at the end.
func (p *process) until(end time.Time) *process {
	for p.now.Before(end) {
		if !p.look() {
			p.now = p.now.Add(time.Second)
		}
	}
	return p
}

// look runs the strategies that are due. It reports whether there are any.
func (p *process) look() bool {
	p.table.SetTime(p.now)
	p.table.NodeReady(p.ready)
	due := p.table.Due(p.now)
	if next := p.table.Next(); (len(due) > 0) != (!next.IsZero() && !next.After(p.now)) {
		panic("Next and Due disagree at " + p.now.String() + ": " + next.String())
	}
	if len(due) > 0 {
		p.run(due)
	}
	return len(due) > 0
}

func (p *process) run(due []string) {
	p.table.Started(due, p.now)
	p.runs = append(p.runs, p.now.Format("15:04:05 ")+strings.Join(due, "+"))
	p.now = p.now.Add(p.passTime)
	p.skipped = append(p.skipped, p.table.Ended(p.now)...)
}

func (p *process) expect(t *testing.T, runs ...string) {
	t.Helper()
	if !slices.Equal(p.runs, runs) {
		t.Errorf("got the runs %q, want %q", p.runs, runs)
	}
}

func hourly(t *testing.T) schedule.Rule {
	return schedule.Rule{Name: "hourly", Firings: parse(t, "0 * * * *", time.UTC)}
}

func tenMinutes(t *testing.T) schedule.Rule {
	return schedule.Rule{Name: "ten", Firings: parse(t, "*/10 * * * *", time.UTC)}
}

// Firings that come while a pass runs are skipped.
func TestFiringsDuringAPass(t *testing.T) {
	p := newProcess(t, "00:55:00", hourly(t), tenMinutes(t))
	p.passTime = 25 * time.Minute // from 01:00 to 01:25
	p.until(at("01:31:00")).expect(t, "01:00:00 hourly+ten", "01:30:00 ten")
	if want := []string{"ten", "ten"}; !slices.Equal(p.skipped, want) {
		t.Errorf("skipped %v, want %v", p.skipped, want)
	}
}

// A time that lies more than an hour ahead came from a wrong clock.
func TestRecallIgnoresTheFuture(t *testing.T) {
	r := tenMinutes(t)
	r.OnNodeReady = 5 * time.Minute
	p := newProcess(t, "01:01:00", r)
	p.table.Recall(map[string]plan.StrategyRun{"ten": {ByEvent: at("3 00:00:00")}}, p.now)
	p.ready = p.now
	p.until(at("01:11:00")).expect(t, "01:06:00 ten", "01:10:00 ten")
}

// After the clock jumps forward, each strategy runs at most once for all firings that it skipped.
func TestTheClockJumpsForward(t *testing.T) {
	late := schedule.Rule{Name: "late", Firings: parse(t, "30 * * * *", time.UTC)}
	p := newProcess(t, "00:55:00", hourly(t), late, tenMinutes(t))
	p.until(at("00:59:00"))
	p.now = at("4 07:45:00")
	p.until(at("4 08:01:00")).expect(t, "07:45:00 hourly+ten", "07:50:00 ten", "08:00:00 hourly+ten")
	if want := []string{"hourly", "late", "ten"}; !slices.Equal(p.skipped, want) {
		t.Errorf("skipped %v, want %v", p.skipped, want)
	}
}

// After the clock is set back by up to an hour, no firing runs twice. By more, the schedules count from the new time.
func TestTheClockIsSetBack(t *testing.T) {
	p := newProcess(t, "00:55:00", hourly(t), tenMinutes(t)).until(at("01:12:00"))
	p.now = at("00:45:00")
	p.until(at("02:01:00")).expect(t, "01:00:00 hourly+ten", "01:10:00 ten",
		"01:20:00 ten", "01:30:00 ten", "01:40:00 ten", "01:50:00 ten", "02:00:00 hourly+ten")

	p = newProcess(t, "3 00:55:00", hourly(t)).until(at("3 01:12:00"))
	p.now = at("00:45:00")
	p.until(at("02:01:00")).expect(t, "01:00:00 hourly", "01:00:00 hourly", "02:00:00 hourly")

	// The clock is set back during the pass of 01:00.
	p = newProcess(t, "00:55:00", hourly(t))
	p.passTime = -10 * time.Minute
	p.until(at("00:51:00"))
	for len(p.runs) == 0 {
		p.until(p.now.Add(time.Second))
	}
	p.passTime = time.Minute
	p.until(at("02:01:00")).expect(t, "01:00:00 hourly", "02:00:00 hourly")
}

// However the clock jumps, a strategy runs at most once for each of its firings that the clock shows, and once more
// after each jump. The process looks every second.
func TestNoStormAfterClockJumps(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		rules := []schedule.Rule{hourly(t), tenMinutes(t), {Name: "quarter", Firings: parse(t, "*/15 * * * *", time.UTC)}}
		p := newProcess(t, "10 00:00:01", rules...)
		jumps := 0
		for range 40 {
			p.until(p.now.Add(time.Duration(rnd.IntN(1800)) * time.Second))
			if rnd.IntN(2) == 0 {
				p.now = p.now.Add(time.Duration(rnd.IntN(7000)-3500) * time.Second)
				jumps++
			}
		}
		elapsed := 40 * 900 * time.Second // on average
		if most := int(elapsed/(10*time.Minute))*2 + jumps*2 + 40; len(p.runs) > most {
			t.Errorf("seed %d: %d passes after %d jumps in about %s, want at most %d", seed, len(p.runs), jumps, elapsed, most)
		}
		for i := range p.runs[1:] {
			// A firing of a plain strategy never runs twice in a row, however far the clock is set back within an hour.
			if a, b := p.runs[i], p.runs[i+1]; a == b {
				t.Errorf("seed %d: pass %d and the next one are both %s", seed, i, a)
			}
		}
	}
}

func onReady(name string) schedule.Rule {
	return schedule.Rule{Name: name, OnNodeReady: 5 * time.Minute}
}

// A burst of events causes one run, which covers them all.
func TestABurstOfEventsCausesOneRun(t *testing.T) {
	p := newProcess(t, "01:00:00", onReady("zones"))
	for range 180 { // a node joins every second for three minutes
		p.ready = p.now
		p.until(p.now.Add(time.Second))
	}
	p.until(at("03:00:00")).expect(t, "01:07:59 zones")
}

// Nodes that never end to flap cause the first run after twice the delay, and then at most one run in that time.
func TestEventsWithoutEnd(t *testing.T) {
	p := newProcess(t, "01:00:00", onReady("zones"))
	for p.now.Before(at("03:00:00")) {
		p.ready = p.now
		p.until(p.now.Add(time.Second))
	}
	var want []string
	for run := at("01:10:00"); !run.After(at("03:05:00")); run = run.Add(5 * time.Minute) {
		want = append(want, run.Format("15:04:05 ")+"zones")
	}
	p.until(at("05:00:00")).expect(t, want...)
}

// A run on the schedule covers the events that are old enough, and only those.
func TestAScheduledRunCoversEvents(t *testing.T) {
	r := onReady("hourly")
	r.Firings = hourly(t).Firings
	p := newProcess(t, "00:50:00", r)
	p.ready = at("00:54:00")
	p.until(at("01:30:00")).expect(t, "00:59:00 hourly", "01:00:00 hourly")

	p = newProcess(t, "00:50:00", r)
	p.ready = at("00:58:00") // too young for the run of 01:00
	p.until(at("01:30:00")).expect(t, "01:00:00 hourly", "01:03:00 hourly")

	p = newProcess(t, "00:54:30", r)
	p.passTime = 0
	p.until(at("00:56:00"))
	p.run([]string{"hourly"}) // somebody triggered it
	p.ready = at("00:50:30")
	p.until(at("00:59:00")).expect(t, "00:56:00 hourly") // the event came before the process, which saw its node later
}

// A new process derives the times from the nodes. Those whose run was due before its start cause none.
func TestNodesAfterARestart(t *testing.T) {
	for ready, want := range map[string][]string{"00:57:00": {"01:02:00 zones"}, "00:54:00": nil} {
		p := newProcess(t, "01:00:00", onReady("zones"))
		p.table.Recall(map[string]plan.StrategyRun{"zones": {ByEvent: at("00:20:00")}}, p.now)
		p.ready = at(ready)
		p.until(at("01:20:00")).expect(t, want...)
	}
	// The least time between two runs counts across restarts.
	before := newProcess(t, "00:50:00", onReady("zones"))
	before.ready = at("00:53:30")
	before.until(at("00:59:00")).expect(t, "00:58:30 zones")
	stored := before.table.Runs()
	if want := map[string]plan.StrategyRun{"zones": {ByEvent: at("00:58:30")}}; !maps.Equal(stored, want) {
		t.Errorf("stored %v, want %v", stored, want)
	}
	p := newProcess(t, "00:59:00", onReady("zones"))
	p.table.Recall(stored, p.now)
	p.ready = at("00:57:00")
	p.until(at("01:20:00")).expect(t, "01:03:30 zones")
}

// Setting the clock back does not postpone a run after an event beyond its longest wait.
func TestAnEventWhenTheClockIsSetBack(t *testing.T) {
	p := newProcess(t, "9 01:00:00", onReady("zones"))
	p.ready = at("9 01:00:10")
	p.until(at("9 01:00:20"))
	p.now = at("01:00:00")
	p.ready = time.Time{}
	p.until(at("01:31:00")).expect(t, "01:10:00 zones")
}

// A changed configuration keeps the times of runs and the events that wait, and loses no pass that is due.
func TestReplaceKeepsWhatWaits(t *testing.T) {
	r := onReady("zones")
	p := newProcess(t, "00:59:00", r, tenMinutes(t))
	p.ready = at("00:59:00")
	p.until(at("00:59:30"))
	p.ready = time.Time{}
	p.now = at("01:00:00")
	other := schedule.Rule{Name: "other", Firings: hourly(t).Firings}
	p.table = p.table.Replace([]schedule.Rule{r, other}, p.now)
	p.until(at("01:10:00")).expect(t, "01:00:00 other", "01:04:00 zones")
	if runs := p.table.Runs(); !runs["zones"].ByEvent.Equal(at("01:04:00")) {
		t.Errorf("%v", runs)
	}
	p.table = p.table.Replace([]schedule.Rule{r, other}, p.now)
	p.ready = at("01:10:00")
	p.until(at("01:40:00")).expect(t, "01:00:00 other", "01:04:00 zones", "01:15:00 zones")
}

// TestTheNextTimeOfEachStrategy: a strategy that only an event starts has no time before the event.
func TestTheNextTimeOfEachStrategy(t *testing.T) {
	start := time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)
	table := schedule.New([]schedule.Rule{{Name: "zones", Firings: hourly(t).Firings},
		{Name: "join", OnNodeReady: time.Minute}}, start)
	want := map[string]time.Time{"zones": start.Add(30 * time.Minute)}
	if got := table.NextByStrategy(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	table.NodeReady(start.Add(time.Second))
	want["join"] = start.Add(61 * time.Second)
	if got := table.NextByStrategy(); !maps.Equal(got, want) {
		t.Errorf("after the event: got %v, want %v", got, want)
	}
}

// A reload that sets or raises onNodeReady causes no run for nodes that were Ready before, or that a run has covered.
func TestOnNodeReadyIsReloaded(t *testing.T) {
	longer := onReady("zones")
	longer.OnNodeReady = 30 * time.Minute
	for _, old := range []schedule.Rule{{Name: "zones", Firings: parse(t, "0 9 * * *", time.UTC)}, onReady("zones")} {
		p := newProcess(t, "00:10:00", old)
		p.ready = at("00:20:00")
		p.until(at("01:10:00"))
		ran := slices.Clone(p.runs)
		p.table = p.table.Replace([]schedule.Rule{longer}, p.now)
		p.until(at("02:10:00")).expect(t, ran...)
		p.ready = at("02:10:00")
		p.until(at("03:00:00")).expect(t, append(ran, "02:40:00 zones")...)
	}
	// A node that became Ready after the last run, and that no run covers yet, counts with the new delay.
	p := newProcess(t, "00:10:00", onReady("zones"))
	p.ready = at("00:58:00")
	p.until(at("01:00:00"))
	p.table = p.table.Replace([]schedule.Rule{longer}, p.now)
	p.until(at("02:00:00")).expect(t, "01:28:00 zones")
}

// After a reload that sets or raises onNodeReady, a small correction of the clock causes no run for nodes that were
// Ready before, or that a run has covered.
func TestTheClockIsSetBackAfterAReload(t *testing.T) {
	longer := onReady("zones")
	longer.OnNodeReady = 30 * time.Minute
	for _, old := range []schedule.Rule{{Name: "zones", Firings: parse(t, "0 9 * * *", time.UTC)}, onReady("zones")} {
		p := newProcess(t, "00:10:00", old)
		p.ready = at("00:50:00")
		p.until(at("00:56:00"))
		ran := slices.Clone(p.runs)
		p.now = at("00:55:55") // the process sees the correction after the reload
		p.table = p.table.Replace([]schedule.Rule{longer}, p.now)
		p.until(at("00:57:00"))
		p.now = at("00:56:55")
		p.until(at("02:00:00")).expect(t, ran...)
		p.ready = at("02:00:00")
		p.until(at("03:00:00")).expect(t, append(ran, "02:30:00 zones")...)
	}
}

// If the clock was wrong, a node that became Ready shortly before its correction still causes a run.
func TestANodeBeforeTheClockIsSetBack(t *testing.T) {
	p := newProcess(t, "9 00:10:00", onReady("zones"))
	p.ready = at("9 00:20:00")
	p.until(at("9 00:26:00")).expect(t, "00:25:00 zones")
	p.now = at("01:00:00")
	p.ready = at("00:58:00")
	p.until(at("02:00:00")).expect(t, "00:25:00 zones", "01:03:00 zones")
}
