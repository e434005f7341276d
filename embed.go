// Package evenkeel embeds the default configuration file and the page about reason codes. Package config parses the
// file.
package evenkeel

import _ "embed"

// DefaultConfig is the text of config.yaml, with its comments.
//
//go:embed config.yaml
var DefaultConfig []byte

// ReasonsPage is the text of docs/reference/reasons.md, which explains every reason code.
//
//go:embed docs/reference/reasons.md
var ReasonsPage string
