// Package report writes plans, run reports and explanations for people and for
// programs.
//
// It decides how facts are worded and laid out: which lines a table shows, how
// numbers are rounded, and how unsafe characters are escaped. It never computes
// a prediction and never reads a clock or a terminal. The JSON and YAML forms
// contain every field of the document, in the order of the Go types.
package report
