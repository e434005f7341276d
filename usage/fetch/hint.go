package fetch

import "net/http"

// AuthHint returns text that says how to fix a 401 or 403 status, for the end of an error message. The text is
// empty for other statuses. It names the configuration key of the credential that the client uses.
func AuthHint(c *http.Client, status int) string {
	var o Options
	if c != nil {
		if t, ok := c.Transport.(*transport); ok {
			o = t.opts
		}
	}
	owner, credential := "the account of the token in tokenFile", "the token in tokenFile"
	switch {
	case o.OAuth2 != nil:
		owner, credential = "the client in oauth2", "the token of the client in oauth2"
	case o.PasswordFile != "":
		owner, credential = "the user in basicAuth", "the user and the password in basicAuth"
	case o.TokenFile == "":
		return anonymousHint(status)
	}
	switch status {
	case http.StatusUnauthorized:
		return "; the server does not accept " + credential
	case http.StatusForbidden:
		return "; the account may not read this: grant access to " + owner
	}
	return ""
}

// anonymousHint is AuthHint for a client without credentials.
func anonymousHint(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "; the server requires authentication: set tokenFile to a file with a valid token"
	case http.StatusForbidden:
		return "; clients without credentials may not read this: set tokenFile to a file with a valid token"
	}
	return ""
}
