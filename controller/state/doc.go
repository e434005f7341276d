// Package state stores a plan.PlannerState in ConfigMaps, so that evictions and back-offs survive
// restarts and changes of the leader. The package also stores the pause that a user sets.
//
// The package decides how the state is split into ConfigMaps, and it never overwrites what another
// process wrote. Package planner/history decides what is stored and for how long. The package never
// repeats a write before it knows the outcome of the first attempt.
package state
