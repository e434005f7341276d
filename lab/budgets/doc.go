// Package budgets compares the arithmetic of planner/eligibility/budget with the real disruption controller and
// eviction handler.
//
// Its tests create random PodDisruptionBudgets, owners and pods. First, the tests compare Evenkeel's pod counts with
// the controller's status. Then the tests evict pod after pod, and compare Evenkeel's answer with the server's each
// time. The server must allow every eviction that Evenkeel allows. Evenkeel may refuse what the server allows only in
// the documented cases, which docs/reference/safety.md lists with their counts.
package budgets
