// Package drills runs the shipped binary against a real control plane while something breaks: the network, the
// process itself (kill -9), the leader's connection, a component, a credential or a permission. Package auditverifier
// then checks independently what the processes did.
//
// A seed decides what breaks and when. Every violation that the verifier finds fails the drill.
package drills
