package config

import (
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

// reservedHeaders are set by Evenkeel or by the HTTP client.
var reservedHeaders = []string{"Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Host",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent"}

// secretWords are parts of names of headers that carry secrets.
var secretWords = []string{"token", "secret", "password", "credential", "auth", "key", "cookie"}

// checkPrometheusCredentials checks how Evenkeel authenticates itself at Prometheus.
func checkPrometheusCredentials(p *Prometheus, d *strict.Decoder) {
	const path = "load.prometheus"
	b, o := p.BasicAuth, p.OAuth2
	var used []string
	for key, set := range map[string]bool{"tokenFile": p.TokenFile != "", "basicAuth": b != BasicAuth{},
		"oauth2": o.ClientID+o.ClientSecretFile+o.TokenURL != "" || len(o.Scopes) > 0} {
		if set {
			used = append(used, key)
		}
	}
	slices.Sort(used)
	switch {
	case len(used) > 1:
		d.Errorf(path, "%s exclude each other, because a query has one Authorization header (want one of them)", strings.Join(used, " and "))
	case slices.Contains(used, "basicAuth") && (b.Username == "" || b.PasswordFile == ""):
		d.Errorf(path+".basicAuth", "username and passwordFile belong together (want both, or none)")
	case strings.Contains(b.Username, ":"):
		d.Errorf(path+".basicAuth.username", "contains a colon, which ends the user name in basic authentication")
	case slices.Contains(used, "oauth2") && (o.ClientID == "" || o.ClientSecretFile == "" || o.TokenURL == ""):
		d.Errorf(path+".oauth2", "clientID, clientSecretFile and tokenURL belong together (want all, or none)")
	}
	checkAddress(d, path+".oauth2.tokenURL", o.TokenURL, false, "https://login.example.com/oauth2/token")
	spelled := map[string]string{} // the first spelling of each header
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		checkHeader(d, path+".headers."+name, name, p.Headers[name])
		key := textproto.CanonicalMIMEHeaderKey(name)
		if first, twice := spelled[key]; twice {
			d.Errorf(path+".headers."+name, "is the same header as %s; names of headers ignore case (want one of them)", first)
		} else {
			spelled[key] = name
		}
	}
}

// checkHeader checks a header that Evenkeel adds to queries.
func checkHeader(d *strict.Decoder, path, name, value string) {
	switch {
	case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		d.Errorf(path, "is not the name of a header (want letters, digits and dashes, such as X-Scope-OrgID)")
	case slices.Contains(reservedHeaders, textproto.CanonicalMIMEHeaderKey(name)):
		d.Errorf(path, "cannot be set; for credentials use tokenFile, basicAuth or oauth2")
	case slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(strings.ToLower(name), word) }):
		d.Errorf(path, "may be a secret, which every reader of the configuration would see; use tokenFile, basicAuth or oauth2")
	case value == "" || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		d.Errorf(path, "is not the value of a header (want one line of ASCII characters)")
	}
}

// PrometheusCredentials returns the options of a client for load.prometheus.
func (c *Config) PrometheusCredentials() fetch.Options {
	p, o := c.Load.Prometheus, c.Load.Prometheus.OAuth2
	out := fetch.Options{TokenFile: p.TokenFile, CAFile: p.CAFile, CertFile: p.CertFile, KeyFile: p.KeyFile,
		Username: p.BasicAuth.Username, PasswordFile: p.BasicAuth.PasswordFile, Headers: p.Headers}
	if o.ClientID != "" {
		out.OAuth2 = &fetch.OAuth2{ClientID: o.ClientID, ClientSecretFile: o.ClientSecretFile, TokenURL: o.TokenURL, Scopes: o.Scopes}
	}
	return out
}
