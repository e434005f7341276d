// Package loadwatcher reads the usage of nodes from a load-watcher, and defines its JSON format.
//
// The package decides which parts of an answer are plausible. The package serves no answers itself; servers use
// its types.
package loadwatcher
