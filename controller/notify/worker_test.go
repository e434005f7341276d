package notify

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/notify/message"
)

// TestAMailboxIsBounded fills a mailbox: the newest messages stay, and each event has its own rate.
func TestAMailboxIsBounded(t *testing.T) {
	b, now := newMailbox(), time.Unix(0, 0)
	results := map[Result]int{}
	for i := range 10 * maxQueue {
		results[b.put(message.Message{Event: message.UsageSilent, RunID: fmt.Sprint(i)}, now)]++
		now = now.Add(eventInterval)
	}
	if results[""] != maxQueue || results[Dropped] != 9*maxQueue || len(b.queue) != maxQueue {
		t.Errorf("%v, %d wait", results, len(b.queue))
	}
	if m, ok := b.take(t.Context()); !ok || m.RunID != fmt.Sprint(9*maxQueue) {
		t.Errorf("took %+v, want the oldest that was kept", m)
	}
	clear(results)
	for range 20 {
		results[b.put(message.Message{Event: message.BreakerTripped}, now)]++
	}
	results[b.put(message.Message{Event: message.TrustLost}, now)]++
	results[b.put(message.Message{Event: message.BreakerTripped}, now.Add(eventInterval))]++
	if results[RateLimited] != 20-burst {
		t.Errorf("%v, want %d beyond the rate", results, 20-burst)
	}
}
