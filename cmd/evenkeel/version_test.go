package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestReadsTheBuildInfo(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}
	var got build
	if got.read(info); got.Version != "v0.1.0" {
		t.Errorf("version %q, want that of the module", got.Version)
	}
	linked := build{Version: "v9"}
	if linked.read(info); linked.Version != "v9" {
		t.Errorf("the version that the linker set became %s", linked.Version)
	}
	devel := build{}
	if devel.read(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}); devel.Version != "" {
		t.Errorf("a build of a work tree has version %q", devel.Version)
	}
}

func TestVersions(t *testing.T) {
	client := build{Version: "v0.1.0", Revision: "1d81158c292bdcc7aeb7", GoVersion: "go1.26.1", Platform: "linux/arm64"}
	const clientText = "Client: v0.1.0, revision 1d81158c292b, go1.26.1, linux/arm64\n"
	for want, v := range map[string]versions{
		clientText: {Client: client},
		clientText + "Release: v0.0.9, in namespace ek, led by node-7\n": {Client: client,
			Release: &releaseInfo{Namespace: "ek", Version: "v0.0.9", Leader: "node-7"}},
		clientText + "Release: of an unknown version, in namespace ek, a dry run, led by node-7\n": {Client: client,
			Release: &releaseInfo{Namespace: "ek", Leader: "node-7", DryRun: true}},
		clientText + "Release: v0.0.9, in namespace ek, no leader now\n": {Client: client, Release: &releaseInfo{Namespace: "ek", Version: "v0.0.9"}},
		clientText + "Release: unknown: no release was found\n":          {Client: client, ReleaseError: "no release was found"},
	} {
		var out bytes.Buffer
		if err := v.write(&out, "text"); err != nil || out.String() != want {
			t.Errorf("got %q, %v; want %q", out.String(), err, want)
		}
		out.Reset()
		var back versions
		must.Succeed(t, v.write(&out, "json"))
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || cmp.Diff(v, back) != "" {
			t.Errorf("%v: %s", err, cmp.Diff(v, back))
		}
	}
}

// TestHoldersAreEscaped checks that the name of a holder, which whoever may write the Lease chooses, cannot control a
// terminal.
func TestHoldersAreEscaped(t *testing.T) {
	v := versions{Release: &releaseInfo{Namespace: "ek", Version: "v1\x1b[2J", Leader: "node\u009b31m\u202e\x1b]0;x\a"}, ReleaseError: "no\x1b[2J"}
	for _, format := range versionFormats {
		for _, v := range []versions{v, {ReleaseError: v.ReleaseError}} {
			var out bytes.Buffer
			must.Succeed(t, v.write(&out, format))
			if bytes.ContainsAny(out.Bytes(), "\x1b\a\u009b\u202e") {
				t.Errorf("%s: %q", format, out.String())
			}
		}
	}
}
