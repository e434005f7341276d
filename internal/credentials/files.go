package credentials

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/evenkeel-project/evenkeel/internal/reload"
)

// maxBytes limits the size of a file. A bundle of all public authorities has about 250 kB.
const maxBytes = 1 << 20

// loadFiles returns a copy of conf that contains the data of the files it names, and the names
// of these files.
func loadFiles(conf *rest.Config) (*rest.Config, []string, error) {
	c := rest.CopyConfig(conf)
	var files []string
	var errs []error
	read := func(what, file string, data []byte) []byte {
		if len(data) > 0 || file == "" {
			return data
		}
		files = append(files, file)
		data, err := reload.ReadFile(file, maxBytes)
		if err == nil && len(bytes.TrimSpace(data)) == 0 {
			err = fmt.Errorf("%s is empty", file)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
		return data
	}
	c.CAData = read("certificate authority", c.CAFile, c.CAData)
	c.CertData = read("client certificate", c.CertFile, c.CertData)
	c.KeyData = read("client key", c.KeyFile, c.KeyData)
	if c.BearerTokenFile != "" { // client-go prefers the file to an inline token
		c.BearerToken = strings.TrimSpace(string(read("token", c.BearerTokenFile, nil)))
	}
	if len(errs) == 0 {
		errs = append(errs, checkCA(c.CAData, conf.CAFile), checkKeyPair(c, conf), checkToken(c.BearerToken, conf.BearerTokenFile))
	}
	c.CAFile, c.CertFile, c.KeyFile, c.BearerTokenFile = "", "", "", ""
	return c, files, errors.Join(errs...)
}

func describeFile(file string) string {
	if file == "" {
		return "the kubeconfig"
	}
	return file
}

// checkCA returns an error unless every certificate in the bundle is complete. client-go skips
// a truncated certificate without an error.
func checkCA(data []byte, file string) error {
	if len(data) == 0 {
		return nil
	}
	found, err := cert.ParseCertsPEM(data)
	if err == nil && len(found) < bytes.Count(data, []byte("-----BEGIN CERTIFICATE-----")) {
		err = errors.New("a certificate is truncated")
	}
	if err != nil {
		return fmt.Errorf("certificate authority: %s: %w", describeFile(file), err)
	}
	return nil
}

func checkKeyPair(c, conf *rest.Config) error {
	if len(c.CertData) == 0 && len(c.KeyData) == 0 {
		return nil
	}
	if _, err := tls.X509KeyPair(c.CertData, c.KeyData); err != nil {
		return fmt.Errorf("client certificate %s and key %s: %w", describeFile(conf.CertFile), describeFile(conf.KeyFile), err)
	}
	return nil
}

// checkToken returns an error unless text can be a header value (RFC 6750: visible ASCII).
func checkToken(text, file string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("token: %s does not contain a token (want visible ASCII)", describeFile(file))
	}
	return nil
}
