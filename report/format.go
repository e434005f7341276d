package report

import (
	"fmt"
	"strings"
)

// Format names an output format.
type Format string

const (
	Table Format = "table" // for people: the verdict, the changes, and why nothing more changes
	Wide  Format = "wide"  // Table with every line and every column
	JSON  Format = "json"  // the document itself: indented for a plan, one line for a run
	YAML  Format = "yaml"  // the same document with the same field order
)

// Formats lists the formats in the order in which help texts name them.
func Formats() []Format { return []Format{Table, Wide, JSON, YAML} }

// ParseFormat returns the format with that name. The error for an unknown name lists all formats.
func ParseFormat(name string) (Format, error) {
	var known []string
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
		known = append(known, string(f))
	}
	return "", fmt.Errorf("%q is not an output format (want one of %s)", name, strings.Join(known, ", "))
}

// Options are the settings that the caller passes for tables.
type Options struct {
	// Color adds terminal colours to Table and Wide. The caller checks the terminal and NO_COLOR.
	Color bool
	// Evicts reports that `evenkeel run` evicts with the configuration of this plan. The reported command did not evict.
	Evicts bool
}
