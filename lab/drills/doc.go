// Package drills runs the shipped binary against a real control plane while
// things break: a faulty network, kill -9, leaders that are cut off, components
// that stop, credentials and permissions that go away. An independent witness
// (package witness) says afterwards what should not have happened.
//
// It decides what breaks and when, by a seed. It never forgives: what the witness
// finds is a failure.
package drills
