package commit

import (
	"runtime/debug"
	"testing"
)

func TestChoose(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "1d81158c"},
		{Key: "vcs.time", Value: "2026-11-23T19:17:00Z"}, {Key: "vcs.modified", Value: "true"}}}
	linked := Commit{Revision: "abc", Time: "2026-01-02T03:04:05Z"}
	recorded := Commit{Revision: "1d81158c", Time: "2026-11-23T19:17:00Z", Modified: true}
	for name, c := range map[string]struct {
		linked Commit
		info   *debug.BuildInfo
		want   Commit
	}{
		"a build of the go command":      {Commit{}, info, recorded},
		"a release in a git repository":  {linked, info, linked},
		"a release":                      {linked, &debug.BuildInfo{}, linked},
		"a release without a build info": {linked, nil, linked},
		"a build without git":            {Commit{}, &debug.BuildInfo{}, Commit{}},
	} {
		if got := choose(c.linked, c.info); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
