// Package evenkeel embeds the default configuration file. Package config parses the file.
package evenkeel

import _ "embed"

// DefaultConfig is the text of config.yaml, with its comments.
//
//go:embed config.yaml
var DefaultConfig []byte
