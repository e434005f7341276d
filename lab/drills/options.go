package drills

import (
	"io"
	"regexp"
)

// Options select what to run.
type Options struct {
	// Evenkeel and Kwok are the paths of the programs. Component is the command that runs one control plane component
	// (see controlplane.Options.Command).
	Evenkeel, Kwok string
	Component      []string
	// Run selects drills by name; nil selects all.
	Run *regexp.Regexp
	// Short runs a few repetitions of the cheap drills only.
	Short bool
	// Reps overrides the repetitions of every drill; 0 keeps each drill's own number.
	Reps int
	Seed uint64
	// Results is the file with the results of the drills that passed. Run skips the drills in this file. If Results is
	// empty, no file is used.
	Results string
	// Run writes the result table to Table and progress lines to Progress.
	Table, Progress io.Writer
	// Keep is a folder for the files of processes that violated a rule; if empty, the files are deleted.
	Keep string
}
