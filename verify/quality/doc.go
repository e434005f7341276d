// Package quality holds the tests of plan quality. They compare plans with a lower bound,
// with the optimum, and with a second plan on the result.
//
// It decides nothing and is not part of the program. The short form runs with all tests on
// a few, mostly small clusters. The long form (make quality) runs on hundreds. Both assert
// the criteria.
package quality
