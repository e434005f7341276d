package image

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// AuthoritiesModule is the module whose certificates are in the image.
const AuthoritiesModule = "golang.org/x/crypto/x509roots/fallback"

// authorities returns Mozilla's certificate authorities as PEM. An authority that Mozilla trusts with a
// constraint, such as a date, is not among them: a PEM file cannot express the constraint.
func authorities() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, fmt.Errorf("reading the certificate authorities: %w", err)
		}
		fmt.Fprintf(&out, "# %s\n", cert.Subject)
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
