// Package planverifier checks a finished plan independently of the planner. The verifier executes the moves as
// Eviction API calls on Kubernetes objects. The verifier reports every guard, limit and budget that a call
// violates, for any prefix of the calls and any order of calls within a wave. Check verifies each wave as a whole.
// Replay answers the calls one by one, as an API server and its disruption controller do. ClusterAfter returns the
// cluster after an interrupted plan.
//
// The verifier implements the reference documentation and the rules of the API server with its own code. The
// verifier shares no code with the packages that make plans, so it does not repeat their mistakes. The verifier
// decides whether a plan is allowed. The verifier never makes a plan and never judges how good a plan is.
package planverifier
