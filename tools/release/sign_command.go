package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/evenkeel-project/evenkeel/tools/release/checksums"
	"github.com/evenkeel-project/evenkeel/tools/release/sign"
)

// passwordVariable has the password of an encrypted key. cosign reads the same variable.
const passwordVariable = "COSIGN_PASSWORD"

// runSign signs an image, files or a folder. It prints the tags of the signatures, or the names of the signature files.
func runSign(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("sign", flag.ContinueOnError)
	key := f.String("key", "", "file with the private key (PEM); the variable "+passwordVariable+" has the password of an encrypted key")
	imageName := f.String("image", "", "sign this image (REGISTRY/NAME@sha256:...), which was pushed before")
	folder := f.String("folder", "", "write "+sign.PublicKeyFile+" and "+checksums.File+" into this folder, and sign all its files")
	public := f.String("public", "", "file with the public key (PEM) that users know; fail if the private key is another one")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *key == "" || countTrue(*imageName != "", *folder != "", f.NArg() > 0) != 1 {
		return errors.New("sign: want -key FILE, and one of -image, -folder and files")
	}
	s, err := sign.New(*key, password)
	if err != nil {
		return err
	}
	if given(f, "public") {
		if err := s.CheckPublicKey(*public); err != nil {
			return err
		}
	}
	for _, file := range f.Args() {
		if err := s.File(file); err != nil {
			return err
		}
		fmt.Println(file + sign.Suffix)
	}
	if *folder != "" {
		signed, err := s.Folder(*folder)
		fmt.Println(strings.Join(signed, "\n"))
		return err
	}
	if *imageName == "" {
		return nil
	}
	return signImage(ctx, s, *imageName)
}

// signImage signs an image in a registry and prints the tags of the signatures.
func signImage(ctx context.Context, s *sign.Signer, image string) error {
	digest, err := name.NewDigest(image, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("-image: want REGISTRY/NAME@sha256:..., because a tag may change: %w", err)
	}
	tags, err := s.Image(ctx, digest)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		fmt.Println(tag)
	}
	return nil
}

func countTrue(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func password() ([]byte, error) {
	text, ok := os.LookupEnv(passwordVariable)
	if !ok {
		return nil, errors.New("the key is encrypted; set " + passwordVariable)
	}
	return []byte(text), nil
}
