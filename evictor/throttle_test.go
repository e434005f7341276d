package evictor

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

func throttledError(seconds int) error {
	err := apierrors.NewTooManyRequestsError("the server has received too many requests")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
	return err
}

// No eviction is requested during the time for which the API server asks to wait. Afterwards all are requested.
func TestAThrottlingServerHoldsTheWaveBack(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"), testPod("d3", "u3", "n3"))
		w.createReplacement = "n1"
		var at []time.Duration
		w.onEvict = func() {
			at = append(at, time.Since(noon))
			w.answer = nil
			if len(at) == 1 {
				w.answer = throttledError(7)
			}
		}
		l := newTestLive(w, clock.RealClock{})
		l.calls = make(chan struct{}, 1) // the second eviction begins after the first answer
		r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2"), testMove(3, "d3", "u3")}, nil)
		for _, o := range r.Outcomes {
			if o.Outcome != plan.Evicted {
				t.Errorf("%+v", o)
			}
		}
		if len(at) != 4 || at[0] >= 7*time.Second || r.Stop != nil {
			t.Fatalf("got requests at %v, stop reason %v; want four requests", at, r.Stop)
		}
		for _, d := range at[1:] {
			if d < at[0]+7*time.Second {
				t.Errorf("got requests at %v, want none within 7s of the first answer", at)
			}
		}
	})
}

// An eviction that waits for a free call takes turns again if the API server asks to slow down meanwhile.
func TestAnEvictionThatWaitsForACallIsDelayed(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		l := newTestLive(newFakeCluster(), clock.RealClock{})
		l.calls = make(chan struct{}, 1)
		l.calls <- struct{}{} // another eviction waits for its answer
		h := &throttle{clock: clock.RealClock{}, waveStarted: noon, maxAge: maxWaveAge}
		var turn time.Duration
		done := make(chan bool)
		go func() {
			ok := l.waitTurn(t.Context(), h)
			turn = time.Since(noon)
			done <- ok
		}()
		synctest.Wait()
		h.extend(7 * time.Second)
		l.endCall()
		if ok := <-done; !ok || turn != 7*time.Second || len(l.calls) != 1 {
			t.Errorf("the turn came %v after %s, with %d calls; want it after 7s with one call", ok, turn, len(l.calls))
		}
	})
}

// watchedClock calls onNow whenever somebody asks for the time.
type watchedClock struct {
	clock.RealClock
	onNow func()
}

func (c watchedClock) Now() time.Time {
	c.onNow()
	return c.RealClock.Now()
}

// An eviction waits if the API server asks another one to slow down while the pod is checked. Its
// pod is then checked again.
func TestAnEvictionIsDelayedDuringItsChecks(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"))
		h := &throttle{clock: clock.RealClock{}, waveStarted: noon, maxAge: maxWaveAge}
		w.onGet = func(reads int) error {
			if reads == 1 {
				h.extend(7 * time.Second)
			}
			return nil
		}
		var evicted time.Duration
		w.onEvict = func() { evicted = time.Since(noon) }
		l := newTestLive(w, clock.RealClock{})
		pod, _, a := l.tryUntilAnswered(t.Context(), t.Context(), h, testMove(1, "d1", "u1"))
		if pod == nil || evicted != 7*time.Second || w.reads != 2 || w.evictRequests != 1 || len(l.calls) != 0 {
			t.Errorf("%d evictions, the last after %s, %d reads, %d open calls, outcome %+v; want one after 7s and 2 reads",
				w.evictRequests, evicted, w.reads, len(l.calls), a.outcome)
		}
	})
}

// A throttled eviction keeps its call until the delay is known. Otherwise the next eviction, which waits for a free
// slot, could begin in between.
func TestAThrottledEvictionKeepsItsCallUntilTheOthersWait(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"))
		w.onEvict = func() {
			w.answer = nil
			if w.evictRequests == 1 {
				w.answer = throttledError(7)
			}
		}
		l := newTestLive(w, clock.RealClock{})
		l.calls = make(chan struct{}, 1)
		h := &throttle{waveStarted: noon, maxAge: maxWaveAge}
		extended := 0
		h.clock = watchedClock{onNow: func() { // the caller holds h.mu
			if w.evictRequests == 1 && h.until.IsZero() {
				if extended++; len(l.calls) != 1 {
					t.Error("another eviction could begin before the delay")
				}
			}
		}}
		if pod, _, a := l.tryUntilAnswered(t.Context(), t.Context(), h, testMove(1, "d1", "u1")); pod == nil || extended == 0 {
			t.Errorf("got outcome %+v after %d delays, want an eviction after one", a.outcome, extended)
		}
		if len(l.calls) != 0 || time.Since(noon) != 7*time.Second {
			t.Errorf("%d calls are open after %s, want none after 7s", len(l.calls), time.Since(noon))
		}
	})
}

// Repeated delays of 10 s are accepted three times. A delay of one minute stops the pass at once.
func TestAServerThatThrottlesForLongStopsThePass(t *testing.T) {
	for _, c := range []struct{ seconds, asked int }{{10, 4}, {30, 2}, {60, 1}, {0, 31}} {
		runAtNoon(t, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "u1", "n3"))
			w.answer = throttledError(c.seconds)
			r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
			o := singleOutcome(t, r)
			if o.Outcome != plan.Blocked || o.Reason.Code != plan.APIThrottled || r.Stop == nil || r.Stop.Code != plan.APIThrottled ||
				w.evictRequests != c.asked {
				t.Errorf("Retry-After %d: got %d requests, want %d; outcome %+v, stop reason %v", c.seconds, w.evictRequests, c.asked, o, r.Stop)
			}
		})
	}
}

// A throttled read also delays the wave, and the pod is read again afterwards.
func TestAThrottledReadIsHeldBackToo(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"))
		w.createReplacement = "n1"
		w.onGet = func(n int) error {
			if n == 1 {
				return throttledError(3)
			}
			return nil
		}
		r := newTestLive(w, clock.RealClock{}).EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
		if o := singleOutcome(t, r); o.Outcome != plan.Evicted || w.reads != 2 || time.Since(noon) < 3*time.Second {
			t.Errorf("got outcome %+v after %d reads and %s", o, w.reads, time.Since(noon))
		}
	})
}

// Evictions that were due during the delay do not all start at once.
func TestWhatWasHeldBackKeepsThePace(t *testing.T) {
	runAtNoon(t, func(t *testing.T) {
		w := newFakeCluster(testPod("d1", "u1", "n3"), testPod("d2", "u2", "n3"), testPod("d3", "u3", "n3"), testPod("d4", "u4", "n3"))
		w.createReplacement = "n1"
		var at []time.Time
		w.onEvict = func() {
			w.answer = nil
			if at = append(at, time.Now()); len(at) == 1 {
				w.answer = throttledError(20)
			}
		}
		l := newTestLive(w, clock.RealClock{})
		l.pacer = newPacer(12, clock.RealClock{}) // every 5 s
		r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1"), testMove(2, "d2", "u2"), testMove(3, "d3", "u3"),
			testMove(4, "d4", "u4")}, nil)
		if r.Stop != nil || len(at) != 5 {
			t.Fatalf("got requests at %v, stop reason %v", at, r.Stop)
		}
		for i := 2; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < 5*time.Second {
				t.Errorf("got evictions %s apart, want the pace of 5 s: %v", gap, at)
			}
		}
	})
}

// If the pass must stop, the delay ends without another request.
func TestToldToStopEndsTheHold(t *testing.T) {
	w := newFakeCluster(testPod("d1", "u1", "n3"))
	w.answer = throttledError(20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.onEvict = cancel
	r := newTestLive(w, clocktesting.NewFakeClock(noon)).EvictWave(ctx, []plan.Move{testMove(1, "d1", "u1")}, nil)
	if o := singleOutcome(t, r); o.Outcome != plan.Dropped || o.Reason.Code != plan.Interrupted || w.evictRequests != 1 {
		t.Errorf("got outcome %+v after %d requests", o, w.evictRequests)
	}
}

// throttlingServer answers over HTTP. Like API Priority and Fairness, it rejects the first request of each kind.
type throttlingServer struct {
	*fakeCluster
	mu       sync.Mutex
	reject   string // part of the path
	rejected int
	requests []string
}

func (s *throttlingServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if s.rejected == 0 && strings.HasSuffix(r.URL.Path, s.reject) {
		s.rejected++
		out.Header().Set("Retry-After", "5")
		http.Error(out, "Too many requests, please try again later.", http.StatusTooManyRequests)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		p, err := s.get(r.Context(), "shop", "d1")
		if err != nil {
			http.Error(out, err.Error(), http.StatusNotFound)
			return
		}
		p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		_ = json.NewEncoder(out).Encode(p)
		return
	}
	_ = s.evict(r.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "d1"}})
	out.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(out).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

// The real client does not repeat the request itself, and it keeps the time that the server asks to wait.
func TestRetryAfterOverHTTP(t *testing.T) {
	const read, evict = "GET /api/v1/namespaces/shop/pods/d1", "POST /api/v1/namespaces/shop/pods/d1/eviction"
	for reject, want := range map[string][]string{"/eviction": {read, evict, read, evict}, "/pods/d1": {read, read, evict}} {
		runAtNoon(t, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "u1", "n3"))
			w.createReplacement = "n1"
			s := &throttlingServer{fakeCluster: w, reject: reject}
			wire := make(pipeListener)
			server := &http.Server{Handler: s}
			go func() { _ = server.Serve(wire) }() // always ErrServerClosed
			defer server.Close()
			client := kubernetes.NewForConfigOrDie(&restclient.Config{Host: "http://busy", Dial: wire.dial, QPS: -1})
			l := newTestLive(w, clock.RealClock{})
			l = NewLive(client, w, l.workloadOf, l.opts)
			r := l.EvictWave(t.Context(), []plan.Move{testMove(1, "d1", "u1")}, nil)
			if o := singleOutcome(t, r); o.Outcome != plan.Evicted || strings.Join(s.requests, ", ") != strings.Join(want, ", ") {
				t.Errorf("got %+v after %v, want %v", o, s.requests, want)
			}
			if waited := time.Since(noon); waited != 5*time.Second {
				t.Errorf("got a delay of %s, want 5s", waited)
			}
		})
	}
}

// pipeListener connects a client and a server inside a synctest bubble. A real socket would not
// work, because the clock of the bubble does not advance while a goroutine waits for a socket.
type pipeListener chan net.Conn

func (p pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

func (p pipeListener) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipeListener) Close() error   { close(p); return nil }
func (p pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

// A wave is stale when more time than its maximum age has passed.
func TestAWaveIsStaleAfterItsMaximumAge(t *testing.T) {
	now := clocktesting.NewFakeClock(noon.Add(maxWaveAge))
	h := &throttle{clock: now, waveStarted: noon, maxAge: maxWaveAge}
	if h.waveIsStale() {
		t.Error("stale at its maximum age")
	}
	if now.Step(1); !h.waveIsStale() {
		t.Error("not stale after its maximum age")
	}
}

func TestBatchSize(t *testing.T) {
	for perMinute, want := range map[int]int{0: 0, 1: 1, 4: 1, 30: 7, 600: 150} {
		if got := BatchSize(perMinute); got != want {
			t.Errorf("%d evictions per minute: got a batch size of %d, want %d", perMinute, got, want)
		}
	}
}
