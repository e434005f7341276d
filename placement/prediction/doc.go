// Package prediction holds the result of a prediction: the nodes on which a replacement may land,
// and the probability of each. The package never computes a prediction.
package prediction
