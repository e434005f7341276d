package proxy

import (
	"net/http"
	"sync"
	"time"
)

// ListCache keeps earlier list responses. Several proxies may share one.
type ListCache struct {
	mu        sync.Mutex
	responses map[string][]cachedResponse
}

type cachedResponse struct {
	at     time.Time
	header http.Header
	body   []byte
}

// maxResponses is the number of cached responses per list.
const maxResponses = 12

// NewListCache returns an empty cache.
func NewListCache() *ListCache { return &ListCache{responses: map[string][]cachedResponse{}} }

// cacheKey returns a key that list requests share if they differ only in resource version, limit or timeout.
func cacheKey(r *http.Request) string {
	q := r.URL.Query()
	for _, k := range []string{"resourceVersion", "resourceVersionMatch", "limit", "timeoutSeconds"} {
		q.Del(k)
	}
	return r.URL.Path + "?" + q.Encode() + " " + r.Header.Get("Accept") + " " + r.Header.Get("Accept-Encoding")
}

func (c *ListCache) addResponse(r *http.Request, header http.Header, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := cacheKey(r)
	c.responses[k] = append(c.responses[k], cachedResponse{time.Now(), header.Clone(), body})
	if n := len(c.responses[k]); n > maxResponses {
		c.responses[k] = c.responses[k][n-maxResponses:]
	}
}

// oldestResponse returns the oldest response that is not older than max.
func (c *ListCache) oldestResponse(r *http.Request, max time.Duration) (cachedResponse, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.responses[cacheKey(r)] {
		if time.Since(a.at) <= max {
			return a, true
		}
	}
	return cachedResponse{}, false
}
