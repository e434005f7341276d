// Package config reads config.yaml strictly. It reports all mistakes at once, each with file, line, field, and a
// remedy.
//
// Package config decides which configurations are valid, and which defaults apply. It does not interpret the values,
// but passes them as options to the packages that own them.
package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// maxBytes is the largest size of config.yaml, and of each file that config.yaml refers to.
const maxBytes = 1 << 20

// LoadFile reads and checks the file at path. The error lists all mistakes in the file.
func LoadFile(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// LoadFileOnly reads and checks the file at path without the files to which it refers. Rules and
// profiles in those files are missing from the result.
func LoadFileOnly(path string) (*Config, error) {
	data, err := readBoundedFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	c := Default()
	c.skipReferencedFiles = true
	return load(path, data, c)
}

// Read reads and checks a configuration from r. Errors contain the given file name. Paths in the configuration are
// relative to the directory of that name.
func Read(name string, r io.Reader) (*Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return Load(name, data)
}

// Load decodes and checks a configuration; see Read for name. If a value is invalid, Load returns both an error and
// the configuration, which then only serves to find its ReferencedFiles.
func Load(name string, data []byte) (*Config, error) { return load(name, data, Default()) }

// LoadFrom is like Load, but reads the files to which the configuration refers with readFile.
func LoadFrom(name string, data []byte, readFile func(path string) ([]byte, error)) (*Config, error) {
	c := Default()
	c.readFile = readFile
	return load(name, data, c)
}

// readReferenced reads a file to which the configuration refers.
func (c *Config) readReferenced(path string) ([]byte, error) {
	if c.readFile == nil {
		return readBoundedFile(path)
	}
	data, err := c.readFile(path)
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return data, err
}

// load decodes a configuration into c, which holds the defaults.
func load(name string, data []byte, c *Config) (*Config, error) {
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
	if err := otherFormat(name, root); err != nil {
		return nil, err
	}
	d := strict.New(name, decodeOptions)
	c.text = textOf(root)
	d.Decode(expandPresets(root), c)
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
