package rootfs

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// Unpack writes the files of all layers into an existing folder and checks the digests of the layers. Files
// belong to this process's user. It knows files and folders only, and returns an error for anything else, such
// as links.
func (i *Image) Unpack(ctx context.Context, folder string) error {
	root, err := os.OpenRoot(folder) // nothing is written outside
	if err != nil {
		return err
	}
	defer root.Close()
	for n, l := range i.layers {
		if l.MediaType != layerType {
			return fmt.Errorf("layer %s is %s, want %s", l.Digest, l.MediaType, layerType)
		}
		if err := i.unpackLayer(ctx, root, l, i.RootFS.DiffIDs[n]); err != nil {
			return fmt.Errorf("layer %s: %w", l.Digest, err)
		}
	}
	return nil
}

func (i *Image) unpackLayer(ctx context.Context, root *os.Root, l Descriptor, diffID string) error {
	packed, err := i.store.open(ctx, "blobs", l.Digest)
	if err != nil {
		return err
	}
	defer packed.Close()
	sum, size := sha256.New(), &counter{}
	counted := io.TeeReader(packed, io.MultiWriter(sum, size))
	unzipped, err := gzip.NewReader(counted)
	if err != nil {
		return err
	}
	contentSum := sha256.New()
	content := io.TeeReader(unzipped, contentSum)
	if err := unpackTar(root, tar.NewReader(content)); err != nil {
		return err
	}
	_, err1 := io.Copy(io.Discard, content) // the end of the archive
	_, err2 := io.Copy(io.Discard, counted)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if got := digest(sum); got != l.Digest || size.n != l.Size {
		return fmt.Errorf("it has %d bytes with digest %s, want %d bytes", size.n, got, l.Size)
	}
	if got := digest(contentSum); got != diffID {
		return fmt.Errorf("its content has digest %s, want %s", got, diffID)
	}
	return nil
}

func unpackTar(root *os.Root, r *tar.Reader) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(h.Name, mode.Perm())
		case tar.TypeReg:
			err = writeFile(root, h.Name, mode.Perm(), r)
		default:
			err = fmt.Errorf("%s has type %q, want a file or a folder", h.Name, h.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, mode os.FileMode, r io.Reader) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func digest(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// counter counts the bytes that are written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
