// Package proxy is a fault-injecting proxy between a client and the API server. The proxy acts like a bad network or an
// overloaded server: it delays, refuses, drops or truncates responses, serves outdated lists, and silences watches.
//
// A seed determines which request gets which fault. The proxy adds no credentials, but forwards the client's
// credentials.
package proxy
