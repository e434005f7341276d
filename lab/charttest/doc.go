// Package charttest installs the chart with real helm into a real API server.
//
// It shows that the objects are admitted under the restricted Pod Security
// level, that the rights of the release are enough for a pass and no more than
// that, and that uninstalling leaves nothing. No container runs in the lab: the
// program runs as a local process with the release's configuration and token.
package charttest
