// Package helm pins the helm version that installs the chart in tests. The tests check which manifests the chart
// renders, and which values it refuses.
//
// The package is a separate module because helm needs a few hundred packages that the program and the lab do not need.
// No binary contains the package.
package helm
