package proxy

import (
	"net/http"
	"sync"
	"time"
)

// Copies are lists as they were answered some time ago. Several proxies may
// share them.
type Copies struct {
	mu sync.Mutex
	m  map[string][]answer
}

type answer struct {
	at     time.Time
	header http.Header
	body   []byte
}

// keep so many of each list; the oldest go first.
const keepCopies = 12

// NewCopies has none.
func NewCopies() *Copies { return &Copies{m: map[string][]answer{}} }

// key is the same for lists that differ in the version they ask for.
func key(r *http.Request) string {
	q := r.URL.Query()
	for _, k := range []string{"resourceVersion", "resourceVersionMatch", "limit", "timeoutSeconds"} {
		q.Del(k)
	}
	return r.URL.Path + "?" + q.Encode() + " " + r.Header.Get("Accept") + " " + r.Header.Get("Accept-Encoding")
}

func (c *Copies) put(r *http.Request, header http.Header, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(r)
	c.m[k] = append(c.m[k], answer{time.Now(), header.Clone(), body})
	if n := len(c.m[k]); n > keepCopies {
		c.m[k] = c.m[k][n-keepCopies:]
	}
}

// old is the oldest copy that is not older than max.
func (c *Copies) old(r *http.Request, max time.Duration) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.m[key(r)] {
		if time.Since(a.at) <= max {
			return a, true
		}
	}
	return answer{}, false
}
