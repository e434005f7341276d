// Package window keeps samples for a while and says what they come to: a statistic
// over a window, and which nodes have been above a level for how long.
//
// It decides what "hot" means over time. It never asks a source and never reads a
// clock.
package window
