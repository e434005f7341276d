// Package quality holds the tests that prove how good plans are: against a lower
// bound, against the best there is, and against planning again on the result.
//
// It decides nothing and is not part of the program. The short form runs with
// all tests on a few clusters, most of them small; the long form (make quality) on
// hundreds. Both assert what is wanted.
package quality
