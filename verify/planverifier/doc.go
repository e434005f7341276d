// Package planverifier judges a finished plan from outside: it replays the moves as
// calls of the Eviction API on native objects and names every guard, limit or
// budget that a call would break, in any prefix of the calls and in any order of
// those that share a wave. Check looks at the waves, each with all its calls at
// once; Replay has the calls answered one by one, as an API server and its
// disruption controller answer; After is the cluster that a plan leaves behind
// when it is broken off, from where the next one starts.
//
// It follows the reference documents and the rules of the API server, with code
// of its own: nothing that makes plans is used here, so that a mistake there is
// not repeated here. It decides whether a plan was allowed; it never makes one,
// and never says whether a plan is good.
package planverifier
