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

// oneNodeCluster has one node with one pod.
type oneNodeCluster struct{}

func (oneNodeCluster) UsageNodes() []usage.Node {
	r := cluster.Resources{MilliCPU: 1000, MemoryBytes: 1 << 30}
	return []usage.Node{{Name: "a", Capacity: r, Allocatable: r}}
}

func (oneNodeCluster) PodPlace(pod string) (window.PodPlace, bool) {
	return window.PodPlace{Node: "a", UID: "1"}, pod == "shop/web"
}

// fakeSource measures node a unless it is down.
type fakeSource struct {
	mu          sync.Mutex
	cpu         int64
	down        error
	hangs       bool
	problems    []usage.Problem
	sampleTimes []time.Time
}

func (m *fakeSource) Sample(ctx context.Context, _ []usage.Node) (usage.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.sampleTimes = append(m.sampleTimes, now)
	if m.hangs {
		<-ctx.Done() // no test reads the sample times of a hanging source
		return usage.Sample{}, ctx.Err()
	}
	s := sampleAt(now, m.cpu)
	s.Problems = m.problems
	return s, m.down
}

func (m *fakeSource) set(problems []usage.Problem, down error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems, m.down = problems, down
}

func (m *fakeSource) times() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sampleTimes)
}

func sampleAt(t time.Time, cpu int64) usage.Sample {
	r := usage.Reading{At: t, Used: map[string]int64{"cpu": cpu}}
	return usage.Sample{Taken: t, Nodes: map[string]usage.Reading{"a": r}, Pods: map[string]usage.Reading{"shop/web": r, "shop/gone": r}}
}

// fakeHistorySource also has a history.
type fakeHistorySource struct {
	fakeSource
	past  []usage.Sample
	err   error
	since []time.Time
}

func (h *fakeHistorySource) History(_ context.Context, _ []usage.Node, since time.Time, _ time.Duration) ([]usage.Sample, error) {
	h.since = append(h.since, since)
	return h.past, h.err
}

type fakeRecorder struct {
	mu       sync.Mutex
	attempts []monitor.Attempt
}

func (n *fakeRecorder) RecordAttempt(a monitor.Attempt) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attempts = append(n.attempts, a)
}

func (n *fakeRecorder) attempt(i int) monitor.Attempt {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.attempts[(i+len(n.attempts))%len(n.attempts)]
}

const interval = 30 * time.Second

func testOptions() window.Options {
	return window.Options{Source: "metricsServer", Statistic: window.Mean, Window: 5 * time.Minute, MaxAge: 3 * time.Minute,
		Interval: interval,
		Watches:  []window.LevelWatch{{Name: "hot-nodes", Resource: "cpu", Enter: 0.8, Leave: 0.8, For: 3}}}
}

func newMonitor(s usage.Source) (*monitor.Monitor, *fakeRecorder) {
	n := &fakeRecorder{}
	return monitor.New(testOptions(), s, oneNodeCluster{}, clock.RealClock{}, slog.New(slog.NewTextHandler(io.Discard, nil)), n), n
}

// withRunningMonitor calls f with a running monitor. Time passes only while all goroutines wait.
func withRunningMonitor(t *testing.T, s usage.Source, f func(*monitor.Monitor, *fakeRecorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, n := newMonitor(s)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); m.Run(ctx) }()
		synctest.Wait()
		f(m, n)
		cancel()
		<-ended
	})
}

// advanceTime lets time pass.
func advanceTime(d time.Duration) {
	time.Sleep(d) // synthetic time, so the test does not wait
	synctest.Wait()
}

func isHot(u *cluster.Usage) bool { return len(u.Marks) == 1 && u.Marks[0].Hot }

func wantProblem(t *testing.T, u *cluster.Usage, want string) {
	t.Helper()
	if got := strings.Join(u.Problems, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
}

func TestSamplesOnItsOwnClock(t *testing.T) {
	s := &fakeSource{cpu: 900, problems: []usage.Problem{{Kind: usage.Missing, Detail: "no value for b"}}}
	withRunningMonitor(t, s, func(m *monitor.Monitor, n *fakeRecorder) {
		begun := time.Now()
		u := m.Usage()
		if u.Samples != 1 || u.Statistic != "latest" || isHot(u) || len(u.Pods) != 1 || u.Pods[0].Node != "a" || u.Pods[0].UID != "1" ||
			u.Nodes[0].Used["cpu"] != 900 {
			t.Errorf("after the first sample: %+v", u)
		}
		wantProblem(t, u, "samples are counted since 2000-01-01T00:00:00Z, because metricsServer has no history: 1 of up to 3 required in a row")
		wantProblem(t, u, "Missing: no value for b")
		select {
		case <-m.Sampled():
		default:
			t.Error("the first sample did not wake the receiver")
		}
		advanceTime(2 * interval)
		s.set(nil, nil)
		advanceTime(interval)
		if u := m.Usage(); u.Samples != 4 || u.Statistic != "mean" || !isHot(u) || !u.Marks[0].Since.Equal(begun) {
			t.Errorf("after the fourth sample: %+v", u)
		}
		wantProblem(t, m.Usage(), "")
		if n := m.NodeUsage(); len(n.Nodes) != 1 || !isHot(n) || len(n.Pods) != 0 {
			t.Errorf("without pods: %+v", n)
		}
		if asked := s.times(); len(asked) != 4 || !asked[3].Equal(begun.Add(3*interval)) {
			t.Errorf("asked at %v", asked)
		}
		a := n.attempt(1)
		if a.Failed || a.Coverage != 1 || len(a.Problems) != 1 || !a.SampledAt.Equal(begun.Add(interval)) {
			t.Errorf("recorded: %+v", a)
		}
	})
}

// TestASourceThatIsDown checks a source that stops answering. Known usage is valid for maxAge only. The delay
// between attempts grows to at most two minutes. After the source is back, counting starts again.
func TestASourceThatIsDown(t *testing.T) {
	s := &fakeSource{cpu: 900}
	withRunningMonitor(t, s, func(m *monitor.Monitor, n *fakeRecorder) {
		advanceTime(2 * interval)
		s.set(nil, errors.New("connection refused"))
		last := time.Now()
		advanceTime(interval)
		if !isHot(m.Usage()) {
			t.Error("node a stopped being hot at the first failure")
		}
		wantProblem(t, m.Usage(), "no answer since 2000-01-01T00:01:30Z (asked 1 time): connection refused")
		advanceTime(5 * interval)
		if u := m.Usage(); !isHot(u) || len(u.Nodes) != 1 || !u.SampledAt.Equal(last) {
			t.Errorf("after 3 min: %+v", u)
		}
		advanceTime(time.Second / 5)
		if u := m.Usage(); len(u.Nodes) != 0 || len(u.Pods) != 0 || len(u.Marks) != 0 {
			t.Errorf("after more than 3 min: %+v", u)
		}
		advanceTime(10 * time.Minute)
		var gaps []string
		asked := s.times()
		for i := 3; i < len(asked); i++ {
			gaps = append(gaps, asked[i].Sub(asked[i-1]).String())
		}
		if got := strings.Join(gaps, " "); !strings.HasPrefix(got, "30s 30s 1m0s 2m0s 2m0s 2m0s") {
			t.Errorf("asked after %s", got)
		}
		a := n.attempt(-1)
		if !a.Failed || a.Coverage != 0 || len(a.Problems) != 1 || a.Problems[0].Kind != usage.Unreachable {
			t.Errorf("recorded: %+v", a)
		}
		s.set(nil, nil)
		for before := len(s.times()); len(s.times()) == before; {
			advanceTime(time.Second)
		}
		u := m.Usage()
		if isHot(u) || len(u.Nodes) != 1 || len(u.Marks) != 1 || !u.Marks[0].CountRestarted {
			t.Errorf("back again: %+v", u)
		}
	})
}

func TestAnAnswerIsNotAwaitedForEver(t *testing.T) {
	s := &fakeSource{hangs: true}
	withRunningMonitor(t, s, func(m *monitor.Monitor, n *fakeRecorder) {
		wantProblem(t, m.Usage(), "the source has not answered yet")
		advanceTime(interval)
		wantProblem(t, m.Usage(), "no answer since 2000-01-01T00:00:30Z (asked 1 time): no answer within 30s")
	})
}

// TestTheSourceRemembers checks that a new leader or a CronJob pass knows the history at once. A
// measurement in both the history and the first sample counts once.
func TestTheSourceRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := &fakeHistorySource{fakeSource: fakeSource{cpu: 900}}
		for _, age := range []time.Duration{time.Hour, 2 * interval, interval, interval / 3} {
			s.past = append(s.past, sampleAt(now.Add(-age), 900))
		}
		m, _ := newMonitor(s)
		m.SampleOnce(t.Context())
		u := m.Usage()
		if !isHot(u) || u.Samples != 3 || u.Marks[0].Samples != 3 || u.Marks[0].CountRestarted {
			t.Errorf("%+v", u)
		}
		wantProblem(t, u, "")
		if len(s.since) != 1 || !s.since[0].Equal(now.Add(-5*time.Minute-interval)) {
			t.Errorf("History was called with since %v", s.since)
		}
		advanceTime(interval)
		m.SampleOnce(t.Context())
		if len(s.since) != 1 {
			t.Error("History was called again")
		}
		advanceTime(4 * time.Minute)
		last := now.Add(interval)
		m.SampleOnce(t.Context())
		if len(s.since) != 2 || !s.since[1].Equal(last) {
			t.Errorf("after a gap, History was called with since %v, want %v", s.since, last)
		}
	})
}

// TestRelievedBeforeItBegan covers a pod of 360 milliCPU that the previous pass evicted. This
// process never lists the pod, but the history includes its usage. The difference to the newest
// measurement stays uncertain until the window has only samples of this process.
func TestRelievedBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeHistorySource{fakeSource: fakeSource{cpu: 500}}
		for age := 10; age > 0; age-- {
			s.past = append(s.past, sampleAt(time.Now().Add(-time.Duration(age)*interval), 860))
		}
		m, _ := newMonitor(s)
		m.SampleOnce(t.Context())
		if n := m.Usage().Nodes[0]; n.Used["cpu"] < 800 || n.Newest["cpu"] != 500 {
			t.Errorf("at once: %+v", n)
		}
		for range 9 {
			if m.Usage().Nodes[0].Newest["cpu"] != 500 {
				t.Fatalf("while the window includes history: %+v", m.Usage().Nodes[0])
			}
			advanceTime(interval)
			m.SampleOnce(t.Context())
		}
		if n := m.Usage().Nodes[0]; n.Used["cpu"] != 500 || n.Newest != nil {
			t.Errorf("with only samples of this process: %+v", n)
		}
	})
}

// TestASourceThatSaysInPartWhatItRemembers checks a history that can be read only in part. That
// part is used. The missing part is reported for as long as the windows would include it.
func TestASourceThatSaysInPartWhatItRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := &fakeHistorySource{fakeSource: fakeSource{cpu: 900},
			past: []usage.Sample{sampleAt(now.Add(-2*interval), 900), sampleAt(now.Add(-interval), 900)},
			err:  errors.New("memory: the server answers 503")}
		m, _ := newMonitor(s)
		m.SampleOnce(t.Context())
		u := m.Usage()
		if u.Samples != 3 || !isHot(u) {
			t.Errorf("%+v", u)
		}
		wantProblem(t, u, "the history of metricsServer could be read only in part; "+
			"samples of the rest are counted since 2000-01-01T00:00:00Z: memory: the server answers 503")
		for range 11 {
			advanceTime(interval)
			m.SampleOnce(t.Context())
		}
		wantProblem(t, m.Usage(), "")
	})
}

func TestASourceThatCannotSayWhatItRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMonitor(&fakeHistorySource{fakeSource: fakeSource{cpu: 900}, err: errors.New("too many samples")})
		m.SampleOnce(t.Context())
		u := m.Usage()
		if isHot(u) || u.Samples != 1 {
			t.Errorf("%+v", u)
		}
		wantProblem(t, u, "because the history of metricsServer could not be read: too many samples: 1 of up to 3")
	})
}

// TestUsageOfAMoment checks that the usage is computed once, and again when something may have changed.
func TestUsageOfAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMonitor(&fakeSource{cpu: 900})
		m.SampleOnce(t.Context())
		first := m.Usage()
		advanceTime(time.Second)
		if again := m.Usage(); &again.Pods[0] != &first.Pods[0] {
			t.Error("Usage was computed again after one second without a sample")
		}
		m.SampleOnce(t.Context())
		if again := m.Usage(); again.Samples != 2 {
			t.Errorf("after another sample: %+v", again)
		}
		m.SetWatches(nil)
		if again := m.Usage(); len(again.Marks) != 0 {
			t.Errorf("with nothing watched: %+v", again)
		}
		once, _, _ := m.Loads()
		advanceTime(time.Second)
		if again, _, now := m.Loads(); &again[0] != &once[0] || !now.Equal(time.Now()) {
			t.Error("Loads were computed again after one second")
		}
		m.SampleOnce(t.Context())
		if again, _, _ := m.Loads(); &again[0] == &once[0] {
			t.Error("Loads were not computed again after a sample")
		}
		measured, _, _ := m.Loads()
		advanceTime(3*time.Minute - time.Second)
		if kept, _, _ := m.Loads(); len(kept) != 1 || !kept[0].At.Equal(measured[0].At) {
			t.Errorf("usage is unknown although it is not too old: %+v", kept)
		}
		advanceTime(time.Second + time.Millisecond)
		if gone, _, _ := m.Loads(); len(gone) != 0 {
			t.Errorf("usage that is too old is still returned: %+v", gone)
		}
		m.SampleOnce(t.Context())
		if loads, over, now := m.Loads(); len(loads) != 1 || loads[0].ByResource["cpu"].Mean != 90 || over != 5*time.Minute ||
			!now.Equal(time.Now()) {
			t.Errorf("loads %+v over %s at %s", loads, over, now)
		}
	})
}
