// Package access decides which clients may read the pages of the web server. It asks the API server who the owner of a
// bearer token is (TokenReview), and whether the owner may get the path (SubjectAccessReview).
//
// The package keeps the answers for a short time, and bounds how many requests it makes of the API server, whatever
// clients send. It keeps and logs no tokens.
package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
)

// How long answers of the API server are used. A token that was revoked is refused allowedTTL later at the latest.
const (
	allowedTTL = time.Minute
	deniedTTL  = 10 * time.Second
	// knownTTL is how long after its last review a client that was allowed counts as known.
	knownTTL = 10 * time.Minute
)

// reviewTimeout bounds the answer to one request of a client: the wait for its turn, and both reviews.
const reviewTimeout = 4 * time.Second

const (
	// maxAllowed and maxDenied bound the number of answers that are kept. Tokens that are refused do not displace
	// answers for others.
	maxAllowed, maxDenied = 256, 1024
	// maxReviews bounds the reviews at once, of known clients and of others.
	maxReviews = 4
	// maxAddresses bounds the number of client addresses whose requests are counted.
	maxAddresses = 1024
)

// The limits of reviews for tokens that are not known: in total, and for each address. Prometheus asks twice a minute
// at most, so that a client that guesses tokens does not use up the reviews of others.
const (
	totalPerSecond, totalBurst     = 10, 20
	addressPerSecond, addressBurst = 1, 10
	// reservedPerSecond and reservedBurst bound the reviews for addresses from which a client was allowed lately.
	// Others cannot use them up, so that a client gets in although its token has just changed.
	reservedPerSecond, reservedBurst = 5, 10
)

// warningInterval is the least time between two warnings that the API server does not answer.
const warningInterval = time.Minute

// Reviewer implements web.Authorizer. It is safe for concurrent use.
type Reviewer struct {
	client    kubernetes.Interface
	audiences []string
	clock     clock.PassiveClock
	log       *slog.Logger

	salt            []byte                // of the keys of the caches
	allowed, denied *cache.LRUExpireCache // answers by key
	addresses       *cache.LRUExpireCache // *rate.Limiter by address
	total, reserved *rate.Limiter
	lately          *cache.LRUExpireCache // addresses from which a client was allowed
	known, unknown  chan struct{}         // turns of reviews
	warnings        rate.Sometimes
}

// answer is what a client gets: 200, 401 or 403.
type answer struct {
	status int
	until  time.Time
}

// New returns a Reviewer. Tokens must be for one of the audiences; without audiences, for the API server.
func New(client kubernetes.Interface, audiences []string, c clock.PassiveClock, log *slog.Logger) *Reviewer {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // never fails
	return &Reviewer{client: client, audiences: audiences, clock: c, log: log, salt: salt,
		allowed: cache.NewLRUExpireCacheWithClock(maxAllowed, c), denied: cache.NewLRUExpireCacheWithClock(maxDenied, c),
		addresses: cache.NewLRUExpireCacheWithClock(maxAddresses, c), total: rate.NewLimiter(totalPerSecond, totalBurst),
		reserved: rate.NewLimiter(reservedPerSecond, reservedBurst), lately: cache.NewLRUExpireCacheWithClock(maxAllowed, c),
		known: make(chan struct{}, maxReviews), unknown: make(chan struct{}, maxReviews), warnings: rate.Sometimes{Interval: warningInterval}}
}

var messages = map[int]string{
	http.StatusUnauthorized:       "want a bearer token that the API server of this cluster accepts",
	http.StatusForbidden:          "the owner of the token may not get this path (want a ClusterRole with nonResourceURLs and the verb get)",
	http.StatusTooManyRequests:    "too many tokens were checked; try again later",
	http.StatusServiceUnavailable: "the token cannot be checked now, because the API server does not answer; try again later",
}

// Authorize returns a handler that calls h only for clients whose bearer token the API server knows, and whose owner
// may get the path. Other clients get 401 or 403, 503 if the API server does not answer, and 429 if they send too many
// tokens that are not known.
func (a *Reviewer) Authorize(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusUnauthorized
		if token, ok := bearerToken(r); ok {
			status = a.check(r.Context(), address(r), token, path)
		}
		if status == http.StatusOK {
			a.lately.Add(address(r), true, knownTTL)
			h.ServeHTTP(w, r)
			return
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="evenkeel"`)
		} else if status != http.StatusForbidden {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, messages[status], status)
	})
}

// bearerToken returns the token of the header Authorization. A token consists of printable ASCII characters.
func bearerToken(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	odd := strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' })
	return token, strings.EqualFold(scheme, "Bearer") && token != "" && !odd
}

// address returns the IP address of the client.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// check returns the status for a client: 200, 401, 403, 429 or 503.
func (a *Reviewer) check(ctx context.Context, from, token, path string) int {
	key := a.key(token, path)
	known, status := a.remembered(key)
	if status != 0 {
		return status
	}
	turns := a.known
	if !known {
		total := a.reserved
		if _, lately := a.lately.Get(from); !lately {
			turns, total = a.unknown, a.total
		}
		if !a.limiter(from).AllowN(a.clock.Now(), 1) || !total.AllowN(a.clock.Now(), 1) {
			return http.StatusTooManyRequests
		}
	}
	// A client that does not wait for its answer must not make the next one ask again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
	defer cancel()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
	if _, status := a.remembered(key); status != 0 { // another request asked the same while this one waited
		return status
	}
	status, err := a.review(ctx, token, path)
	if err != nil {
		a.warn(err)
		return http.StatusServiceUnavailable
	}
	a.remember(key, status)
	return status
}

// key returns the key of a token and a path in the caches. The token cannot be found from it.
func (a *Reviewer) key(token, path string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, a.salt)
	fmt.Fprintf(mac, "%s\x00%s", path, token)
	return [sha256.Size]byte(mac.Sum(nil))
}

// remembered returns the answer that was kept, or 0, and whether the client was allowed lately.
func (a *Reviewer) remembered(key [sha256.Size]byte) (known bool, status int) {
	if v, ok := a.denied.Get(key); ok {
		return false, v.(answer).status
	}
	v, known := a.allowed.Get(key)
	if known && a.clock.Now().Before(v.(answer).until) {
		return true, http.StatusOK
	}
	return known, 0
}

// remember keeps an answer.
func (a *Reviewer) remember(key [sha256.Size]byte, status int) {
	if status == http.StatusOK {
		a.allowed.Add(key, answer{status, a.clock.Now().Add(allowedTTL)}, knownTTL)
		return
	}
	a.allowed.Remove(key)
	a.denied.Add(key, answer{status: status}, deniedTTL)
}

// limiter returns the limiter of an address.
func (a *Reviewer) limiter(of string) *rate.Limiter {
	if l, ok := a.addresses.Get(of); ok {
		return l.(*rate.Limiter)
	}
	l := rate.NewLimiter(addressPerSecond, addressBurst)
	a.addresses.Add(of, l, knownTTL)
	return l
}

// warn logs that the API server did not answer, at most once a minute.
func (a *Reviewer) warn(err error) {
	a.warnings.Do(func() {
		a.log.Warn("clients get 503, because their tokens cannot be checked", "error", err)
	})
}
