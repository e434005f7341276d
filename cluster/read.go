package cluster

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Limits in bytes for one object, one YAML document, and one file after decompression.
const (
	maxObjectBytes   = 16 << 20
	maxDocumentBytes = 512 << 20
	maxFileBytes     = 4 << 30
)

// maxListDepth limits how deep Lists may be nested, because each level is parsed again.
const maxListDepth = 8

// ReadFiles reads objects from files, directories and standard input ("-"). In a directory and the directories below
// it, ReadFiles reads the .yaml, .yml, .json and .gz files in name order. It skips hidden files, and counts all others
// in Objects.LeftOut.
func ReadFiles(paths []string, stdin io.Reader) (*Objects, error) {
	o := &Objects{}
	for _, path := range paths {
		if path == "-" {
			if err := Read(stdin, "standard input", o); err != nil {
				return nil, err
			}
			continue
		}
		files, err := o.expandPath(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if err := readFile(f, o); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}

func (o *Objects) expandPath(path string) ([]string, error) {
	if path == "" {
		return nil, errors.New("reading the snapshot: the file name is empty (use - for standard input)")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(e.Name(), ".") && file != path; {
		case hidden && e.IsDir():
			return fs.SkipDir
		case hidden || e.IsDir():
		case slices.Contains([]string{".yaml", ".yml", ".json", ".gz"}, filepath.Ext(file)):
			files = append(files, file)
		default:
			o.LeftOut = append(o.LeftOut, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("reading the snapshot: %s has no .yaml, .yml, .json or .gz file", path)
	}
	return files, nil
}

func readFile(path string, o *Objects) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the snapshot: %w", err)
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read adds the objects of one stream to o. The stream contains Lists or single objects in YAML or
// JSON, optionally compressed with gzip. Read counts objects of unknown kinds in o.Skipped. Errors
// name the stream, the document and the item.
func Read(r io.Reader, name string, o *Objects) error {
	in := bufio.NewReaderSize(r, 1<<16)
	magic, _ := in.Peek(2)
	switch string(magic) {
	case "\xff\xfe", "\xfe\xff":
		return fmt.Errorf("%s: the file is UTF-16; save it as UTF-8 (PowerShell: Out-File -Encoding utf8)", name)
	case "\x1f\x8b":
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: decompressing: %w; is the file complete?", name, err)
		}
		defer z.Close()
		in = bufio.NewReaderSize(z, 1<<16)
	}
	source := &limitedReader{r: in, remaining: maxFileBytes}
	in = bufio.NewReaderSize(source, 1<<16)
	read := readYAML
	if startsJSON(in) {
		read = readJSON
	}
	err := read(in, name, o)
	if source.err != nil { // the parser only sees truncated input
		return fmt.Errorf("%s: reading the file: %w; is the file complete?", name, source.err)
	}
	return err
}

// limitedReader returns an error, not io.EOF, if the stream is longer than the limit.
type limitedReader struct {
	r         io.Reader
	remaining int64
	err       error // the first error other than io.EOF
}

func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		n, err = 0, fmt.Errorf("more than %d bytes", int64(maxFileBytes))
	}
	if err != nil && err != io.EOF && b.err == nil {
		b.err = err
	}
	return n, err
}

func readYAML(in io.Reader, name string, o *Objects) error {
	docs := bufio.NewScanner(in)
	docs.Buffer(make([]byte, 1<<16), maxDocumentBytes)
	docs.Split(splitYAMLDocuments)
	n := 0
	for docs.Scan() {
		n++
		at := fmt.Sprintf("%s, document %d", name, n)
		raw, err := yaml.YAMLToJSONStrict(docs.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %s", at, yamlErrorText(err))
		}
		if string(raw) == "null" {
			continue
		}
		if err := readDocument(json.NewDecoder(bytes.NewReader(raw)), at, o, 0); err != nil {
			return err
		}
	}
	if err := docs.Err(); err != nil {
		return fmt.Errorf("%s, document %d: %w", name, n+1, err)
	}
	return nil
}

// yamlErrorText translates an error of the YAML library into plain words.
func yamlErrorText(err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	if strings.Contains(text, "control characters") || strings.Contains(text, "UTF-8") {
		text += "; is this a text file?"
	}
	return "broken YAML: " + text
}

// splitYAMLDocuments is a bufio.SplitFunc that splits a stream at "---" lines.
func splitYAMLDocuments(data []byte, atEOF bool) (advance int, token []byte, err error) {
	for from := 0; ; {
		i := bytes.Index(data[from:], []byte("---"))
		if i < 0 {
			break
		}
		i += from
		end := i + 3
		if (i == 0 || data[i-1] == '\n') && (end == len(data) && atEOF || end < len(data) &&
			bytes.IndexByte([]byte(" \t\r\n#"), data[end]) >= 0) {
			if i == 0 {
				// A leading marker belongs to the document that follows it.
				next := bytes.Index(data[end:], []byte("\n---"))
				if next >= 0 {
					return end + next + 1, data[end : end+next+1], nil
				}
				break
			}
			return i, data[:i], nil
		}
		from = end
	}
	if atEOF && len(data) > 0 {
		return len(data), bytes.TrimPrefix(data, []byte("---")), nil
	}
	return 0, nil, nil
}

// startsJSON reports whether the stream begins with a JSON object or list. It reads ahead and keeps
// what it has read, and nothing else of the stream.
func startsJSON(in *bufio.Reader) bool {
	for i := 1; i <= 4096; i++ {
		b, err := in.Peek(i)
		if err != nil {
			return false
		}
		if c := b[i-1]; !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c == '{' || c == '['
		}
	}
	return false
}
