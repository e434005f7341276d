// Package filter decides which nodes may take a replacement, one filter of
// kube-scheduler a file. It never scores.
package filter
