// Package monitor asks a source of usage for a sample again and again, on a clock of
// its own, apart from any schedule, and keeps what the samples come to.
//
// It decides when to ask, how long to wait for an answer, and what is said of a
// source that gives none. It never decides what usage is too much, and while a source
// is silent it makes nothing up: what was known grows old, and is unknown in the end.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// Cluster knows the nodes that are sampled, and where pods stand.
type Cluster interface {
	UsageNodes() []usage.Node
	// Place says where a pod (namespace/name) stands; false when there is none, or it
	// stands on no node.
	PodPlace(pod string) (window.PodPlace, bool)
}

// Attempt is what became of asking once.
type Attempt struct {
	// Failed: there was no usable answer at all.
	Failed   bool
	Problems []usage.Problem
	Took     time.Duration
	// Coverage is the share of the nodes whose usage is known now.
	Coverage float64
	// SampledAt is when the newest measurement of any node was made; zero while there
	// is none.
	SampledAt time.Time
}

// Recorder takes notes of attempts, for metrics.
type Recorder interface{ RecordAttempt(a Attempt) }

const (
	// minTimeout is how long an answer is waited for at least. Otherwise it is the
	// interval: then the next is due.
	minTimeout = 5 * time.Second
	// maxBackoff bounds how long a source is left alone that gives no answer: a restart
	// of one takes about that long.
	maxBackoff = 2 * time.Minute
	// resultLifetime is how long a Usage may be handed out again, where no sample came since.
	resultLifetime = 5 * time.Second
)

// Monitor samples one source. Make it with New.
type Monitor struct {
	source   usage.Source
	cluster  Cluster
	clock    clock.WithTicker
	log      *slog.Logger
	recorder Recorder
	sampled  chan struct{}

	mu      sync.Mutex
	opts    window.Options
	windows *window.Windows
	// firstAttempt is when the source was asked first, and samples counts its answers.
	firstAttempt time.Time
	lastAttempt  time.Time // the newest attempt
	samples      int
	// noHistoryReason says why the windows began empty; empty: with what the source remembers.
	noHistoryReason string
	// historyGap says what of what the source remembers could not be read at partlyAt.
	historyGap   string
	historyGapAt time.Time
	// lastError is why there was no answer, since when, and how often in a row.
	lastError   error
	failedSince time.Time
	failures    int
	last        *cluster.Usage // made at lastAt
	lastAt      time.Time
	// loads were made at loadsAt, over loadsOver, and hold until loadsUntil; nil: none.
	loads               []window.NodeLoads
	loadsOver           time.Duration
	loadsAt, loadsUntil time.Time
}

// New makes a monitor that has asked nothing yet.
func New(o window.Options, s usage.Source, c Cluster, k clock.WithTicker, log *slog.Logger, r Recorder) *Monitor {
	return &Monitor{source: s, cluster: c, clock: k, log: log.With("source", o.Source), recorder: r,
		sampled: make(chan struct{}, 1), opts: o, windows: window.New(o)}
}

// Run samples until ctx ends: at once, or, after Once, when the next sample is due.
func (m *Monitor) Run(ctx context.Context) {
	for {
		timer := m.clock.NewTimer(m.nextDelay())
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		if timer.Stop(); ctx.Err() != nil {
			return
		}
		m.SampleOnce(ctx)
	}
}

// nextDelay is the time to the next attempt. From one to the next it doubles while there is
// no answer.
func (m *Monitor) nextDelay() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lastAttempt.IsZero() {
		return 0
	}
	d := m.opts.Interval
	for i := 1; i < m.failures && d < maxBackoff; i++ {
		d = min(2*d, maxBackoff)
	}
	return m.lastAttempt.Add(d).Sub(m.clock.Now())
}

// SampleOnce takes one sample; not while Run does. Before the first one is taken in, and the
// first one after a silence in which usage became unknown, the windows are filled with
// what the source remembers. What goes wrong is said by Usage.
func (m *Monitor) SampleOnce(ctx context.Context) {
	nodes, begun := m.cluster.UsageNodes(), m.clock.Now()
	m.startAttempt(begun)
	sample, err := m.querySource(ctx, nodes)
	var past []usage.Sample
	if err == nil && m.needsHistory(sample.Taken) {
		past = m.loadHistory(ctx, nodes, sample.Taken)
	}
	if ctx.Err() != nil {
		return // nobody waits for the answer any more
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.recordFailure(err)
	} else {
		m.addSamples(append(past, sample), nodes)
	}
	m.reportAttempt(begun, len(nodes), sample.Problems, err)
}

func (m *Monitor) startAttempt(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lastAttempt = now; m.firstAttempt.IsZero() {
		m.firstAttempt = now
	}
}

func (m *Monitor) querySource(ctx context.Context, nodes []usage.Node) (usage.Sample, error) {
	asking, cancel := m.withTimeout(ctx)
	defer cancel()
	s, err := m.source.Sample(asking, nodes)
	if err != nil && errors.Is(context.Cause(asking), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", m.timeout())
	}
	if err == nil && s.Taken.IsZero() {
		s.Taken = m.clock.Now()
	}
	return s, err
}

// reportAttempt has the attempt recorded, and wakes who waits for it.
func (m *Monitor) reportAttempt(begun time.Time, nodes int, problems []usage.Problem, err error) {
	if err != nil && len(problems) == 0 {
		problems = []usage.Problem{{Kind: usage.Unreachable, Detail: err.Error()}}
	}
	now := m.clock.Now()
	m.recorder.RecordAttempt(Attempt{Failed: err != nil, Problems: problems, Took: now.Sub(begun), Coverage: m.windows.Coverage(now, nodes), SampledAt: m.windows.NewestMeasurement()})
	select {
	case m.sampled <- struct{}{}:
	default: // the one before is still to be looked at
	}
}

// withTimeout ends an attempt on the monitor's clock.
func (m *Monitor) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := m.clock.NewTimer(m.timeout())
	go func() {
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C():
			cancel(context.DeadlineExceeded)
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (m *Monitor) timeout() time.Duration { return max(m.opts.Interval, minTimeout) }

func (m *Monitor) recordFailure(err error) {
	if m.failures++; m.failures == 1 {
		m.failedSince = m.clock.Now()
		m.log.Warn("the source of usage gives no answer; what is known grows old", "error", err)
	}
	m.lastError = err
}

func (m *Monitor) addSamples(samples []usage.Sample, nodes []usage.Node) {
	if m.failures > 0 {
		m.log.Info("the source of usage answers again", "after", m.clock.Now().Sub(m.failedSince))
	}
	m.lastError, m.failures, m.last, m.loads = nil, 0, nil, nil
	for _, s := range samples {
		m.windows.Add(s, nodes, m.cluster.PodPlace)
		m.samples++
	}
}

// needsHistory: there is no sample, or usage is unknown since the last.
func (m *Monitor) needsHistory(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples == 0 || now.Sub(m.windows.LastSampleTime()) > m.opts.MaxAge
}

// historyLength is how far back samples matter: to the beginning of the windows, and as far
// as watches count.
func (m *Monitor) historyLength() time.Duration {
	return max(m.opts.Window, m.opts.KeepNodeSamples, time.Duration(m.maxRequiredSamples())*m.opts.Interval) + m.opts.Interval
}

// maxRequiredSamples is the largest number of samples that a watch wants.
func (m *Monitor) maxRequiredSamples() int {
	n := 1
	for i := range m.opts.Watches {
		n = max(n, m.opts.Watches[i].For)
	}
	return n
}

// SetWatches changes what is watched; what stays keeps its counts.
func (m *Monitor) SetWatches(watches []window.LevelWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opts.Watches = slices.Clone(watches)
	m.windows.SetWatches(watches)
	m.last = nil
}

// Sampled gets a value after every attempt, also one without an answer, unless the
// one before has not been received. It is for one receiver.
func (m *Monitor) Sampled() <-chan struct{} { return m.sampled }
