// Package passes runs the planner on a simulated cluster, pass after pass. Between passes the cluster changes:
// requests vary, Deployments roll out and scale, nodes join and leave. The planner keeps its state between passes.
//
// All changes derive from a seed. The package counts what the planner does, and its tests judge the result. The
// simulation is not part of the program.
//
// Simplifications: replacements land with the probabilities that package placement predicts, so the simulation
// does not test predictions. Each replacement is Ready at once. Rollouts and scalings happen between two passes.
package passes
