// Package loadwatcher asks a load-watcher what nodes use, and knows the form in
// which one answers.
//
// It decides what of an answer can be believed. It never serves one: whoever does
// uses the types of this package.
package loadwatcher
