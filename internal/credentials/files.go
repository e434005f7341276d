package credentials

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/client-go/rest"
)

// maxBytes is the largest size of a file. A bundle of all public authorities has about 250 kB.
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
		data, err := readSmallFile(file)
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

func readSmallFile(file string) ([]byte, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s is larger than %d bytes", file, maxBytes)
	}
	return data, err
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
	const begin = "-----BEGIN"
	want, found := bytes.Count(data, []byte(begin)), 0
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		want--
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("certificate authority: a certificate in %s cannot be read: %w", describeFile(file), err)
		}
		found++
	}
	switch {
	case found == 0:
		return fmt.Errorf("certificate authority: %s contains no certificate (want PEM)", describeFile(file))
	case want != 0:
		return fmt.Errorf("certificate authority: a certificate in %s is truncated", describeFile(file))
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
	for _, r := range text {
		if r <= ' ' || r >= 0x7f {
			return fmt.Errorf("token: %s does not contain a token (want visible ASCII)", describeFile(file))
		}
	}
	return nil
}
