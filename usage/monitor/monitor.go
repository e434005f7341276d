// Package monitor samples a usage source periodically, independent of the planning schedule,
// and keeps the samples in windows.
//
// The package decides when to query the source, how long to wait for an answer, and how to report a source that
// does not answer. The package never decides which usage is too high. While a source does not answer, measurements
// age until the usage is unknown.
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

// Cluster provides the nodes to sample and the locations of pods.
type Cluster interface {
	UsageNodes() []usage.Node
	// PodPlace returns the node of a pod ("namespace/name"). PodPlace returns false if the pod does
	// not exist or is not bound.
	PodPlace(pod string) (window.PodPlace, bool)
}

// Attempt is the outcome of one attempt to take a sample.
type Attempt struct {
	// Failed is true if the attempt got no usable answer.
	Failed   bool
	Problems []usage.Problem
	Took     time.Duration
	// Coverage is the share (0..1) of the selected nodes whose usage is known now.
	Coverage float64
	// SampledAt is the time of the newest measurement of any node, or zero if no node was measured.
	SampledAt time.Time
}

// Recorder records attempts as metrics.
type Recorder interface{ RecordAttempt(a Attempt) }

const (
	// minTimeout is the minimum time to wait for an answer. If the sampling interval is longer, the
	// interval is the timeout.
	minTimeout = 5 * time.Second
	// maxBackoff limits the delay between attempts while the source does not answer. A restart of
	// the source takes about two minutes.
	maxBackoff = 2 * time.Minute
	// resultLifetime is the time for which Usage returns the same result if no new sample arrives.
	resultLifetime = 5 * time.Second
)

// Monitor samples one source. Create it with New.
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
	// firstAttempt is the time of the first attempt. samples counts the added samples.
	firstAttempt time.Time
	lastAttempt  time.Time // the newest attempt
	samples      int
	// noHistoryReason says why the windows started without the source's history. noHistoryReason is empty if the
	// history was loaded.
	noHistoryReason string
	// historyGap says which part of the history could not be read at historyGapAt.
	historyGap   string
	historyGapAt time.Time
	// lastError is the current failure. failures is the number of failures in a row, and
	// failedSince is the time of the first.
	lastError   error
	failedSince time.Time
	failures    int
	last        *cluster.Usage // computed at lastAt
	lastAt      time.Time
	// loads were computed at loadsAt over the period loadsOver, and are valid until loadsUntil. If
	// loads is nil, they have not been computed.
	loads               []window.NodeLoads
	loadsOver           time.Duration
	loadsAt, loadsUntil time.Time
}

// New returns a monitor that has not sampled yet.
func New(o window.Options, s usage.Source, c Cluster, k clock.WithTicker, log *slog.Logger, r Recorder) *Monitor {
	return &Monitor{source: s, cluster: c, clock: k, log: log.With("source", o.Source), recorder: r,
		sampled: make(chan struct{}, 1), opts: o, windows: window.New(o)}
}

// Run samples until ctx ends. The first sample is due at once or, after a call of SampleOnce, one interval later.
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

// nextDelay returns the time until the next attempt. The delay doubles after each failed attempt.
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

// SampleOnce takes one sample. SampleOnce must not run concurrently with Run. Before the first
// sample, and after a gap in which usage became unknown, SampleOnce fills the windows with the
// source's history. The result of Usage lists any errors.
func (m *Monitor) SampleOnce(ctx context.Context) {
	nodes, begun := m.cluster.UsageNodes(), m.clock.Now()
	m.startAttempt(begun)
	sample, err := m.querySource(ctx, nodes)
	var past []usage.Sample
	if err == nil && m.needsHistory(sample.Taken) {
		past = m.loadHistory(ctx, nodes, sample.Taken)
	}
	if ctx.Err() != nil {
		return // the caller no longer waits for the answer
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.recordFailure(err)
	} else {
		m.addSamples(append(past, sample), nodes)
	}
	m.reportAttempt(begun, nodes, sample.Problems, err)
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

// reportAttempt records the attempt and wakes the receiver of Sampled.
func (m *Monitor) reportAttempt(begun time.Time, nodes []usage.Node, problems []usage.Problem, err error) {
	if err != nil && len(problems) == 0 {
		problems = []usage.Problem{{Kind: usage.Unreachable, Detail: err.Error()}}
	}
	now := m.clock.Now()
	m.recorder.RecordAttempt(Attempt{Failed: err != nil, Problems: problems, Took: now.Sub(begun),
		Coverage: m.windows.Coverage(now, nodes), SampledAt: m.windows.NewestMeasurement()})
	select {
	case m.sampled <- struct{}{}:
	default: // the receiver has not taken the previous value yet
	}
}

// withTimeout returns a context that ends after the timeout, according to the monitor's clock.
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
		m.log.Warn("the usage source does not answer; known usage expires after maxAge", "error", err)
	}
	m.lastError = err
}

func (m *Monitor) addSamples(samples []usage.Sample, nodes []usage.Node) {
	if m.failures > 0 {
		m.log.Info("the usage source answers again", "after", m.clock.Now().Sub(m.failedSince))
	}
	m.lastError, m.failures, m.last, m.loads = nil, 0, nil, nil
	for _, s := range samples {
		m.windows.Add(s, nodes, m.cluster.PodPlace)
		m.samples++
	}
}

// needsHistory reports whether there is no sample yet, or the last sample is older than MaxAge.
func (m *Monitor) needsHistory(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples == 0 || now.Sub(m.windows.LastSampleTime()) > m.opts.MaxAge
}

// historyLength returns the period whose samples the windows or the watches need.
func (m *Monitor) historyLength() time.Duration {
	return max(m.opts.Window, m.opts.KeepNodeSamples, time.Duration(m.maxRequiredSamples())*m.opts.Interval) + m.opts.Interval
}

// maxRequiredSamples returns the largest number of consecutive samples that a watch requires.
func (m *Monitor) maxRequiredSamples() (n int) {
	for i := range m.opts.Watches {
		n = max(n, m.opts.Watches[i].For)
	}
	return max(n, 1)
}

// SetWatches replaces the watches. Unchanged watches keep their counts.
func (m *Monitor) SetWatches(watches []window.LevelWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opts.Watches = slices.Clone(watches)
	m.windows.SetWatches(watches)
	m.last = nil
}

// Sampled returns a channel for one receiver. The channel gets a value after every attempt,
// including failed ones, unless it still holds the previous value.
func (m *Monitor) Sampled() <-chan struct{} { return m.sampled }
