// Package loadwatcher reads the usage of nodes from a load-watcher, and defines its JSON
// format.
//
// It decides which parts of an answer are plausible. It never serves an answer: servers use the
// types of this package.
package loadwatcher
