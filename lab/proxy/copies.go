package proxy

import (
	"net/http"
	"sync"
	"time"
)

// ListCache keeps earlier list responses. Several proxies may share one.
type Copies struct {
	mu sync.Mutex
	m  map[string][]answer
}

type answer struct {
	at     time.Time
	header http.Header
	body   []byte
}

// maxResponses is the number of responses kept per list; the oldest is dropped first.
const keepCopies = 12

// NewListCache returns an empty cache.
func NewCopies() *Copies { return &Copies{m: map[string][]answer{}} }

// cacheKey is equal for list requests that differ only in resource version, limit or timeout.
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

// oldest returns the oldest response that is not older than max.
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
