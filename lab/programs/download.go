package programs

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of a download. The largest program has 90 MB.
const (
	attempts     = 3
	maxFile      = 400 << 20
	maxChecksums = 1 << 20
)

// wrongChecksumError is the one reason for which nothing is compiled instead: somebody should look at it.
type wrongChecksumError struct{ address, got, want string }

func (e *wrongChecksumError) Error() string {
	return fmt.Sprintf("%s has the SHA-256 %s, but %s is published: the file was not kept (EVENKEEL_MIRROR=off compiles instead)", e.address, e.got, e.want)
}

// finalError is an error that another attempt would repeat.
type finalError struct{ error }

func (s Source) checkMirror() error {
	if s.Mirror == "" || s.Mirror == Off {
		return nil
	}
	u, err := url.Parse(s.Mirror)
	if err != nil {
		return errors.New("EVENKEEL_MIRROR is no address (want https://..., http://127.0.0.1:PORT or off)")
	}
	if u.User != nil {
		return errors.New("EVENKEEL_MIRROR has a user or a password, which would be printed (want an address without)")
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && (u.Scheme != "http" || !ip.IsLoopback()) || u.Host == "" {
		return fmt.Errorf("EVENKEEL_MIRROR is %q (want https://..., http://127.0.0.1:PORT or off)", s.Mirror)
	}
	return nil
}

func (s Source) address(file string) string {
	if s.Mirror == "" {
		return "https://" + file
	}
	return strings.TrimSuffix(s.Mirror, "/") + "/" + file
}

// download writes a program to a file, which appears only if the checksum of the download is the published one.
func (s Source) download(ctx context.Context, file, member, checksums, to string) error {
	var list bytes.Buffer
	if err := s.get(ctx, checksums, maxChecksums, func(body io.Reader) error {
		list.Reset()
		_, err := list.ReadFrom(body)
		return err
	}); err != nil {
		return err
	}
	want := findChecksum(list.Bytes(), path.Base(file))
	if want == "" {
		return fmt.Errorf("%s has no single SHA-256 of %s", s.address(checksums), path.Base(file))
	}
	part, err := os.CreateTemp(filepath.Dir(to), ".download-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	defer part.Close()
	sum := sha256.New()
	if err := s.get(ctx, file, maxFile, func(body io.Reader) error {
		sum.Reset()
		if err := errors.Join(part.Truncate(0), rewind(part)); err != nil {
			return err
		}
		_, err := io.Copy(io.MultiWriter(part, sum), body)
		return err
	}); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return &wrongChecksumError{s.address(file), got, want}
	}
	if member != "" {
		program, err := extract(part, member)
		if err != nil {
			return fmt.Errorf("%s: %w", s.address(file), err)
		}
		defer os.Remove(program)
		return os.Rename(program, to)
	}
	if err := errors.Join(part.Chmod(0o755), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}

func rewind(f *os.File) error { _, err := f.Seek(0, io.SeekStart); return err }

// extract writes a file of an archive beside the archive, and returns its path.
func extract(archive *os.File, member string) (string, error) {
	if err := rewind(archive); err != nil {
		return "", err
	}
	z, err := gzip.NewReader(archive)
	if err != nil {
		return "", err
	}
	for files := tar.NewReader(z); ; {
		switch header, err := files.Next(); {
		case err != nil:
			return "", fmt.Errorf("looking for %s: %w", member, err)
		case path.Clean(header.Name) != member || header.Typeflag != tar.TypeReg:
			continue
		case header.Size > maxFile:
			return "", fmt.Errorf("%s has more than %d MB", member, maxFile>>20)
		}
		program, err := os.Create(archive.Name() + ".program")
		if err != nil {
			return "", err
		}
		_, err = io.Copy(program, files)
		if err = errors.Join(err, program.Chmod(0o755), program.Close()); err != nil {
			os.Remove(program.Name())
			return "", err
		}
		return program.Name(), nil
	}
}

// findChecksum finds the SHA-256 of a file: in GitHub's description of a release, in the lines of SHA256SUMS, or alone.
func findChecksum(text []byte, file string) string {
	var description struct {
		Assets []struct{ Name, Digest string }
	}
	var found []string
	if json.Unmarshal(text, &description) == nil && len(description.Assets) > 0 {
		for _, a := range description.Assets {
			if digest, ok := strings.CutPrefix(a.Digest, "sha256:"); ok && a.Name == file {
				found = append(found, digest)
			}
		}
	} else {
		for line := range strings.Lines(string(text)) {
			switch words := strings.Fields(line); {
			case len(words) == 1, len(words) == 2 && path.Clean(strings.TrimPrefix(words[1], "*")) == file:
				found = append(found, words[0])
			}
		}
	}
	if found = slices.Compact(found); len(found) != 1 {
		return ""
	}
	if sum, err := hex.DecodeString(found[0]); err != nil || len(sum) != sha256.Size {
		return ""
	}
	return strings.ToLower(found[0])
}

// get reads a file, with a few attempts.
func (s Source) get(ctx context.Context, file string, limit int64, read func(io.Reader) error) error {
	address := s.address(file)
	pause := cmp.Or(s.pause, time.Second)
	for attempt := 1; ; attempt++ {
		err := s.getOnce(ctx, address, limit, read)
		var final finalError
		var dns *net.DNSError
		if err == nil || ctx.Err() != nil || errors.As(err, &final) || errors.As(err, &dns) && dns.IsNotFound {
			return err
		}
		if attempt == attempts {
			return fmt.Errorf("%w (%d attempts)", err, attempts)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

func (s Source) getOnce(ctx context.Context, address string, limit int64, read func(io.Reader) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stall := cmp.Or(s.stall, 30*time.Second)
	timer := time.AfterFunc(stall, func() { stop(fmt.Errorf("%s sent nothing for %s", address, stall)) })
	defer timer.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return finalError{err}
	}
	request.Header.Set("Accept-Encoding", "identity") // the checksum is that of the file as it is
	client := http.Client{CheckRedirect: checkRedirect}
	response, err := client.Do(request)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusOK:
	case code >= 500 || code == http.StatusTooManyRequests:
		return fmt.Errorf("%s answers %d %s", address, code, http.StatusText(code))
	default:
		return finalError{fmt.Errorf("%s answers %d %s", address, code, http.StatusText(code))}
	}
	if response.ContentLength > limit {
		return tooLarge(address, limit)
	}
	body := &io.LimitedReader{R: readerFunc(func(p []byte) (int, error) {
		timer.Reset(stall)
		return response.Body.Read(p)
	}), N: limit + 1}
	err = read(body)
	switch {
	case body.N <= 0:
		return tooLarge(address, limit)
	case err != nil:
		return cmp.Or(context.Cause(ctx), fmt.Errorf("%s: %w", address, err))
	}
	return nil
}

func tooLarge(address string, limit int64) error {
	return finalError{fmt.Errorf("%s has more than %d MB", address, limit>>20)}
}

// checkRedirect lets a server redirect to HTTPS, or to itself.
func checkRedirect(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case to.URL.Scheme != "https" && (to.URL.Scheme != from.Scheme || to.URL.Host != from.Host):
		return finalError{fmt.Errorf("it redirects to %s, which is not HTTPS", to.URL)}
	case len(via) > 10:
		return finalError{errors.New("it redirects more than 10 times")}
	}
	return nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
