// Package state keeps a plan.PlannerState in ConfigMaps of our own, so that what
// was evicted and which workloads rest is known after a restart and to the next
// leader.
//
// It decides how the state is cut into ConfigMaps and that nothing is written over
// what another process wrote. It never decides what is remembered or for how long
// (planner/history does), and never makes a second attempt at a write without
// looking what became of the first.
package state
