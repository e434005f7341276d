// Package notify sends messages to receivers outside the cluster, such as Slack.
//
// Sending never delays a pass: each receiver has a bounded queue and one goroutine. The package decides when a message
// is tried again and when it is dropped. It never decides what is announced, and it trusts no receiver: redirects are
// errors, and answers are not read.
package notify

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/plan"
)

// RequestTimeout bounds a request to a receiver of the configuration.
const RequestTimeout = 10 * time.Second

// Receiver is a server that gets messages.
type Receiver struct {
	Name   string
	Format message.Format
	// URL is the address. If it is empty, URLFile is a file with the address, which is a secret.
	URL, URLFile string
	// TokenFile is a file with a bearer token, and CAFile one with certificate authorities. Both
	// may be empty. All files are read again for every request.
	TokenFile, CAFile string
	// Timeout bounds a request.
	Timeout time.Duration
	// Events are the events that the receiver gets; empty means all.
	Events []message.Event
}

// Result is what became of a message for one receiver.
type Result string

const (
	Sent        Result = "sent"
	Failed      Result = "failed"      // every attempt failed, or the process ended
	Dropped     Result = "dropped"     // newer messages filled the queue
	RateLimited Result = "rateLimited" // too many messages about the event
)

// Results returns every result.
func Results() []Result { return []Result{Sent, Failed, Dropped, RateLimited} }

// Recorder counts messages. It is safe for concurrent use.
type Recorder interface {
	// SetReceivers gets the names of all receivers whenever they change.
	SetReceivers(names []string)
	RecordNotification(receiver string, result Result)
}

// Notifier sends messages to the configured receivers. It is safe for concurrent use.
type Notifier struct {
	clock    clock.WithTicker
	log      *slog.Logger
	recorder Recorder

	mu      sync.Mutex
	workers map[string]*worker // by the name of the receiver
	running sync.WaitGroup
	closed  bool
}

// New returns a Notifier without receivers.
func New(c clock.WithTicker, log *slog.Logger, r Recorder) *Notifier {
	return &Notifier{clock: c, log: log, recorder: r, workers: map[string]*worker{}}
}

// Configure replaces the receivers. A receiver that is unchanged is not interrupted. A receiver that changed keeps its
// waiting messages. Configure logs each new or changed receiver whose address cannot be read now.
func (n *Notifier) Configure(receivers []Receiver) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	old := n.workers
	n.workers = map[string]*worker{}
	var names []string
	for _, r := range receivers {
		names = append(names, r.Name)
		previous := old[r.Name]
		if previous != nil && reflect.DeepEqual(previous.receiver, r) {
			n.workers[r.Name] = previous
			continue
		}
		box := newMailbox()
		if previous != nil {
			previous.stop()
			box = previous.box
		}
		n.workers[r.Name] = n.startWorker(r, box)
	}
	for name, w := range old {
		if n.workers[name] == nil {
			w.stop()
		}
	}
	n.recorder.SetReceivers(names)
}

func (n *Notifier) startWorker(r Receiver, box *mailbox) *worker {
	ctx, stop := context.WithCancel(context.Background()) // outlives the pass that sends a message
	w := &worker{receiver: r, box: box, stop: stop, clock: n.clock, log: n.log.With("receiver", r.Name),
		recorder: n.recorder}
	if _, err := r.address(); err != nil {
		w.log.Warn("the receiver gets no notifications until its address can be read", "error", err)
	}
	n.running.Go(func() { w.run(ctx) })
	return w
}

// Send queues a message for every receiver that wants its event. Send returns at once.
func (n *Notifier) Send(m message.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		if len(w.receiver.Events) == 0 || slices.Contains(w.receiver.Events, m.Event) {
			w.put(m)
		}
	}
}

// PassEnded sends a message for each condition that began with a pass, and returns the keys of the conditions that
// hold. announced are the keys after the pass before, and st is the state after the pass. Without receivers, no
// condition counts as announced.
func (n *Notifier) PassEnded(announced []string, r plan.RunReport, st plan.PlannerState) []string {
	if !n.hasReceivers() {
		return nil
	}
	messages, holding := message.Changes(announced, r, st)
	for _, m := range messages {
		n.Send(m)
	}
	return holding
}

func (n *Notifier) hasReceivers() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.workers) > 0
}

// Close waits for the queued messages, at most for the given time, and then stops all receivers. Later messages are
// ignored.
func (n *Notifier) Close(atMost time.Duration) {
	n.mu.Lock()
	workers := n.workers
	n.workers, n.closed = map[string]*worker{}, true
	n.mu.Unlock()
	for _, w := range workers {
		w.box.close()
	}
	timer := n.clock.NewTimer(atMost)
	defer timer.Stop()
	done := make(chan struct{})
	go func() { n.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-timer.C():
		for _, w := range workers {
			w.stop()
		}
		<-done
	}
	for _, w := range workers {
		w.stop()
		for range w.box.discard() {
			w.record(Failed)
		}
	}
}
