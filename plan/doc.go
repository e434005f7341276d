// Package plan defines the data that flows through Evenkeel: goals, moves, rejections,
// plans, run reports and planner state. The JSON form is stable.
//
// It decides nothing. It rounds floats and orders lists, so equal plans have equal bytes.
// It never reads a clock, a client or the environment.
package plan
