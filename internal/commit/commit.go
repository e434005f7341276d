// Package commit says from which commit this program was built. The linker sets the commit in releases. Other builds
// have it from the go command, which records it if the source is a git repository.
package commit

import "runtime/debug"

// Set by the linker: the commit, its date, and "true" if the source differed from the commit.
var revision, date, modified string

// Commit is a state of the source.
type Commit struct {
	Revision string // the hash, or "" if it is not known
	Time     string // the date in the format RFC 3339, or ""
	// Modified reports whether the source differed from the commit.
	Modified bool
}

// OfProgram returns the commit of this program.
func OfProgram() Commit {
	info, _ := debug.ReadBuildInfo()
	return choose(Commit{Revision: revision, Time: date, Modified: modified == "true"}, info)
}

// choose returns the commit that the linker set, or else the commit in the build info, which may be nil.
func choose(linked Commit, info *debug.BuildInfo) Commit {
	if linked.Revision != "" || info == nil {
		return linked
	}
	var c Commit
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			c.Revision = s.Value
		case "vcs.time":
			c.Time = s.Value
		case "vcs.modified":
			c.Modified = s.Value == "true"
		}
	}
	return c
}
