package notify_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// results counts results by receiver. Wait blocks until there are enough of them.
type results struct {
	mu      sync.Mutex
	changed *sync.Cond
	counts  map[string]int // by receiver/result
	names   []string
}

func newResults() *results {
	r := &results{counts: map[string]int{}}
	r.changed = sync.NewCond(&r.mu)
	return r
}

func (r *results) SetReceivers(names []string) { r.names = names }

func (r *results) RecordNotification(receiver string, result notify.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[receiver+"/"+string(result)]++
	r.changed.Broadcast()
}

func (r *results) waitFor(key string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.counts[key] < n {
		r.changed.Wait()
	}
}

func (r *results) count(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[key]
}

// instantClock passes every delay at once.
type instantClock struct{ clock.RealClock }

func (instantClock) NewTimer(time.Duration) clock.Timer { return clock.RealClock{}.NewTimer(0) }

// startNotifier returns a Notifier whose retries do not wait, and what it logs after the test has closed it.
func startNotifier(t *testing.T, c clock.WithTicker, receivers ...notify.Receiver) (*notify.Notifier, *results, *bytes.Buffer) {
	t.Helper()
	counts, log := newResults(), &bytes.Buffer{}
	n := notify.New(c, slog.New(slog.NewTextHandler(&lockedWriter{w: log}, &slog.HandlerOptions{Level: slog.LevelDebug})), counts)
	for i := range receivers {
		if receivers[i].Timeout == 0 {
			receivers[i].Timeout = time.Minute
		}
	}
	n.Configure(receivers)
	t.Cleanup(func() { n.Close(0) })
	return n, counts, log
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func about(e message.Event, id int) message.Message {
	return message.Message{Event: e, RunID: fmt.Sprint(id), Title: "t", Text: "x"}
}

// server counts requests.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	changed  *sync.Cond
	requests []string // method, headers and body
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.changed = sync.NewCond(&s.mu)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, fmt.Sprintf("%s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body))
		s.changed.Broadcast()
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

func (s *server) waitFor(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.requests) < requests {
		s.changed.Wait()
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// hang answers only when the client gives up.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func secretFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// TestHowAReceiverAnswers checks which answers count as success, and after which ones Evenkeel tries again.
func TestHowAReceiverAnswers(t *testing.T) {
	elsewhere, flood := serve(t, status(200)), &flood{}
	for _, c := range []struct {
		what     string
		answer   http.HandlerFunc
		timeout  time.Duration
		requests int
		result   notify.Result
	}{
		{"200", status(200), 0, 1, notify.Sent},
		{"202, as Workflows answer", status(202), 0, 1, notify.Sent},
		{"400", status(400), 0, 1, notify.Failed},
		{"401", status(401), 0, 1, notify.Failed},
		{"404", status(404), 0, 1, notify.Failed},
		{"408", status(408), 0, 4, notify.Failed},
		{"429", status(429), 0, 4, notify.Failed},
		{"500", status(500), 0, 4, notify.Failed},
		{"a redirect", http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP, 0, 1, notify.Failed},
		{"no answer", hang, 50 * time.Millisecond, 4, notify.Failed},
		{"a closed connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, 4, notify.Failed},
		{"an endless answer", flood.send, 0, 1, notify.Sent},
		{"an answer that claims to be huge", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000000000")
			w.WriteHeader(200)
		}, 0, 1, notify.Sent},
		{"an endless header", func(w http.ResponseWriter, _ *http.Request) { floodHeader(w) }, 0, 4, notify.Failed},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := serve(t, c.answer)
			n, counts, _ := startNotifier(t, instantClock{}, notify.Receiver{Name: "r", Format: message.JSON, URL: s.URL, Timeout: c.timeout,
				TokenFile: secretFile(t, "t0ken")})
			n.Send(about(message.UsageSilent, 1))
			counts.waitFor("r/"+string(c.result), 1)
			if got := s.seen(); len(got) != c.requests || !strings.HasPrefix(got[0], "POST application/json Bearer t0ken {") {
				t.Errorf("%d requests %q, want %d", len(got), got, c.requests)
			}
		})
	}
	if got := elsewhere.seen(); len(got) != 0 {
		t.Errorf("the target of the redirect got %q", got)
	}
}

// flood is a receiver that sends an answer until the client closes the connection.
type flood struct{ sent atomic.Int64 }

func (f *flood) send(w http.ResponseWriter, _ *http.Request) {
	for chunk := bytes.Repeat([]byte("x"), 1<<16); ; {
		n, err := w.Write(chunk)
		if f.sent.Add(int64(n)); err != nil {
			return
		}
	}
}

// floodHeader sends a header without an end.
func floodHeader(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
	for line := "X-Flood: " + strings.Repeat("x", 1<<15) + "\r\n"; err == nil; {
		_, err = io.WriteString(conn, line)
	}
}

// TestHostileReceiversDelayNoPass sends many messages while some receivers hang, fail and flood.
// Sending returns although no request has been answered, and a healthy receiver gets its messages
// meanwhile.
func TestHostileReceiversDelayNoPass(t *testing.T) {
	good, hangs, flood := serve(t, status(200)), serve(t, hang), &flood{}
	receivers := []notify.Receiver{{Name: "good", Format: message.Slack, URL: good.URL},
		{Name: "hangs", Format: message.JSON, URL: hangs.URL, Timeout: time.Hour},
		{Name: "fails", Format: message.JSON, URL: serve(t, status(500)).URL},
		{Name: "redirects", Format: message.JSON, URL: serve(t, http.RedirectHandler("http://127.0.0.1:1", http.StatusFound).ServeHTTP).URL},
		{Name: "floods", Format: message.JSON, URL: serve(t, flood.send).URL},
		{Name: "floods-header", Format: message.JSON, URL: serve(t, func(w http.ResponseWriter, _ *http.Request) { floodHeader(w) }).URL},
		{Name: "absent", Format: message.JSON, URL: "http://127.0.0.1:1"}}
	n, counts, _ := startNotifier(t, instantClock{}, receivers...)
	r := plan.RunReport{RunID: "r", Mode: plan.Live}
	var announced []string
	for i := range 2000 { // 1,000 trips of the breaker
		st := plan.PlannerState{}
		if i%2 == 0 {
			st.Breaker = &plan.BreakerTrip{At: time.Unix(int64(i), 0)}
		}
		announced = n.PassEnded(announced, r, st)
	}
	for _, e := range message.Events() {
		n.Send(about(e, 1))
	}
	for _, key := range []string{"good/sent", "fails/failed", "redirects/failed", "floods/sent", "floods-header/failed", "absent/failed"} {
		counts.waitFor(key, 9) // 5 trips, and 4 other events
	}
	if got := counts.count("good/rateLimited"); got != 1000-5+1 {
		t.Errorf("%d messages to the healthy receiver were beyond the rate, want 996", got)
	}
	// The receiver can send what fits into the buffers of its connections, and no more.
	if got := flood.sent.Load(); got > 9*32<<20 {
		t.Errorf("9 endless answers had %d MiB before Evenkeel closed the connection", got>>20)
	}
	if counts.count("hangs/sent")+counts.count("hangs/failed") != 0 {
		t.Errorf("the receiver that hangs is done: %v", counts.counts)
	}
}

// TestASilentReceiverEndsWithTheProcess checks that Close does not wait for a receiver that hangs,
// and that it waits for one that answers.
func TestASilentReceiverEndsWithTheProcess(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := serve(t, func(http.ResponseWriter, *http.Request) { close(begun); <-proceed })
	hangs := serve(t, hang)
	n, counts, _ := startNotifier(t, clock.RealClock{}, notify.Receiver{Name: "slow", Format: message.JSON, URL: slow.URL})
	n.Send(about(message.UsageSilent, 1))
	<-begun
	time.AfterFunc(10*time.Millisecond, func() { close(proceed) })
	n.Close(time.Minute)
	if counts.count("slow/sent") != 1 {
		t.Errorf("Close did not wait for the answer: %v", counts.counts)
	}

	n, counts, _ = startNotifier(t, clock.RealClock{}, notify.Receiver{Name: "hangs", Format: message.JSON, URL: hangs.URL, Timeout: time.Hour})
	n.Send(about(message.UsageSilent, 1))
	n.Send(about(message.UsageSilent, 2))
	n.Close(10 * time.Millisecond)
	n.Send(about(message.UsageSilent, 3))
	n.Configure([]notify.Receiver{{Name: "late", URL: hangs.URL}})
	if got := counts.count("hangs/failed"); got != 2 {
		t.Errorf("%d messages failed, want both that were sent before Close", got)
	}
}

// TestErrorsContainNoSecret checks the log for the URL and the token, whatever goes wrong.
func TestErrorsContainNoSecret(t *testing.T) {
	secure := httptest.NewTLSServer(status(200)) // its certificate is unknown
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer secure.Close()
	token := secretFile(t, "t0ken-s3cret")
	for what, c := range map[string]struct{ address, token, want string }{
		"redirect":               {serve(t, http.RedirectHandler("http://s3cret.example", http.StatusFound).ServeHTTP).URL + "/s3cret", token, "a redirect"},
		"status":                 {serve(t, status(403)).URL + "/s3cret", token, "status 403"},
		"closed port":            {"http://127.0.0.1:1/s3cret", token, "the connection to the receiver failed"},
		"unknown certificate":    {secure.URL + "/s3cret", token, "not trusted"},
		"unknown host":           {"http://s3cret.invalid/s3cret", token, "receiver"},
		"no URL":                 {"s3cret", token, "does not contain one URL"},
		"two URLs":               {"https://s3cret\nhttps://s3cret", token, "does not contain one URL"},
		"URL with a user":        {"https://s3cret:s3cret@127.0.0.1", token, "does not contain one URL"},
		"broken URL":             {"http://127.0.0.1/%zzs3cret", token, "does not contain one URL"},
		"empty file":             {"", token, "does not contain one URL"},
		"another scheme":         {"ftp://127.0.0.1/s3cret", token, "does not contain one URL"},
		"missing token":          {"http://127.0.0.1:1/s3cret", "/does/not/exist", "reading the token"},
		"token of two words":     {"http://127.0.0.1:1/s3cret", secretFile(t, "s3cret s3cret"), "contains no token"},
		"an address that is big": {strings.Repeat("s3cret", 10_000), token, "larger than"},
	} {
		t.Run(what, func(t *testing.T) {
			n, counts, log := startNotifier(t, instantClock{}, notify.Receiver{Name: "r", Format: message.JSON,
				URLFile: secretFile(t, c.address), TokenFile: c.token})
			n.Send(about(message.UsageSilent, 1))
			counts.waitFor("r/failed", 1)
			n.Close(time.Minute)
			if text := log.String(); strings.Contains(text, "s3cret") || !strings.Contains(text, c.want) {
				t.Errorf("want %q and no secret in the log:\n%s", c.want, text)
			}
		})
	}
}

// TestSecretWebhooksNeedHTTPS checks that the URL of a Slack or Teams webhook is not sent in clear text.
func TestSecretWebhooksNeedHTTPS(t *testing.T) {
	s := serve(t, status(200))
	n, counts, log := startNotifier(t, instantClock{}, notify.Receiver{Name: "r", Format: message.Teams, URLFile: secretFile(t, s.URL)})
	n.Send(about(message.UsageSilent, 1))
	counts.waitFor("r/failed", 1)
	n.Close(time.Minute)
	if got := s.seen(); len(got) != 0 {
		t.Errorf("the webhook got %q over http://", got)
	}
	if strings.Contains(log.String(), "will be tried again") {
		t.Errorf("an invalid address is tried again:\n%s", log)
	}
}

// TestMissingAddressIsLogged checks that a new configuration whose urlFile does not exist is logged before any message.
func TestMissingAddressIsLogged(t *testing.T) {
	n, _, log := startNotifier(t, instantClock{})
	n.Configure([]notify.Receiver{{Name: "r", Format: message.JSON, URLFile: "/does/not/exist", Timeout: time.Minute}})
	n.Close(time.Minute)
	const want = "level=WARN msg=\"the receiver gets no notifications until its address can be read\" receiver=r error=\"reading the address: "
	if !strings.Contains(log.String(), want) {
		t.Errorf("no %q in\n%s", want, log)
	}
}

// TestReceiversChange checks that a changed receiver gets the messages that waited for it, that an unchanged one is not
// interrupted, and that rotated files are read.
func TestReceiversChange(t *testing.T) {
	kept, fixed, hangs := serve(t, status(200)), serve(t, status(200)), serve(t, hang)
	file := secretFile(t, "http://127.0.0.1:1")
	same := notify.Receiver{Name: "same", Format: message.JSON, URLFile: file, Timeout: time.Minute}
	n, counts, _ := startNotifier(t, instantClock{}, same, notify.Receiver{Name: "wrong", Format: message.JSON, URL: hangs.URL},
		notify.Receiver{Name: "gone", Format: message.JSON, URL: hangs.URL})
	for i := range 3 {
		n.Send(about(message.UsageSilent, i))
	}
	counts.waitFor("same/failed", 3)
	hangs.waitFor(2)
	must.Succeed(t, os.WriteFile(file, []byte(kept.URL+"\n"), 0o600))
	n.Configure([]notify.Receiver{same, {Name: "wrong", Format: message.JSON, URL: fixed.URL, Timeout: time.Minute,
		Events: []message.Event{message.UsageSilent}}})
	counts.waitFor("wrong/sent", 2)
	counts.waitFor("wrong/failed", 1) // the one that was being sent
	n.Send(about(message.BreakerTripped, 3))
	counts.waitFor("same/sent", 1)
	if got := fixed.seen(); len(got) != 2 {
		t.Errorf("the changed receiver got %q, want the two messages that waited, and no other event", got)
	}
	if d := strings.Join(counts.names, " "); d != "same wrong" {
		t.Errorf("the receivers are %q", d)
	}
}

// TestAnnouncedPlansAreSent checks that a plan that keeps waiting is sent by the pass that announces it only.
func TestAnnouncedPlansAreSent(t *testing.T) {
	s := serve(t, status(200))
	n, counts, _ := startNotifier(t, instantClock{}, notify.Receiver{Name: "r", Format: message.JSON, URL: s.URL})
	for i, id := range []string{"a", "a", "b"} {
		n.PassEnded(nil, plan.RunReport{Waiting: &plan.Waiting{Plans: []plan.WaitingPlan{{ID: id, Announced: i != 1}}}}, plan.PlannerState{})
	}
	counts.waitFor("r/sent", 2)
	n.Close(time.Minute)
	if got := s.seen(); len(got) != 2 || !strings.Contains(got[1], "evenkeel approve b") {
		t.Errorf("got %q", got)
	}
}

// TestNothingCountsAsAnnouncedWithoutReceivers checks that conditions are announced when a receiver is added.
func TestNothingCountsAsAnnouncedWithoutReceivers(t *testing.T) {
	n, _, _ := startNotifier(t, clocktesting.NewFakeClock(time.Now()))
	if got := n.PassEnded([]string{"usageSilent/"}, plan.RunReport{Mode: plan.Live}, plan.PlannerState{Breaker: &plan.BreakerTrip{}}); got != nil {
		t.Errorf("%q count as announced", got)
	}
}
