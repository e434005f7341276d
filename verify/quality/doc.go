// Package quality holds the tests of plan quality. The tests compare plans with a lower bound, with
// the optimum, and with a second plan for the resulting cluster.
//
// The package is not part of the program. The short form runs with all other tests on a few clusters, most of them
// small. The long form (make quality) runs on hundreds of clusters. Both forms assert the same criteria.
package quality
