// Package budgets compares the arithmetic of planner/eligibility/budget with the real disruption controller and
// eviction handler.
//
// Its tests create random PodDisruptionBudgets, owners and pods. They compare the book's count of the pods with the
// controller's status. Then they ask the book pod by pod while they really evict, and compare each answer. The server
// must allow what Evenkeel allows. If Evenkeel refuses what the server allows, it must be one of the documented cases
// in documented_test.go; docs/reference/budgets.md lists them with their counts.
package budgets
