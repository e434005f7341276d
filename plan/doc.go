// Package plan holds the data that flows through Evenkeel: goals, moves,
// rejections, plans, run reports and planner state, with a stable JSON form.
//
// It decides nothing: it gives names and shapes to what strategies ask for,
// what the planner answers and what the evictor did, and fixes how floats are
// rounded and lists are ordered, so that the same plan is always the same
// bytes. It never reads a clock, a client or the environment.
package plan
