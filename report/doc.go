// Package report writes plans and run reports for people and for programs.
//
// It decides only how a fact is worded and laid out: which lines a table shows,
// how a number reads, how a hostile name is made harmless. It never computes a
// prediction, never reads a clock or a terminal, and never leaves a fact out of
// the JSON and YAML forms: those are the plan itself, in its own field order.
package report
