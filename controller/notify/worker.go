package notify

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	sleep "github.com/evenkeel-project/evenkeel/internal/wait"
)

// The limits of one receiver.
const (
	maxQueue    = 32 // waiting messages
	maxAttempts = 4  // for one message
	// firstRetryDelay is the delay after the first attempt. Each further delay is retryFactor times as long.
	firstRetryDelay = 2 * time.Second
	retryFactor     = 4
	// burst messages about one event may follow each other; afterwards there is one per eventInterval.
	burst         = 5
	eventInterval = 10 * time.Minute
)

// mailbox holds the waiting messages of one receiver. If it is full, the oldest message is dropped.
type mailbox struct {
	wake chan struct{} // has an element after a change

	mu     sync.Mutex
	queue  []message.Message
	closed bool
	limits map[message.Event]*rate.Limiter
}

func newMailbox() *mailbox {
	return &mailbox{wake: make(chan struct{}, 1), limits: map[message.Event]*rate.Limiter{}}
}

// put adds a message. It returns Dropped if it removed the oldest one, RateLimited if it did not add the message, and
// "" otherwise.
func (b *mailbox) put(m message.Message, now time.Time) (result Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limits[m.Event]
	if limit == nil {
		limit = rate.NewLimiter(rate.Every(eventInterval), burst)
		b.limits[m.Event] = limit
	}
	if !limit.AllowN(now, 1) {
		return RateLimited
	}
	if len(b.queue) == maxQueue {
		b.queue, result = b.queue[1:], Dropped
	}
	b.queue = append(b.queue, m)
	b.wakeNext()
	return result
}

// wakeNext wakes up the worker that waits for a message.
func (b *mailbox) wakeNext() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// close makes take return false once the mailbox is empty.
func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wakeNext()
}

// take waits for the next message. It returns false if ctx ends, or if the mailbox is closed and empty.
func (b *mailbox) take(ctx context.Context) (message.Message, bool) {
	defer b.wakeNext() // another worker may have taken over the mailbox
	for ctx.Err() == nil {
		b.mu.Lock()
		if len(b.queue) > 0 {
			m := b.queue[0]
			b.queue = b.queue[1:]
			b.mu.Unlock()
			return m, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			break
		}
		select {
		case <-ctx.Done():
		case <-b.wake:
		}
	}
	return message.Message{}, false
}

// discard removes the waiting messages, and returns how many there were.
func (b *mailbox) discard() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.queue)
	b.queue = nil
	return n
}

// worker sends the messages of one receiver, one after the other.
type worker struct {
	receiver Receiver
	box      *mailbox
	stop     context.CancelFunc
	clock    clock.WithTicker
	log      *slog.Logger
	recorder Recorder
}

func (w *worker) put(m message.Message) {
	switch result := w.box.put(m, w.clock.Now()); result {
	case RateLimited:
		w.record(result)
		w.log.Info("a notification was not sent, because there were too many about its event", "event", m.Event,
			"run", m.RunID)
	case Dropped:
		w.record(result)
		w.log.Warn("the oldest waiting notification was dropped, because too many wait for the receiver", "waiting", maxQueue)
	}
}

func (w *worker) record(r Result) { w.recorder.RecordNotification(w.receiver.Name, r) }

func (w *worker) run(ctx context.Context) {
	for {
		m, ok := w.box.take(ctx)
		if !ok {
			return
		}
		if err := w.deliver(ctx, m); err != nil {
			w.record(Failed)
			w.log.Warn("a notification was not delivered", "event", m.Event, "run", m.RunID, "error", err)
			continue
		}
		w.record(Sent)
	}
}

// deliver sends a message, and tries again if that may help. It returns the last error.
func (w *worker) deliver(ctx context.Context, m message.Message) error {
	body := m.Body(w.receiver.Format)
	backoff := wait.Backoff{Duration: firstRetryDelay, Factor: retryFactor, Steps: maxAttempts}
	for attempt := 1; ; attempt++ {
		err := w.receiver.post(ctx, body)
		var final finalError
		if err == nil || errors.As(err, &final) || attempt == maxAttempts || !sleep.Sleep(ctx, w.clock, backoff.Step()) {
			return err
		}
		w.log.Debug("a notification will be tried again", "event", m.Event, "attempt", attempt, "error", err)
	}
}
