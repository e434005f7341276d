// Package e2e tests the shipped binary with a real API server and scheduler. The tests verify the evictions with the
// audit log of the API server.
package e2e
