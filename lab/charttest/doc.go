// Package charttest installs the chart with real helm into a real API server.
//
// It checks that the restricted Pod Security level admits the objects, that the release has exactly the permissions
// that a pass needs, and that uninstalling leaves nothing. The lab runs no containers: the program runs as a local
// process with the release's configuration and token.
package charttest
