package monitor_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// town has one node and one pod on it.
type town struct{}

func (town) LoadNodes() []usage.Node {
	r := cluster.Resources{MilliCPU: 1000, MemoryBytes: 1 << 30}
	return []usage.Node{{Name: "a", Capacity: r, Allocatable: r}}
}

func (town) Place(pod string) (window.Place, bool) {
	return window.Place{Node: "a", UID: "1"}, pod == "shop/web"
}

// meter measures node a, unless it is down.
type meter struct {
	mu       sync.Mutex
	cpu      int64
	down     error
	hangs    bool
	problems []usage.Problem
	asked    []time.Time
}

func (m *meter) Sample(ctx context.Context, _ []usage.Node) (usage.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.asked = append(m.asked, now)
	if m.hangs {
		<-ctx.Done() // nobody asks a meter that hangs for times
		return usage.Sample{}, ctx.Err()
	}
	s := at(now, m.cpu)
	s.Problems = m.problems
	return s, m.down
}

func (m *meter) set(problems []usage.Problem, down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems, m.down = problems, down
}

func (m *meter) times() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

func at(t time.Time, cpu int64) usage.Sample {
	r := usage.Reading{At: t, Used: map[string]int64{"cpu": cpu}}
	return usage.Sample{Taken: t, Nodes: map[string]usage.Reading{"a": r}, Pods: map[string]usage.Reading{"shop/web": r, "shop/gone": r}}
}

// historian remembers as well.
type historian struct {
	meter
	past  []usage.Sample
	lost  error
	since []time.Time
}

func (h *historian) History(_ context.Context, _ []usage.Node, since time.Time, _ time.Duration) ([]usage.Sample, error) {
	h.since = append(h.since, since)
	return h.past, h.lost
}

type notes struct {
	mu  sync.Mutex
	all []monitor.Attempt
}

func (n *notes) Sampled(a monitor.Attempt) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, a)
}

func (n *notes) at(i int) monitor.Attempt {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[(i+len(n.all))%len(n.all)]
}

const step = 30 * time.Second

func options() window.Options {
	return window.Options{Source: "metricsServer", Statistic: window.Mean, Window: 5 * time.Minute, MaxAge: 3 * time.Minute, Interval: step,
		Watches: []window.Watch{{Name: "hot-nodes", Resource: "cpu", Enter: 0.8, Leave: 0.8, For: 3}}}
}

func watch(s usage.Source) (*monitor.Monitor, *notes) {
	n := &notes{}
	return monitor.New(options(), s, town{}, clock.RealClock{}, slog.New(slog.NewTextHandler(io.Discard, nil)), n), n
}

// running lets f look at a monitor that runs; time passes only while all wait.
func running(t *testing.T, s usage.Source, f func(*monitor.Monitor, *notes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, n := watch(s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); m.Run(ctx) }()
		synctest.Wait()
		f(m, n)
		cancel()
		<-ended
	})
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d) // of the bubble: nobody waits
	synctest.Wait()
}

func hot(u *cluster.Usage) bool { return len(u.Marks) == 1 && u.Marks[0].Hot }

func says(t *testing.T, u *cluster.Usage, want string) {
	t.Helper()
	if got := strings.Join(u.Problems, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
}

func TestSamplesOnItsOwnClock(t *testing.T) {
	s := &meter{cpu: 900, problems: []usage.Problem{{Kind: usage.Missing, Detail: "nothing is said about b"}}}
	running(t, s, func(m *monitor.Monitor, n *notes) {
		begun := time.Now()
		u := m.Usage()
		if u.Samples != 1 || u.Statistic != "latest" || hot(u) || len(u.Pods) != 1 || u.Pods[0].Node != "a" || u.Pods[0].UID != "1" || u.Nodes[0].Used["cpu"] != 900 {
			t.Errorf("after the first sample: %+v", u)
		}
		says(t, u, "samples are counted since 2000-01-01T00:00:00Z, for a metricsServer remembers nothing: 1 of the 3 in a row that are wanted at most")
		says(t, u, "Missing: nothing is said about b")
		select {
		case <-m.Sampled():
		default:
			t.Error("nobody was woken by the first sample")
		}
		pass(2 * step)
		s.set(nil, nil)
		pass(step)
		if u := m.Usage(); u.Samples != 4 || u.Statistic != "mean" || !hot(u) || !u.Marks[0].Since.Equal(begun) {
			t.Errorf("after the fourth sample: %+v", u)
		}
		says(t, m.Usage(), "")
		if n := m.Nodes(); len(n.Nodes) != 1 || !hot(n) || len(n.Pods) != 0 {
			t.Errorf("without pods: %+v", n)
		}
		if asked := s.times(); len(asked) != 4 || !asked[3].Equal(begun.Add(3*step)) {
			t.Errorf("asked at %v", asked)
		}
		a := n.at(1)
		if a.Failed || a.Coverage != 1 || len(a.Problems) != 1 || !a.SampledAt.Equal(begun.Add(step)) {
			t.Errorf("recorded: %+v", a)
		}
	})
}

// TestASourceThatIsDown: what was known holds for maxAge and no longer; it is asked
// less and less, at least every two minutes; when it is back, counting begins anew.
func TestASourceThatIsDown(t *testing.T) {
	s := &meter{cpu: 900}
	running(t, s, func(m *monitor.Monitor, n *notes) {
		pass(2 * step)
		s.set(nil, errors.New("connection refused"))
		last := time.Now()
		pass(step)
		if !hot(m.Usage()) {
			t.Error("not hot any more at the first failure")
		}
		says(t, m.Usage(), "no answer since 2000-01-01T00:01:30Z (asked 1 times): connection refused")
		pass(5 * step)
		if u := m.Usage(); !hot(u) || len(u.Nodes) != 1 || !u.SampledAt.Equal(last) {
			t.Errorf("after 3 min: %+v", u)
		}
		pass(time.Second / 5)
		if u := m.Usage(); len(u.Nodes) != 0 || len(u.Pods) != 0 || len(u.Marks) != 0 {
			t.Errorf("after more than 3 min: %+v", u)
		}
		pass(10 * time.Minute)
		var gaps []string
		asked := s.times()
		for i := 3; i < len(asked); i++ {
			gaps = append(gaps, asked[i].Sub(asked[i-1]).String())
		}
		if got := strings.Join(gaps, " "); !strings.HasPrefix(got, "30s 30s 1m0s 2m0s 2m0s 2m0s") {
			t.Errorf("asked after %s", got)
		}
		a := n.at(-1)
		if !a.Failed || a.Coverage != 0 || len(a.Problems) != 1 || a.Problems[0].Kind != usage.Unreachable {
			t.Errorf("recorded: %+v", a)
		}
		s.set(nil, nil)
		for before := len(s.times()); len(s.times()) == before; {
			pass(time.Second)
		}
		u := m.Usage()
		if hot(u) || len(u.Nodes) != 1 || len(u.Marks) != 1 || !u.Marks[0].Fresh {
			t.Errorf("back again: %+v", u)
		}
	})
}

func TestAnAnswerIsNotAwaitedForEver(t *testing.T) {
	s := &meter{hangs: true}
	running(t, s, func(m *monitor.Monitor, n *notes) {
		says(t, m.Usage(), "it has not answered yet")
		pass(step)
		says(t, m.Usage(), "no answer since 2000-01-01T00:00:30Z (asked 1 times): no answer within 30s")
	})
}

// TestTheSourceRemembers: a process that takes over, or a pass of a CronJob, knows at
// once what was. What the first sample says as well counts once.
func TestTheSourceRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := &historian{meter: meter{cpu: 900}}
		for _, age := range []time.Duration{time.Hour, 2 * step, step, step / 3} {
			s.past = append(s.past, at(now.Add(-age), 900))
		}
		m, _ := watch(s)
		m.Once(t.Context())
		u := m.Usage()
		if !hot(u) || u.Samples != 3 || u.Marks[0].Samples != 3 || u.Marks[0].Fresh {
			t.Errorf("%+v", u)
		}
		says(t, u, "")
		if len(s.since) != 1 || !s.since[0].Equal(now.Add(-5*time.Minute-step)) {
			t.Errorf("asked for what was since %v", s.since)
		}
		pass(step)
		m.Once(t.Context())
		if len(s.since) != 1 {
			t.Error("asked again for what was")
		}
		pass(4 * time.Minute)
		last := now.Add(step)
		m.Once(t.Context())
		if len(s.since) != 2 || !s.since[1].Equal(last) {
			t.Errorf("after a silence, asked for what was since %v, want %v", s.since, last)
		}
	})
}

// TestRelievedBeforeItBegan: the pass before evicted a pod of 360 milliCPU, of which this
// process never hears. The window that is read back holds it, and the snapshot leaves
// the difference to the newest measurement in doubt, until the window is its own.
func TestRelievedBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &historian{meter: meter{cpu: 500}}
		for age := 10; age > 0; age-- {
			s.past = append(s.past, at(time.Now().Add(-time.Duration(age)*step), 860))
		}
		m, _ := watch(s)
		m.Once(t.Context())
		if n := m.Usage().Nodes[0]; n.Used["cpu"] < 800 || n.Newest["cpu"] != 500 {
			t.Errorf("at once: %+v", n)
		}
		for range 9 {
			if m.Usage().Nodes[0].Newest["cpu"] != 500 {
				t.Fatalf("while the window reaches back: %+v", m.Usage().Nodes[0])
			}
			pass(step)
			m.Once(t.Context())
		}
		if n := m.Usage().Nodes[0]; n.Used["cpu"] != 500 || n.Newest != nil {
			t.Errorf("with a window of its own: %+v", n)
		}
	})
}

// TestASourceThatSaysInPartWhatItRemembers: what it says is taken over, and what it
// does not is told for as long as the windows would have held it.
func TestASourceThatSaysInPartWhatItRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := &historian{meter: meter{cpu: 900}, past: []usage.Sample{at(now.Add(-2*step), 900), at(now.Add(-step), 900)}, lost: errors.New("memory: answers 503")}
		m, _ := watch(s)
		m.Once(t.Context())
		u := m.Usage()
		if u.Samples != 3 || !hot(u) {
			t.Errorf("%+v", u)
		}
		says(t, u, "not all that metricsServer remembers could be read, and the rest is counted since 2000-01-01T00:00:00Z: memory: answers 503")
		for range 11 {
			pass(step)
			m.Once(t.Context())
		}
		says(t, m.Usage(), "")
	})
}

func TestASourceThatCannotSayWhatItRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := watch(&historian{meter: meter{cpu: 900}, lost: errors.New("too many samples")})
		m.Once(t.Context())
		u := m.Usage()
		if hot(u) || u.Samples != 1 {
			t.Errorf("%+v", u)
		}
		says(t, u, "for what metricsServer remembers could not be read: too many samples: 1 of the 3")
	})
}

// TestUsageOfAMoment is made once, and anew when something may have changed.
func TestUsageOfAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := watch(&meter{cpu: 900})
		m.Once(t.Context())
		first := m.Usage()
		pass(time.Second)
		if again := m.Usage(); &again.Pods[0] != &first.Pods[0] {
			t.Error("made anew after a second without a sample")
		}
		m.Once(t.Context())
		if again := m.Usage(); again.Samples != 2 {
			t.Errorf("after another sample: %+v", again)
		}
		m.Watch(nil)
		if again := m.Usage(); len(again.Marks) != 0 {
			t.Errorf("with nothing watched: %+v", again)
		}
		once, _, _ := m.Loads()
		pass(time.Second)
		if again, _, now := m.Loads(); &again[0] != &once[0] || !now.Equal(time.Now()) {
			t.Error("loads are made anew a second later")
		}
		m.Once(t.Context())
		if again, _, _ := m.Loads(); &again[0] == &once[0] {
			t.Error("loads are not made anew with a sample")
		}
		measured, _, _ := m.Loads()
		pass(3*time.Minute - time.Second)
		if kept, _, _ := m.Loads(); len(kept) != 1 || !kept[0].At.Equal(measured[0].At) {
			t.Errorf("just not too old: %+v", kept)
		}
		pass(time.Second + time.Millisecond)
		if gone, _, _ := m.Loads(); len(gone) != 0 {
			t.Errorf("too old, though made anew lately: %+v", gone)
		}
		m.Once(t.Context())
		if loads, over, now := m.Loads(); len(loads) != 1 || loads[0].Of["cpu"].Mean != 90 || over != 5*time.Minute || !now.Equal(time.Now()) {
			t.Errorf("loads %+v over %s at %s", loads, over, now)
		}
	})
}
