// Package checksums lists the files of a folder with their SHA-256, as the command sha256sum prints and checks them.
package checksums

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// File is the name of the list.
const File = "checksums.txt"

// Write writes the list into a folder. It lists all files of the folder by name, except itself and signatures. A
// folder in the folder is an error.
func Write(folder, signatureSuffix string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, e := range entries {
		if e.Name() == File || strings.HasSuffix(e.Name(), signatureSuffix) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return fmt.Errorf("computing a checksum: %w", err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, File), []byte(list.String()), 0o644)
}
