package cluster

// PlainRequests computes the requests of one pod without a cache.
var PlainRequests = effectiveRequests
