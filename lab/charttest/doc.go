// Package charttest installs the chart with real helm into a real API server.
//
// The tests check that the restricted Pod Security level admits the objects, that the release has exactly the
// permissions that a pass needs, and that uninstalling removes every object. Because the lab runs no containers, the
// program runs as a local process with the release's configuration and token.
package charttest
