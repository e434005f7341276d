// Package proxy is a fault-injecting proxy between a client and the API server. It acts like a bad network or an
// overloaded server: it delays, refuses, drops or truncates responses, serves outdated lists, and lets watches fall
// silent.
//
// A seed decides which request gets which fault. The proxy adds no credentials; the client's own are forwarded.
package proxy
