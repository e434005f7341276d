package sbom

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"slices"
)

// CheckSameModules returns an error unless two programs link the same versions of the same modules.
func CheckSameModules(a, b []byte) error {
	first, err := buildinfo.Read(bytes.NewReader(a))
	if err != nil {
		return err
	}
	second, err := buildinfo.Read(bytes.NewReader(b))
	if err != nil {
		return err
	}
	return compareModules(first, second)
}

func compareModules(a, b *debug.BuildInfo) error {
	first, second := modules(a), modules(b)
	for _, m := range first {
		if !slices.Contains(second, m) {
			return fmt.Errorf("only one of two programs links %s", m)
		}
	}
	for _, m := range second {
		if !slices.Contains(first, m) {
			return fmt.Errorf("only one of two programs links %s", m)
		}
	}
	return nil
}

// modules returns the path and version of every module, replacements applied, and the version of Go.
func modules(info *debug.BuildInfo) []string {
	out := []string{info.GoVersion}
	for _, m := range info.Deps {
		m = cmp.Or(m.Replace, m)
		out = append(out, m.Path+" "+m.Version)
	}
	return out
}
