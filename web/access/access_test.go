package access_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/web/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiServer answers reviews. Tokens are good-N (may get /metrics), poor-N (may get nothing), and others, which it
// does not know.
type apiServer struct {
	client         *fake.Clientset
	clock          *testingclock.FakePassiveClock
	log            bytes.Buffer
	tokens, access atomic.Int32 // reviews
	revoked        atomic.Bool  // no token is known any more
	down           atomic.Pointer[error]
	audiences      []string // of the answers
	reviewer       *access.Reviewer
	authorizer     atomic.Pointer[authorizationv1.SubjectAccessReviewStatus] // if not nil, the answer about every path
	hold           chan struct{}                                             // if not nil, reviews wait until it is closed
	waiting        atomic.Int32
}

func newAPIServer(audiences ...string) *apiServer {
	s := &apiServer{client: fake.NewClientset(), clock: testingclock.NewFakePassiveClock(time.Unix(1e9, 0))}
	s.client.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		s.tokens.Add(1)
		if err := s.down.Load(); err != nil {
			return true, nil, *err
		}
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview).DeepCopy()
		token := r.Spec.Token
		if r.Status.Authenticated = !s.revoked.Load() && (strings.HasPrefix(token, "good") || strings.HasPrefix(token, "poor")); r.Status.Authenticated {
			r.Status.User = authenticationv1.UserInfo{Username: token, UID: "u", Groups: []string{"g"},
				Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
			r.Status.Audiences = s.audiences
		} else {
			r.Status.Error = "not known"
			r.Status.User.Username = "good-user-of-a-token-that-is-not-accepted"
			r.Status.User.UID, r.Status.User.Groups = "u", []string{"g"}
			r.Status.User.Extra = map[string]authenticationv1.ExtraValue{"k": {"v"}}
		}
		return true, r, nil
	})
	s.client.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		s.access.Add(1)
		if err := s.down.Load(); err != nil {
			return true, nil, *err
		}
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		asked := r.Spec.NonResourceAttributes
		r.Status.Allowed = strings.HasPrefix(r.Spec.User, "good") && r.Spec.UID == "u" && len(r.Spec.Groups) == 1 && len(r.Spec.Extra["k"]) == 1 &&
			asked != nil && *asked == authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}
		if status := s.authorizer.Load(); status != nil {
			r.Status = *status
		}
		return true, r, nil
	})
	s.reviewer = access.New(slowClient{s.client, s}, audiences, s.clock, slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return s
}

// slowClient holds reviews of tokens. The fake client alone answers one request at a time.
type slowClient struct {
	kubernetes.Interface
	server *apiServer
}

func (c slowClient) AuthenticationV1() authenticationclient.AuthenticationV1Interface {
	return slowAuthentication{c.Interface.AuthenticationV1(), c.server}
}

type slowAuthentication struct {
	authenticationclient.AuthenticationV1Interface
	server *apiServer
}

func (c slowAuthentication) TokenReviews() authenticationclient.TokenReviewInterface {
	return slowReviews{c.AuthenticationV1Interface.TokenReviews(), c.server}
}

type slowReviews struct {
	authenticationclient.TokenReviewInterface
	server *apiServer
}

func (c slowReviews) Create(ctx context.Context, r *authenticationv1.TokenReview, o metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	if c.server.hold != nil {
		c.server.waiting.Add(1)
		defer c.server.waiting.Add(-1)
		select {
		case <-c.server.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.TokenReviewInterface.Create(ctx, r, o)
}

// get returns the status for a request with the header Authorization.
func (s *apiServer) get(path, authorization string) int {
	return s.getFrom("10.0.0.1:4000", path, authorization).Code
}

func (s *apiServer) getFrom(address, path, authorization string) *httptest.ResponseRecorder {
	h := s.reviewer.Authorize(path, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") }))
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = address
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (s *apiServer) setDown(err error) { s.down.Store(&err) }

func TestWhoMayRead(t *testing.T) {
	s := newAPIServer()
	for _, c := range []struct {
		path, authorization string
		want                int
	}{
		{"/metrics", "Bearer good-1", 200}, {"/metrics", "bearer  good-1 ", 200}, {"/nodes", "Bearer good-1", 403},
		{"/metrics", "Bearer poor-1", 403}, {"/metrics", "Bearer unknown", 401},
		{"/metrics", "", 401}, {"/metrics", "Bearer", 401}, {"/metrics", "Bearer ", 401}, {"/metrics", "Basic good-1", 401},
		{"/metrics", "good-1", 401}, {"/metrics", "Bearer good 1", 401}, {"/metrics", "Bearer good-\xff", 401}, {"/metrics", "Bearer good-\u202e", 401},
	} {
		w := s.getFrom("10.0.0.1:4000", c.path, c.authorization)
		if w.Code != c.want {
			t.Errorf("%s with %q: %d, want %d", c.path, c.authorization, w.Code, c.want)
		}
		if shown := strings.Contains(w.Body.String(), "secret"); shown != (c.want == 200) {
			t.Errorf("%s with %q: %q", c.path, c.authorization, w.Body)
		}
		if asks := w.Header().Get("WWW-Authenticate") != ""; asks != (c.want == 401) {
			t.Errorf("%s with %q: headers %v", c.path, c.authorization, w.Header())
		}
	}
	if n := s.tokens.Load(); n != 4 {
		t.Errorf("%d reviews of tokens, want 4: what is no token needs no review", n)
	}
	if strings.Contains(s.log.String(), "unknown") {
		t.Errorf("the log contains a token: %s", s.log.String())
	}
}

// TestAnswersAreKept: an answer counts for its time, and a revoked token is refused a minute later.
func TestAnswersAreKept(t *testing.T) {
	s := newAPIServer()
	for range 20 {
		s.get("/metrics", "Bearer good-1")
		s.get("/metrics", "Bearer unknown")
	}
	if s.tokens.Load() != 2 || s.access.Load() != 1 {
		t.Fatalf("%d and %d reviews, want 2 and 1", s.tokens.Load(), s.access.Load())
	}
	s.revoked.Store(true)
	s.clock.SetTime(s.clock.Now().Add(59 * time.Second))
	if got := s.get("/metrics", "Bearer good-1"); got != 200 {
		t.Errorf("after 59 s: %d, want 200", got)
	}
	s.clock.SetTime(s.clock.Now().Add(time.Second))
	if got := s.get("/metrics", "Bearer good-1"); got != 401 {
		t.Errorf("a minute after it was revoked: %d, want 401", got)
	}
	s.revoked.Store(false)
	if got := s.get("/metrics", "Bearer good-1"); got != 401 {
		t.Errorf("right after it was refused: %d, want 401", got)
	}
	s.clock.SetTime(s.clock.Now().Add(11 * time.Second))
	if got := s.get("/metrics", "Bearer good-1"); got != 200 {
		t.Errorf("a token that is valid again: %d, want 200", got)
	}
}

// TestAPIServerDown: only answers that are still valid count, and nothing else is let in.
func TestAPIServerDown(t *testing.T) {
	s := newAPIServer()
	s.get("/metrics", "Bearer good-1")
	s.setDown(errors.New("connection refused"))
	if got := s.get("/metrics", "Bearer good-1"); got != 200 {
		t.Errorf("a client whose answer is valid: %d, want 200", got)
	}
	for _, token := range []string{"good-2", "poor-2", "unknown"} {
		if got := s.get("/metrics", "Bearer "+token); got != 503 {
			t.Errorf("%s: %d, want 503", token, got)
		}
	}
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	if got := s.get("/metrics", "Bearer good-1"); got != 503 {
		t.Errorf("a client whose answer has expired: %d, want 503", got)
	}
	if n := strings.Count(s.log.String(), "level=WARN"); n != 1 || strings.Contains(s.log.String(), "good-2") {
		t.Errorf("%d warnings, want one without tokens: %s", n, s.log.String())
	}
	s.down.Store(nil)
	if got := s.get("/metrics", "Bearer good-1"); got != 200 {
		t.Errorf("after the API server is back: %d, want 200", got)
	}
}

// TestAnAuthorizerThatFails: an authorizer that failed refuses nobody. The next request asks again.
func TestAnAuthorizerThatFails(t *testing.T) {
	s := newAPIServer()
	for _, c := range []struct {
		status authorizationv1.SubjectAccessReviewStatus
		want   int
	}{
		{authorizationv1.SubjectAccessReviewStatus{EvaluationError: "the webhook does not answer"}, 503},
		{authorizationv1.SubjectAccessReviewStatus{Denied: true, EvaluationError: "the webhook does not answer"}, 403},
		{authorizationv1.SubjectAccessReviewStatus{Allowed: true, EvaluationError: "the webhook does not answer"}, 200},
	} {
		s.authorizer.Store(&c.status)
		if got := s.get("/metrics", "Bearer good-1"); got != c.want {
			t.Errorf("%+v: %d, want %d", c.status, got, c.want)
		}
		s.clock.SetTime(s.clock.Now().Add(11 * time.Second)) // forgets denials
	}
	s.authorizer.Store(&authorizationv1.SubjectAccessReviewStatus{EvaluationError: "the webhook does not answer"})
	first := s.get("/metrics", "Bearer good-2")
	s.authorizer.Store(nil)
	if second := s.get("/metrics", "Bearer good-2"); first != 503 || second != 200 {
		t.Errorf("%d, and %d when the authorizer works again; want 503 and 200", first, second)
	}
	if want := "could not decide whether good-1 may get /metrics: the webhook does not answer"; !strings.Contains(s.log.String(), want) {
		t.Errorf("the log does not contain %q: %s", want, s.log.String())
	}
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	s := newAPIServer()
	s.setDown(apierrors.NewForbidden(schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}, "", errors.New("no rule")))
	if got := s.get("/metrics", "Bearer good-1"); got != 503 {
		t.Errorf("got %d, want 503", got)
	}
	if want := "permission to create tokenreviews.authentication.k8s.io is missing"; !strings.Contains(s.log.String(), want) {
		t.Errorf("the log does not contain %q: %s", want, s.log.String())
	}
}

// TestAFloodOfTokens: one address cannot make many reviews, many addresses cannot either, and clients that were
// allowed are not hindered.
func TestAFloodOfTokens(t *testing.T) {
	s := newAPIServer()
	s.get("/metrics", "Bearer good-1")
	before := s.tokens.Load()
	for i := range 1000 {
		s.getFrom("10.0.0.2:1", "/metrics", fmt.Sprintf("Bearer bad-%d", i))
	}
	if n := s.tokens.Load() - before; n > 10 {
		t.Errorf("%d reviews for one address at once, want at most 10", n)
	}
	if w := s.getFrom("10.0.0.2:1", "/metrics", "Bearer bad"); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, headers %v; want 429 and Retry-After", w.Code, w.Header())
	}
	for i := range 1000 {
		s.getFrom(fmt.Sprintf("10.1.%d.%d:1", i/250, i%250), "/metrics", fmt.Sprintf("Bearer evil-%d", i))
	}
	if n := s.tokens.Load() - before; n > 20 {
		t.Errorf("%d reviews at once, want at most 20", n)
	}
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	for i := range 1000 { // uses up the reviews that one minute allows again
		s.getFrom(fmt.Sprintf("10.1.%d.%d:1", i/250, i%250), "/metrics", fmt.Sprintf("Bearer vile-%d", i))
	}
	if got := s.get("/metrics", "Bearer good-1"); got != 200 {
		t.Errorf("a known client during the flood: %d, want 200", got)
	}
}

// TestATokenRotatesDuringAFlood: many addresses send unknown tokens all the time. Prometheus, whose last token was
// allowed, gets in with its next one at once. A client at a new address, and the token that guesses at Prometheus'
// address when its share is used up, do not.
func TestATokenRotatesDuringAFlood(t *testing.T) {
	s := newAPIServer()
	flood := func() {
		for i := range 1000 {
			s.getFrom(fmt.Sprintf("10.1.%d.%d:1", i/250, i%250), "/metrics", fmt.Sprintf("Bearer evil-%d", i))
		}
	}
	if w := s.getFrom("10.0.0.9:1", "/metrics", "Bearer good-1"); w.Code != 200 {
		t.Fatalf("before the flood: %d", w.Code)
	}
	for range 10 {
		flood()
		s.clock.SetTime(s.clock.Now().Add(30 * time.Second))
		flood()
		if w := s.getFrom("10.0.0.9:1", "/metrics", "Bearer good-1"); w.Code != 200 {
			t.Fatalf("during the flood: %d, want 200", w.Code)
		}
	}
	if w := s.getFrom("10.0.0.9:1", "/metrics", "Bearer good-2"); w.Code != 200 {
		t.Errorf("with the next token: %d, want 200", w.Code)
	}
	if w := s.getFrom("10.0.0.8:1", "/metrics", "Bearer good-3"); w.Code != 429 {
		t.Errorf("at an address from which no client was allowed: %d, want 429", w.Code)
	}
	before := s.tokens.Load()
	for i := range 1000 {
		s.getFrom("10.0.0.9:1", "/metrics", fmt.Sprintf("Bearer bad-%d", i))
	}
	if n := s.tokens.Load() - before; n > 10 {
		t.Errorf("%d reviews for the address of Prometheus at once, want at most 10", n)
	}
}

// TestManyValidTokensWithoutPermission: tokens of one owner are limited like others.
func TestManyValidTokensWithoutPermission(t *testing.T) {
	s := newAPIServer()
	for i := range 1000 {
		s.get("/metrics", fmt.Sprintf("Bearer poor-%d", i))
	}
	if n := s.tokens.Load() + s.access.Load(); n > 20 {
		t.Errorf("%d reviews, want at most 20", n)
	}
}

// TestRequestsShareReviews: the API server is slow, and many requests with the same tokens arrive. At most four reviews
// run at once, and a request that waited for its turn uses the answer for another one.
func TestRequestsShareReviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAPIServer()
		s.hold = make(chan struct{})
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() { s.getFrom(fmt.Sprintf("10.0.1.%d:1", i), "/metrics", fmt.Sprintf("Bearer good-%d", i%5)) })
		}
		synctest.Wait()
		if n := s.waiting.Load(); n != 4 {
			t.Errorf("%d reviews at once, want 4", n)
		}
		close(s.hold)
		all.Wait()
		if n := s.tokens.Load(); n < 5 || n > 4+5 {
			t.Errorf("%d reviews for 5 tokens, of which 4 ran before the first answer; want 5 to 9", n)
		}
	})
}

// TestASlowAPIServer: a client gets 503 after the time of a review, also one that waits for its turn.
func TestASlowAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAPIServer()
		s.hold = make(chan struct{})
		began := time.Now()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if got := s.get("/metrics", fmt.Sprintf("Bearer good-%d", i)); got != 503 {
					t.Errorf("got %d, want 503", got)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("it took %s, want 4s", took)
		}
	})
}

// TestAudiences: a server that does not know audiences, or a token for another one, is refused.
func TestAudiences(t *testing.T) {
	for _, c := range []struct {
		wanted, answered []string
		want             int
	}{
		{nil, nil, 200}, {nil, []string{"api"}, 200}, {[]string{"evenkeel"}, []string{"evenkeel"}, 200},
		{[]string{"evenkeel", "other"}, []string{"other"}, 200}, {[]string{"evenkeel"}, nil, 401}, {[]string{"evenkeel"}, []string{"api"}, 401},
	} {
		s := newAPIServer(c.wanted...)
		s.audiences = c.answered
		if got := s.get("/metrics", "Bearer good-1"); got != c.want {
			t.Errorf("audiences %v, answer %v: %d, want %d", c.wanted, c.answered, got, c.want)
		}
	}
}
