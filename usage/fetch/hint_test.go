package fetch

import (
	"net/http"
	"testing"
)

// TestAuthHintNamesTheCredential checks that the advice is about the credential that the client uses.
func TestAuthHintNamesTheCredential(t *testing.T) {
	const none = "; the server requires authentication: set tokenFile to a file with a valid token"
	for _, c := range []struct {
		opts                    Options
		unauthorized, forbidden string
	}{
		{Options{}, none, "; clients without credentials may not read this: set tokenFile to a file with a valid token"},
		{Options{TokenFile: writeFile(t, "token", "a")}, "; the server does not accept the token in tokenFile",
			"; the account may not read this: grant access to the account of the token in tokenFile"},
		{Options{Username: "me", PasswordFile: writeFile(t, "password", "a")}, "; the server does not accept the user and the password in basicAuth",
			"; the account may not read this: grant access to the user in basicAuth"},
		{Options{OAuth2: &OAuth2{ClientID: "me", ClientSecretFile: writeFile(t, "secret", "a"), TokenURL: "http://127.0.0.1:1"}},
			"; the server does not accept the token of the client in oauth2", "; the account may not read this: grant access to the client in oauth2"},
	} {
		client := newTestClient(t, c.opts)
		for status, want := range map[int]string{http.StatusUnauthorized: c.unauthorized, http.StatusForbidden: c.forbidden, http.StatusOK: "",
			http.StatusBadGateway: ""} {
			if got := AuthHint(client, status); got != want {
				t.Errorf("%+v: the hint for %d is %q, want %q", c.opts, status, got, want)
			}
		}
	}
	if got := AuthHint(http.DefaultClient, http.StatusUnauthorized) + AuthHint(nil, http.StatusUnauthorized); got != none+none {
		t.Errorf("of another client: %q", got)
	}
}
