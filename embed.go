// Package evenkeel embeds the default configuration file. It decides nothing: package config reads the file.
package evenkeel

import _ "embed"

// DefaultConfig is the text of config.yaml, with its comments.
//
//go:embed config.yaml
var DefaultConfig []byte
