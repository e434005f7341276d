// Package e2e tests the shipped binary on a real cluster with a real API server and scheduler. It verifies the
// evictions with the audit log of the API server.
package e2e
