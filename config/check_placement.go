package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// checkPlacement reads the files of the section placement and sets c.placementProfiles.
func checkPlacement(c *Config, d *strict.Decoder) {
	c.placementProfiles = map[string]scheduler.Profile{}
	if file := c.Placement.SchedulerConfig; file != "" {
		path, data, ok := readReferencedFile(c, d, "placement.schedulerConfig", file)
		if ok {
			profiles, err := schedulerconfig.Load(path, data)
			if err != nil {
				d.AddFileError(err)
			}
			maps.Copy(c.placementProfiles, profiles)
		}
	}
	for i := range c.Placement.Profiles {
		p, path := &c.Placement.Profiles[i], fmt.Sprintf("placement.profiles[%d]", i)
		if p.SchedulerName == "" {
			d.Errorf(path+".schedulerName", "is missing (want the schedulerName of the pods)")
		} else if _, twice := c.placementProfiles[p.SchedulerName]; twice {
			d.Errorf(path+".schedulerName", "%s already has a profile, here or in schedulerConfig", p.SchedulerName)
		}
		c.placementProfiles[p.SchedulerName] = p.Model(d, path)
	}
	if t := c.Placement.Trust; t != 0 {
		checkFraction(d, "placement.trust", t)
	}
}

// readReferencedFile reads a file. A relative path starts at the directory of the configuration. If ok is false, the
// content is missing, and the error was reported unless the file was not wanted.
func readReferencedFile(c *Config, d *strict.Decoder, field, file string) (path string, data []byte, ok bool) {
	if c.skipReferencedFiles {
		return file, nil, false
	}
	path = file
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.File()), file)
	}
	c.referencedFiles = append(c.referencedFiles, path)
	data, err := c.readReferenced(path)
	if err != nil {
		d.Errorf(field, "cannot be read: %v", err)
		return path, nil, false
	}
	sum := sha256.Sum256(data)
	c.fileDigests = append(c.fileDigests, hex.EncodeToString(sum[:]))
	return path, data, true
}
