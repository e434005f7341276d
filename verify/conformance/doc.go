// Package conformance compares plans with recorded evictions of the descheduler.
//
// Each case under testdata holds objects, one plugin with its arguments, and the pods that the
// plugin evicted. The tests convert the policy of the case, plan for the completed objects, and
// compare the evictions. Each difference needs a trait: a known difference in behavior whose
// condition holds in the case. docs/reference/descheduler-differences.md describes the traits.
//
// The package holds only tests. It never judges whether a policy is converted completely.
package conformance
