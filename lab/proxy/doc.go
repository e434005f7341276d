// Package proxy stands between a client and the API server and does what bad
// networks and overloaded servers do: it delays, refuses, loses, cuts short,
// answers with what was true a while ago, or falls silent.
//
// It decides, by a seed, which request fares how. It adds no credentials: who a
// client is stays the client's own.
package proxy
