package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth2 are the credentials with which a client gets tokens from a token server (grant type client_credentials).
type OAuth2 struct {
	ClientID         string
	ClientSecretFile string
	TokenURL         string
	Scopes           []string
}

// maxTokenBytes bounds the answer of a token server.
const maxTokenBytes = 1 << 20

// authorize adds the headers and the credentials to a request. It reads files again for each request.
func (t *transport) authorize(r *http.Request, tokenServer http.RoundTripper) error {
	for name, value := range t.opts.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", "evenkeel")
	switch {
	case t.opts.OAuth2 != nil:
		token, err := t.tokens.get(r.Context(), t.opts.OAuth2, tokenServer)
		if err != nil {
			return err
		}
		token.SetAuthHeader(r)
	case t.opts.PasswordFile != "":
		password, err := readSecret("the password", t.opts.PasswordFile)
		if err != nil {
			return err
		}
		r.SetBasicAuth(t.opts.Username, password)
	case t.opts.TokenFile != "":
		token, err := t.readToken()
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// checkFiles reads the files with secrets once.
func (t *transport) checkFiles() error {
	if _, err := t.readToken(); err != nil {
		return err
	}
	if t.opts.PasswordFile != "" {
		if _, err := readSecret("the password", t.opts.PasswordFile); err != nil {
			return err
		}
	}
	if t.opts.OAuth2 != nil {
		if _, err := readSecret("the client secret", t.opts.OAuth2.ClientSecretFile); err != nil {
			return err
		}
	}
	return nil
}

// readSecret returns the content of a file without the line ends at its end.
func readSecret(what, file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", what, err)
	}
	secret := strings.TrimRight(string(b), "\r\n")
	if secret == "" || strings.ContainsAny(secret, "\r\n") {
		return "", fmt.Errorf("%s does not contain %s (want one line)", file, what)
	}
	return secret, nil
}

// tokenCache keeps a token until it expires or the server rejects it. It is safe for concurrent use.
type tokenCache struct {
	mu    sync.Mutex
	token *oauth2.Token
}

// get returns a valid token. If there is none yet, get asks the token server.
func (c *tokenCache) get(ctx context.Context, o *OAuth2, tokenServer http.RoundTripper) (*oauth2.Token, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token.Valid() {
		return c.token, nil
	}
	secret, err := readSecret("the client secret", o.ClientSecretFile)
	if err != nil {
		return nil, err
	}
	conf := clientcredentials.Config{ClientID: o.ClientID, ClientSecret: secret, TokenURL: o.TokenURL, Scopes: o.Scopes}
	client := &http.Client{Transport: LimitResponses(tokenServer, maxTokenBytes)}
	token, err := conf.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return nil, tokenError(err)
	}
	c.token = token
	return token, nil
}

// forget drops a token that the server rejected.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = nil
}

// tokenError describes why there is no token. The error of the library contains the answer of the token server.
func tokenError(err error) error {
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) && answer.Response != nil {
		return badAnswer(fmt.Sprintf("the token server answers %d; check load.prometheus.oauth2", answer.Response.StatusCode))
	}
	return fmt.Errorf("asking the token server: %w", err)
}
