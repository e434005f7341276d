// Package planverifier checks a finished plan independently of the planner. It
// executes the moves as calls of the Eviction API on native objects and reports
// every guard, limit and budget that a call breaks, in any prefix of the calls and
// in any order of calls within a wave. Check checks each wave with all of its
// calls. Replay answers the calls one by one, as an API server and its disruption
// controller do. ClusterAfter returns the cluster after an interrupted plan.
//
// It follows the reference documents and the rules of the API server, with its own
// code. It does not use the packages that make plans, so it does not repeat their
// mistakes. It decides whether a plan is allowed. It never makes a plan and never
// judges whether a plan is good.
package planverifier
