// Package controllergen pins controller-gen, which makes the CustomResourceDefinitions of the chart from package
// api/v1alpha1, and checks that they are up to date.
package controllergen
