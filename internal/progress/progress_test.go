package progress_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/internal/progress"
)

// screen is a terminal: it records what is written, and what its last line shows.
type screen struct {
	mu     sync.Mutex
	all    strings.Builder
	line   []byte
	cursor int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Write(p)
	for _, b := range p {
		switch b {
		case '\n':
			s.line, s.cursor = nil, 0
		case '\r':
			s.cursor = 0
		default:
			if s.cursor == len(s.line) {
				s.line = append(s.line, ' ')
			}
			s.line[s.cursor] = b
			s.cursor++
		}
	}
	return len(p), nil
}

// last returns what the last line shows.
func (s *screen) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.line), " ")
}

// written returns everything that was written.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// pass lets time pass in the bubble of the test, until the goroutine of the line has drawn what is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestLine also checks that no goroutine stays: the bubble would report it.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		shows := func(when, want string) {
			t.Helper()
			if got := s.last(); got != want {
				t.Errorf("%s: the last line shows %q, want %q; everything: %q", when, got, want, s.written())
			}
		}
		l := progress.New(s, 40, clock.RealClock{}) // the clock of the bubble
		l.Start("reading %s", "the cluster")
		pass(time.Second)
		shows("after a second", "")
		pass(time.Second)
		shows("after two seconds", "reading the cluster (2s)")
		pass(time.Second)
		shows("after three seconds", "reading the cluster (3s)")
		l.Start("planning")
		shows("at the beginning of the next step", "planning") // at once, because the command has been slow
		if _, err := l.Writer(s).Write([]byte("a warning\n")); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(s.written(), "\r        \ra warning\n") {
			t.Errorf("the line stays before a message: %q", s.written())
		}
		pass(time.Second)
		shows("a second after the message", "planning (1s)")
		l.Start("a \x1b[2J%s", strings.Repeat("long text ", 9))
		if got := s.last(); len(got) > 39 || !strings.HasPrefix(got, `a \x1b[2J`) || !strings.HasSuffix(got, "...") {
			t.Errorf("the terminal shows %q", got)
		}
		l.Stop()
		shows("after Stop", "")
		l.Start("again")
		pass(time.Second)
		shows("a second after the line starts again", "")
		l.Stop()
	})
}

// TestNoLine checks that nothing is written without a terminal, and with Disable.
func TestNoLine(t *testing.T) {
	defer goleak.VerifyNone(t)
	s, c := &screen{}, clocktesting.NewFakeClock(time.Unix(0, 0))
	none := progress.New(s, 0, c)
	none.Start("x")
	none.Stop()
	none.Disable()
	if none.Writer(s) != s {
		t.Error("without a terminal the writer is not the output itself")
	}
	off := progress.New(s, 80, c)
	off.Start("x")
	off.Disable()
	off.Start("x")
	if s.written() != "" {
		t.Errorf("the terminal shows %q", s.written())
	}
}
