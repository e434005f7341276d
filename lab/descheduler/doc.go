// Package descheduler compares Evenkeel with kubernetes-sigs/descheduler, which runs from its own
// module.
//
// The tests check that the converter of policies accounts for each field of the descheduler's
// types, that it converts the policies that the descheduler publishes, and that the converted
// policies repair at least as much with no more evictions. The package contains only tests, because
// no program may depend on the descheduler.
package descheduler
