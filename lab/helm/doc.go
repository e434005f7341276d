// Package helm pins the helm version that installs the chart in tests. Its tests check what the chart renders and
// refuses.
//
// It is a separate module because helm needs a few hundred packages that the program and the lab do not need. It is
// part of no binary.
package helm
