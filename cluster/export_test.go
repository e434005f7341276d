package cluster

// PlainRequests sums up what one pod asks for, without regard to others.
var PlainRequests = effectiveRequests
