// Package helm pins the helm that installs the chart in tests, and tests the
// chart with it: what it renders, what it refuses.
//
// It is a module of its own because helm brings a few hundred packages that
// neither the program nor the lab needs. It decides nothing and is part of no
// binary.
package helm
