// Package drills runs the shipped binary against a real control plane while something breaks: the network, the process
// itself (kill -9), the leader's connection, a component, a credential or a permission. After each drill, package
// auditverifier checks independently what the processes did.
//
// A seed determines all failures and their times. A drill fails if the verifier finds a violation.
package drills
