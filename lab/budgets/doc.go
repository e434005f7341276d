// Package budgets holds the arithmetic of planner/eligibility/budget to the real disruption
// controller and the real eviction handler.
//
// It decides nothing; its tests make random PodDisruptionBudgets, owners and
// pods, compare what the book makes of the pods alone with what the controller
// has written, then ask the book pod by pod while they really evict, and compare
// each answer. What we allow the server must allow. What we refuse and the server
// allows must be one of the documented cases in explain_test.go, which
// docs/reference/budgets.md lists with their counts.
package budgets
