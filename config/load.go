// Package config reads config.yaml strictly. It reports every error at once, each with file, line, field, and what to
// write instead.
//
// It decides what a valid configuration is, and which defaults apply. It never decides what the values mean: it passes
// them as options to the packages that own them.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// maxBytes is the largest size of config.yaml, and of each file that it names.
const maxBytes = 1 << 20

// LoadFile reads and checks the file at path. The error lists everything that is wrong.
func LoadFile(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads and checks everything in r. The name is used in errors. Files that the configuration names are relative
// to the directory of name.
func Read(name string, r io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Load(name, data)
}

// Load decodes and checks a configuration. The name is used as in Read. If a value is wrong, Load returns both the
// configuration and an error; the configuration then only serves to find its ReferencedFiles.
func Load(name string, data []byte) (*Config, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxBytes)
	}
	root, err := strict.Parse(name, data)
	if errors.Is(err, strict.ErrEmpty) {
		return nil, fmt.Errorf("%w; `evenkeel config default` prints a commented one", err)
	}
	if err != nil {
		return nil, err
	}
	c := Default()
	d := strict.New(name, decodeOptions)
	d.Decode(root, c)
	check(c, d)
	return c, d.Err()
}

// readBoundedFile reads a regular file of at most maxBytes.
func readBoundedFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return data, err
}
