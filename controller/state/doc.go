// Package state stores a plan.PlannerState in ConfigMaps, so that evictions and back-offs survive
// restarts and changes of the leader. It also stores the pause that people set.
//
// It decides how the state is split into ConfigMaps, and it never overwrites what another process
// wrote. It never decides what is stored or for how long: planner/history does. It never repeats a
// write before it knows the outcome of the first attempt.
package state
