package cluster

// RequestsWithoutCache computes the requests of one pod without a cache.
var RequestsWithoutCache = effectiveRequests
